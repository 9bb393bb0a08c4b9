import { textOf } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { promptSection } from '../core/prompt-section.ts';
import { delivered, situationOf, userMessage } from '../core/transcript/transcript-items.ts';
import { type HookCall, recordHookEvent } from './hook-call.ts';
import { toolNames } from './messages.ts';
import { claudeToolName } from './names.ts';
import { NOTHING, type Reply } from './reply.ts';

/**
 * SessionStart (also after a compaction, and on resume), UserPromptSubmit, SubagentStart: describes the situation to
 * the model. A prompt repeats it only if the place, the mode, the tools or the exits are others than those that the
 * model was last shown.
 */
export async function tellContext(at: HookCall): Promise<Reply> {
  const { event, seat, desk } = at;
  const { section, situation, key } = await desk.withSession(seat, async (session) => ({
    section: promptSection(session),
    situation: situationOf(session),
    key: placeKey(session),
  }));
  const prompt = textOf(event.fields['prompt']);
  if (prompt !== null) desk.recordTranscript(seat, userMessage('user', prompt, 'prompt'));
  if (event.name === 'UserPromptSubmit' && seat.notes['shown'] === key) return NOTHING;
  const text = `${section}\n${toolNames(event.agentId !== null, claudeToolName(desk))}`;
  desk.recordTranscript(seat, delivered(text, situation, event.name));
  await noteShown(at, key);
  return { kind: 'tell', event: event.name, text };
}

/** Notes that the answer to a hop, a mode change or a status call has shown the model where it is. */
export async function noteAnswered(at: HookCall): Promise<void> {
  await noteShown(at, await at.desk.withSession(at.seat, async (session) => placeKey(session)));
}

/** The place of a session: what must not differ from the place that the model knows. */
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

async function noteShown(at: HookCall, shown: string): Promise<void> {
  const seat = await at.desk.conversation(at.seat.conversation);
  const event = { ...at.event, toolUseId: null };
  await recordHookEvent({ ...at, seat, event }, 'situation shown', { ...seat.notes, shown });
}
