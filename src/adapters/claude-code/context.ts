import { textOf } from '../../base/json.ts';
import { promptSection } from '../core/prompt-section.ts';
import { delivered, heard, situationOf } from '../core/transcript-items.ts';
import { namedBy } from './names.ts';
import type { Reply } from './reply.ts';
import type { Seated } from './seated.ts';
import { toolNames } from './words.ts';

/** SessionStart (also after a compaction, and on resume), UserPromptSubmit, SubagentStart: tells the model where it is. */
export async function tellContext({ event, seat, desk }: Seated): Promise<Reply> {
  const { section, situation } = await desk.use(seat, async (session) => ({
    section: promptSection(session),
    situation: situationOf(session),
  }));
  const text = `${section}\n${toolNames(event.agentId !== null, namedBy(desk))}`;
  const prompt = textOf(event.fields['prompt']);
  desk.lived(
    seat,
    ...(prompt === null ? [] : [heard('user', prompt, 'prompt')]),
    delivered(text, situation, event.name),
  );
  return { kind: 'tell', event: event.name, text };
}
