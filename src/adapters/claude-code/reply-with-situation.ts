import { textOf } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { promptSection } from '../core/prompt-section.ts';
import { deliveredMessageItem, transcriptSituation, userMessageItem } from '../core/transcript/transcript-items.ts';
import { acknowledgeMessages, showMessagesAgain, takeNewMessagesText } from '../core/turn-messages.ts';
import { explainClaudeTools } from './claude-texts.ts';
import { claudeToolName } from './claude-tool-name.ts';
import { type HookEventContext, recordHookEvent } from './hook-event-context.ts';
import { type HookReply, NO_REPLY } from './hook-reply.ts';

/**
 * SessionStart (also after a compaction, and on resume), UserPromptSubmit, SubagentStart: describes the situation to
 * the model. A prompt or a resumed conversation repeats the description only if the place, the tools or the exits
 * differ from those in the last one.
 */
export async function replyWithSituation(hook: HookEventContext): Promise<HookReply> {
  const { event, record, host } = hook;
  const { section, situation, key, messages } = await host.withSession(record, async (session) => {
    if (event.name === 'SessionStart') showMessagesAgain(session);
    else if (event.name === 'UserPromptSubmit') await acknowledgeMessages(session);
    return {
      section: promptSection(session),
      situation: transcriptSituation(session),
      key: placeKey(session),
      messages: await takeNewMessagesText(session),
    };
  });
  const prompt = textOf(event.fields['prompt']);
  if (prompt !== null) host.recordTranscript(record, userMessageItem('user', prompt, 'prompt'));
  const isContinued = event.name === 'UserPromptSubmit' || event.fields['source'] === 'resume';
  if (isContinued && record.notes['shown'] === key) {
    if (messages === null) return NO_REPLY;
    host.recordTranscript(record, deliveredMessageItem(messages, situation, event.name));
    return { kind: 'context', event: event.name, text: messages };
  }
  const about = `${section}\n${explainClaudeTools(event.agentId !== null, claudeToolName(host))}`;
  const text = messages === null ? about : `${about}\n${messages}`;
  host.recordTranscript(record, deliveredMessageItem(text, situation, event.name));
  return { kind: 'context', event: event.name, text, shown: key };
}

/** Records that the answer to a hop, a mode change or a status call has described the situation to the model. */
export async function recordSituationShown(hook: HookEventContext): Promise<void> {
  await recordShownPlace(hook, await hook.host.withSession(hook.record, async (session) => placeKey(session)));
}

/** The parts of a session's place that the model must know: if one changes, the situation is described again. */
function placeKey(session: Session): string {
  const { peripheral, mode, tools, hops } = session.available();
  return JSON.stringify([
    session.id,
    peripheral,
    mode,
    session.state.visit,
    tools,
    hops.map(({ exit, to }) => [exit, to]),
  ]);
}

/** Records the place that the model was shown. If the answer reached the model too late, nothing is recorded. */
export async function recordShownPlace(hook: HookEventContext, shown: string): Promise<void> {
  const record = await hook.host.conversation(hook.record.conversation);
  const event = { ...hook.event, toolUseId: null };
  await recordHookEvent({ ...hook, record, event }, 'situation shown', { ...record.notes, shown });
}
