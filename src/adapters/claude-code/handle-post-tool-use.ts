import type { NativeCallOutcome } from '../../session/native/native-steps.ts';
import { describeFindings } from '../core/describe-findings.ts';
import { entryIdsOrNull, toolCallItem, toolResultItem } from '../core/transcript/transcript-items.ts';
import { takeNewMessagesText } from '../core/turn-messages.ts';
import type { ClaudeToolEvent } from './claude-event.ts';
import { claudeToolName } from './claude-tool-name.ts';
import { HOOK_EVENT_NAMES, type HookEventContext, recordHookEvent } from './hook-event-context.ts';
import { type HookReply, NO_REPLY } from './hook-reply.ts';
import { addHookWarning } from './missing-hooks.ts';
import { toNativeFailure, toNativeOutcome } from './native-result.ts';
import { takeStoredNativeCall, wasCallInputChanged } from './stored-native-call.ts';

/** PostToolUse and PostToolUseFailure: records the result of a native call, and reports its findings to the model. */
export async function handlePostToolUse(hook: HookEventContext<ClaudeToolEvent>): Promise<HookReply> {
  const { host, record, event } = hook;
  const call = await takeStoredNativeCall(hook);
  const changed = call !== null && wasCallInputChanged(call, event.input);
  let findings: string | null = null;
  if (call?.ticket) {
    const { ticket } = call;
    const outcome = changed ? CHANGED : outcomeOf(hook, ticket.tool);
    const concluded = await host.withSession(record, (session) => session.conclude(ticket, outcome));
    findings = describeFindings(concluded);
    host.recordTranscript(
      record,
      toolResultItem(event.toolUseId, { ...reportOf(outcome), evidence: entryIdsOrNull(concluded.evidence) }),
    );
  }
  const hookEvent = event.name === 'PostToolUseFailure' ? HOOK_EVENT_NAMES.failed : HOOK_EVENT_NAMES.done;
  if (!changed) {
    const record = await recordHookEvent(hook, hookEvent);
    if (event.name === 'PostToolUse' && SITUATION_TOOLS.some((tool) => event.tool === claudeToolName(host)(tool)))
      await (await import('./reply-with-situation.ts')).recordSituationShown({ ...hook, record });
    const messages = await host.withSession(record, takeNewMessagesText);
    const text = [findings, messages].filter((each) => each !== null).join('\n');
    return text === '' ? NO_REPLY : { kind: 'context', event: event.name, text };
  }
  const { toolUseId, tool, input } = event;
  // The executed call differs from the decided one, so it bypassed the session.
  host.recordTranscript(record, toolCallItem({ id: `${toolUseId} as it ran`, tool, input, channel: tool }, true));
  const text = `another hook changed the ${event.tool} call ${event.toolUseId} after hopgate had allowed it: the call that ran was neither checked nor sandboxed`;
  await recordHookEvent(hook, hookEvent, addHookWarning(record, text, false));
  return { kind: 'remark', text };
}

/** hopgate's tools whose answers describe the situation to the model. */
const SITUATION_TOOLS = ['hop', 'mode', 'status'];

const outcomeOf = ({ event, record }: HookEventContext<ClaudeToolEvent>, tool: string): NativeCallOutcome =>
  event.name === 'PostToolUseFailure'
    ? toNativeFailure(event.fields['error'])
    : toNativeOutcome(tool, event.fields['tool_response'], record.conversation.root);

const reportOf = (outcome: NativeCallOutcome) =>
  outcome.status === 'ok'
    ? { status: outcome.status, text: JSON.stringify(outcome.result) }
    : { status: outcome.status, text: outcome.message };

const CHANGED: NativeCallOutcome = {
  status: 'failed',
  code: 'call-changed',
  message: 'another hook of the client changed this call after it was allowed; the call that ran is unknown',
};
