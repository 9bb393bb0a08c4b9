import { promptSection } from '../core/prompt-section.ts';
import type { Reply } from './reply.ts';
import type { Seated } from './seated.ts';
import { toolNames } from './words.ts';

/** SessionStart (also after a compaction, and on resume), UserPromptSubmit, SubagentStart: tells the model where it is. */
export async function tellContext({ event, seat, desk }: Seated): Promise<Reply> {
  const text = await desk.use(seat, async (session) => promptSection(session));
  return { kind: 'tell', event: event.name, text: `${text}\n${toolNames(event.agentId !== null)}` };
}
