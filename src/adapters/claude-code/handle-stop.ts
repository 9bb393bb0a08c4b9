import type { Session } from '../../session/session.ts';
import type { ConversationRecord } from '../core/hook-context.ts';
import { userMessageItem } from '../core/transcript/transcript-items.ts';
import { acknowledgeMessages } from '../core/turn-messages.ts';
import { findUnreviewedWork } from '../core/unreviewed-work.ts';
import { type ClaudeToolName, claudeToolName } from './claude-tool-name.ts';
import { type HookEventContext, recordAgentMessages, recordHookEvent } from './hook-event-context.ts';
import { type HookReply, NO_REPLY } from './hook-reply.ts';

/** Handles Stop: asks an agent that leaves work unreviewed, once per conversation, to review it. */
export async function handleStop(hook: HookEventContext): Promise<HookReply> {
  const { host, record, event } = hook;
  const notes = recordAgentMessages(hook);
  await host.withSession(record, (session) => acknowledgeMessages(session));
  const mayAsk = event.fields['stop_hook_active'] !== true && record.notes['asked'] !== true;
  const why = mayAsk
    ? await host.withSession(record, (session) => reasonNotToStop(session, record.notes, claudeToolName(host)))
    : null;
  await recordHookEvent(hook, event.name, why === null ? notes : { ...notes, asked: true });
  if (why === null) return NO_REPLY;
  host.recordTranscript(record, userMessageItem('hopgate', why, event.name));
  return { kind: 'go-on', why };
}

/** The reason not to stop yet; null if no work is left unreviewed. */
async function reasonNotToStop(
  session: Session,
  turn: ConversationRecord['notes'],
  ourName: ClaudeToolName,
): Promise<string | null> {
  const work = await findUnreviewedWork(session, turn);
  if (work === null) return null;
  const { peripheral, hop } = work;
  const call = hop ? ` (${ourName('hop')}(${JSON.stringify(hop)}))` : '';
  return [
    `hopgate: nobody has reviewed the work of this session, which is ${peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`}.`,
    `If it is done, hop to reflect${call} and leave from there with the review. If not, continue, or stop again: this is asked only once.`,
  ].join('\n');
}
