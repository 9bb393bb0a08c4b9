import {
  entryIdsOrNull,
  sessionReleasedItem,
  toolCallItem,
  toolResultItem,
} from '../core/transcript/transcript-items.ts';
import { type HookEventContext, recordAgentMessages, recordHookEvent } from './hook-event-context.ts';
import { type HookReply, NO_REPLY } from './hook-reply.ts';

/** Handles SubagentStop: closes the sub-agent's session. */
export async function handleSubagentStop(hook: HookEventContext): Promise<HookReply> {
  const { host, record, event } = hook;
  await recordHookEvent(hook, event.name, recordAgentMessages(hook));
  if (record.parent === null) return NO_REPLY;
  await host.withSession(record, async (session) => {
    if (session.state.closed) return;
    const { peripheral } = session.state;
    if (peripheral !== null) {
      // A sub-agent leaves its visit by stopping.
      const stopped = await session.stop('the sub-agent is done');
      const id = `stop ${event.agentId}`;
      const result = stopped.ok
        ? toolResultItem(id, { status: 'ok', text: `left ${peripheral}`, evidence: entryIdsOrNull(stopped.evidence) })
        : toolResultItem(id, { status: 'refused', code: stopped.denial.code, text: stopped.denial.message });
      host.recordTranscript(record, toolCallItem({ id, tool: 'stop', input: {}, channel: event.name }), result);
    }
    await session.close('the sub-agent is done');
    host.recordTranscript(record, sessionReleasedItem());
  });
  return NO_REPLY;
}

/** Handles SessionEnd: the conversation is over; its session can be resumed. */
export async function handleSessionEnd(hook: HookEventContext): Promise<HookReply> {
  await recordHookEvent(hook, hook.event.name);
  hook.host.recordTranscript(hook.record, sessionReleasedItem());
  return NO_REPLY;
}
