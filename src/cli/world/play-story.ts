import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { judgeInhabitation } from '../../audit/inhabitation/judge-inhabitation.ts';
import { verifyConstraints } from '../../audit/verify/verify-constraints.ts';
import { findProgram } from '../../base/process.ts';
import { toShellWord } from '../../base/text.ts';
import { toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { Fields } from '../../spec/types.ts';
import { formatHeading, type Io, print, printJson } from '../io.ts';
import { printInhabitation } from '../print-inhabitation.ts';
import { playStoryOnce } from './run-story.ts';

/** Plays the story over HTTP and prints it; exit code 1 if the agent did not win, or if a check fails. */
export async function playStory(
  io: Io,
  { seed, root: named }: { readonly seed: number; readonly root?: string },
): Promise<void> {
  const root = named === undefined ? mkdtempSync(join(tmpdir(), 'hopgate-story-')) : resolve(io.cwd, named);
  const withEmacs = findProgram('emacs', io.env['PATH']) !== null;
  const printLine = io.json ? () => {} : (line: string) => print(io, line);
  printLine(withEmacs ? 'Joe is in Emacs.' : 'Joe is a script, because there is no Emacs.');
  const played = await playStoryOnce({
    root,
    env: io.env,
    seed,
    joe: withEmacs ? 'emacs' : 'script',
    printLine,
    world: 'http',
    agent: 'here',
  });
  const { session, end, specs, config, entries, transcript } = played;
  const judged = judgeInhabitation(transcript, specs, entries);
  const { violations } = await verifyConstraints({ specs, config }, entries);
  const fruit = fruitOf(entries);
  const ok = end.won && violations.length === 0 && judged.every(({ verdict }) => verdict === 'holds');
  if (io.json) printJson(io, { session, root, ...end, fruit, violations: violations.length, inhabitation: judged });
  else {
    print(io);
    print(io, formatHeading(io, 'The fruit of alfworld, and the evidence'));
    print(
      io,
      Object.entries(fruit)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    );
    const counts = STORY_TAGS.map((tag) => `${entries.filter(({ tags }) => tags.includes(tag)).length} ${tag}`);
    print(io, counts.join(', '));
    print(io);
    print(io, formatHeading(io, 'Was it inhabited?'));
    printInhabitation(io, judged);
    print(io, `The audit found ${violations.length === 0 ? 'no violation' : `violations: ${violations.length}`}.`);
    print(io, `See it again: hopgate watch ${session} --root ${toShellWord(root)}`);
  }
  if (!ok) io.exitCode = 1;
}

const STORY_TAGS = ['alfworld-step', 'bell', 'whistle', 'hop-out'];

/** Sums up the fruits of the visits to alfworld: the values of the last visit, and the sums of the counts. */
function fruitOf(entries: readonly Entry[]): Fields {
  const fruits = entries.flatMap(({ body }) => {
    const typed = toBody(body);
    return typed?.event === 'stop' && typed.peripheral === 'alfworld' ? [typed.fruit] : [];
  });
  const sum = (field: string) => fruits.reduce((all, fruit) => all + Number(fruit[field] ?? 0), 0);
  const { won = null, score = null, 'world-steps': steps = null } = fruits.at(-1) ?? {};
  return { won, score, 'world-steps': steps, steps: sum('steps'), bells: sum('bells'), whistles: sum('whistles') };
}
