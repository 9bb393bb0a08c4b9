import { textOf } from '../../base/json.ts';
import { promptSection } from '../core/prompt-section.ts';
import { delivered, situationOf, userMessage } from '../core/transcript/transcript-items.ts';
import type { HookCall } from './hook-call.ts';
import { toolNames } from './messages.ts';
import { claudeToolName } from './names.ts';
import type { Reply } from './reply.ts';

/**
 * SessionStart (also after a compaction, and on resume), UserPromptSubmit, SubagentStart: describes the situation to
 * the model.
 */
export async function tellContext({ event, seat, desk }: HookCall): Promise<Reply> {
  const { section, situation } = await desk.withSession(seat, async (session) => ({
    section: promptSection(session),
    situation: situationOf(session),
  }));
  const text = `${section}\n${toolNames(event.agentId !== null, claudeToolName(desk))}`;
  const prompt = textOf(event.fields['prompt']);
  desk.recordTranscript(
    seat,
    ...(prompt === null ? [] : [userMessage('user', prompt, 'prompt')]),
    delivered(text, situation, event.name),
  );
  return { kind: 'tell', event: event.name, text };
}
