import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Inhabitation, PHENOMENOLOGY, type PhenomenologyId } from '../../audit/inhabitation/finding.ts';
import { judgeInhabitation } from '../../audit/inhabitation/inhabitation.ts';
import { excerpt } from '../../base/text.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import { heading, type Io, paint, print, printJson } from '../io.ts';
import { table } from '../table.ts';
import { FAULTS } from './faults.ts';
import { runStory, type StoryWires } from './run-story.ts';

const WIRES: readonly (StoryWires & { readonly name: string })[] = [
  { name: 'in process', world: 'here', agent: 'here' },
  { name: 'world: HTTP', world: 'http', agent: 'here' },
  { name: 'world: OpenEnv', world: 'openenv', agent: 'here' },
  { name: 'MCP over HTTP', world: 'http', agent: 'mcp-http' },
  { name: 'MCP over stdio', world: 'http', agent: 'mcp-stdio' },
];

export interface ScorecardOptions {
  readonly seed: number;
  /** The folder that gets the transcripts. */
  readonly save?: string;
}

/**
 * Lives the story once over each connection, and judges each life by P-1 to P-6; then once for each demand a life that
 * fails it. Exit code 1 if a life is judged otherwise.
 */
export async function playScorecard(io: Io, { seed, save }: ScorecardOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'hopgate-scorecard-'));
  const state = mkdtempSync(join(tmpdir(), 'hopgate-scorecard-'));
  const env = { ...io.env, XDG_STATE_HOME: state };
  const folder = save === undefined ? null : resolve(io.cwd, save);
  const keep = (name: string, { items }: Transcript): void => {
    if (folder === null) return;
    mkdirSync(folder, { recursive: true });
    const lines = items.map((item) => `${JSON.stringify(item)}\n`);
    writeFileSync(join(folder, `${name.replaceAll(/\W+/g, '-')}.jsonl`), lines.join(''));
  };
  try {
    const lives: { name: string; won: boolean; judged: readonly Inhabitation[] }[] = [];
    let first: Awaited<ReturnType<typeof runStory>> | null = null;
    let last: Awaited<ReturnType<typeof runStory>> | null = null;
    for (const { name, ...wires } of WIRES) {
      last = await runStory({ root, env, seed, joe: 'script', tell: () => {}, ...wires });
      keep(name, last.transcript);
      first ??= last;
      lives.push({ name, won: last.end.won, judged: judgeInhabitation(last.transcript, last.specs, last.entries) });
    }
    const faults = FAULTS.map(({ breaks, what, change }) => {
      const changed = change(first!);
      keep(`${breaks} fails`, changed.transcript);
      const judged = judgeInhabitation(changed.transcript, first!.specs, changed.entries);
      const found = judged.find(({ id }) => id === breaks)!;
      return { id: breaks, what, verdict: found.verdict, reason: found.findings[0]?.reason ?? '' };
    });
    const passes = lives.every(({ won, judged }) => won && judged.every(({ verdict }) => verdict === 'holds'));
    const ok = passes && faults.every(({ verdict }) => verdict === 'fails');
    if (io.json) printJson(io, { ok, lives, faults });
    else printScorecard(io, lives, faults);
    if (!ok) io.exitCode = 1;
  } finally {
    for (const used of [root, state]) rmSync(used, { recursive: true });
  }
}

function printScorecard(
  io: Io,
  lives: readonly { readonly name: string; readonly judged: readonly Inhabitation[] }[],
  faults: readonly { readonly id: string; readonly what: string; readonly verdict: string; readonly reason: string }[],
): void {
  const ids = Object.keys(PHENOMENOLOGY) as PhenomenologyId[];
  const word = (verdict: string): string =>
    paint(io, verdict === 'holds' ? 'green' : verdict === 'fails' ? 'red' : 'dim', verdict);
  print(io, heading(io, 'An agent in the house, over each connection'));
  const rows = ids.map((id) => [
    id,
    PHENOMENOLOGY[id],
    ...lives.map(({ judged }) => word(judged.find((one) => one.id === id)!.verdict)),
  ]);
  print(io, table(io, ['', 'demand', ...lives.map(({ name }) => name)], rows));
  print(io);
  print(io, heading(io, 'The same life with one fault'));
  const broken = faults.map(({ id, what, verdict, reason }) => [id, word(verdict), what, excerpt(reason, 70)]);
  print(io, table(io, ['', 'verdict', 'the fault', 'the judge says'], broken));
}
