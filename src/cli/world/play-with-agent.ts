import type { RecordedSession } from '../../adapters/core/transcript/record-transcript.ts';
import { quoteWord, textTurns } from '../../adapters/text-turns.ts';

interface StoryHooks {
  readonly printLine: (line: string) => void;
  /** Called when the agent has asked the person and left the world; resolves when the answer is in its inbox. */
  readonly asked: () => Promise<void>;
}

export interface StoryOutcome {
  readonly won: boolean;
  /** Commands that the agent gave to the world. */
  readonly commands: number;
}

/**
 * A scripted agent: it enters a house whose goal only a person knows, looks around, asks another agent by a whistle and
 * the person by a bell, hops out, gets the answer in chat, comes back to the same game, wins, and reflects.
 */
export async function playScriptedAgent(
  session: RecordedSession,
  { printLine, asked }: StoryHooks,
): Promise<StoryOutcome> {
  const turns = textTurns(session, { record: session });
  let commands = 0;
  /** All answers to the agent. Any of them may also contain the person's message. */
  const answers: string[] = [];
  /** Sends one text, and returns the world's last observation. */
  const say = async (text: string): Promise<string> => {
    for (const line of text.split('\n')) printLine(line);
    const results = await turns.hear(text);
    const last = results.at(-1);
    if (last?.kind !== 'done') return '';
    answers.push(last.answer.text);
    if (last.answer.text.includes('[ALFWorld] Inventory: ')) commands += 1;
    const lines = turns.next().split('\n').slice(1, -2);
    // After a hop only the first line is printed: the answer describes the new peripheral in full.
    for (const line of last.line.includes('hop-out') ? lines.slice(0, 1) : lines) printLine(line);
    return last.answer.text;
  };
  const hop = async (to: string, exit: string, reason: string): Promise<boolean> => {
    session.said(`I leave by ${exit}, and hop to ${to}: ${reason}.`);
    const answer = await session.call({ name: 'hop', input: { hop: to, exit, reason } });
    printLine(answer.status === 'ok' ? `--- now in ${to} ---` : answer.text);
    await session.tools();
    return answer.status === 'ok';
  };

  await session.prompt();
  await session.tools();
  await hop('alfworld', 'hop-alfworld', 'Joe asked me to play a house');
  const room = await say('I am in the alfworld peripheral. I look around with alfworld-action.\n> look');
  const seen = /you see (.*)\./.exec(room)?.[1] ?? '';
  const places = [...new Set(seen.match(/(?<![a-z])[a-z]+ \d+/g) ?? [])].reverse();
  await say(`I go to the ${places[0]} first.\n> go to ${places[0]}`);
  await say('I ask Codex while I am here.\n> whistle agent:codex "How do I see what is inside a drawer?"');
  await say('I cannot know which one is right, so I ask.\n> bell joe "Which one is right, and where does it belong?"');
  await say(
    `I need Joe, so I leave alfworld; my game stays as it is.\n> hop-out ${quoteWord('stuck: only Joe knows the goal')}`,
  );
  printLine('--- now in chat ---');
  await session.tools();
  await asked();
  // Each call returns the messages that arrived since the previous one.
  answers.push((await session.call({ name: 'status', input: {} })).text);
  const answer =
    answers
      .join('\n')
      .split('\n')
      .find((line) => /^\[bell \d+ from person joe, answer/.test(line)) ?? '';
  printLine(answer);
  const [, thing = '', target = ''] = /(?<!\w)(\w+ \d+) goes into (\w+ \d+)/.exec(answer) ?? [];
  if (!(await hop('alfworld', 'hop-alfworld', `Joe says that the ${thing} goes into the ${target}`)))
    return { won: false, commands };

  /** Goes to a receptacle and opens it; the answer names its contents. */
  const visit = async (place: string): Promise<string> => {
    const there = await say(`> go to ${place}`);
    return there.includes('is closed') ? say(`> open ${place}`) : there;
  };
  for (const place of [...places.slice(1), places[0]!])
    if (new RegExp(`\\b${thing}\\b`).test(await visit(place))) {
      await say(`I see the ${thing}.\n> take ${thing} from ${place}`);
      break;
    }
  await visit(target);
  const last = await say(`> move ${thing} to ${target}`);
  const won = last.includes('[ALFWorld] Task completed!');
  await hop('reflect', won ? 'won' : 'stuck', won ? 'I won the game' : 'I did not find it');
  await session.call({ name: 'musn-log', input: { limit: 5 } });
  await hop('chat', 'par-generated', 'my review is written');
  await session.close();
  return { won, commands };
}
