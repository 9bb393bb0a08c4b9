import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type DemandId,
  type DemandResult,
  INHABITATION_DEMANDS,
} from '../../audit/inhabitation/inhabitation-demands.ts';
import { judgeInhabitation } from '../../audit/inhabitation/judge-inhabitation.ts';
import { makeFolders, writeNamedFile } from '../../base/files.ts';
import { excerpt } from '../../base/text.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import { formatHeading, type Io, print, printJson } from '../io.ts';
import { printTable } from '../table.ts';
import { playStoryOnce, type StoryConnectionKinds } from './run-story.ts';
import { TRANSCRIPT_FAULTS } from './transcript-faults.ts';

const CONNECTIONS: readonly (StoryConnectionKinds & { readonly name: string })[] = [
  { name: 'in process', world: 'here', agent: 'here' },
  { name: 'world: HTTP', world: 'http', agent: 'here' },
  { name: 'world: OpenEnv', world: 'openenv', agent: 'here' },
  { name: 'MCP over HTTP', world: 'http', agent: 'mcp-http' },
  { name: 'MCP over stdio', world: 'http', agent: 'mcp-stdio' },
  { name: 'REST', world: 'http', agent: 'rest' },
  { name: 'command line', world: 'http', agent: 'cli' },
];

export interface ScorecardOptions {
  readonly seed: number;
  /** The folder in which the transcripts are written; none are written without it. */
  readonly save?: string;
}

interface FaultyRun {
  readonly id: DemandId;
  /** The connection whose transcript was changed. */
  readonly over: string;
  readonly what: string;
  readonly verdict: DemandResult['verdict'];
  readonly reason: string;
}

/**
 * Plays the story once over each connection, and judges each transcript by P-1 to P-6; then changes each transcript by
 * one fault for each demand, and judges it again. Exit code 1 if a judgement is not the expected one.
 */
export async function playScorecard(io: Io, { seed, save }: ScorecardOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'hopgate-scorecard-'));
  const state = mkdtempSync(join(tmpdir(), 'hopgate-scorecard-'));
  const env = { ...io.env, XDG_STATE_HOME: state };
  const folder = save === undefined ? null : resolve(io.cwd, save);
  const keep = (name: string, { items }: Transcript): void => {
    if (folder === null) return;
    makeFolders(folder);
    const lines = items.map((item) => `${JSON.stringify(item)}\n`);
    writeNamedFile(join(folder, `${name.replaceAll(/\W+/g, '-')}.jsonl`), lines.join(''));
  };
  try {
    const runs: { name: string; won: boolean; judged: readonly DemandResult[] }[] = [];
    const faults: FaultyRun[] = [];
    for (const { name, ...wires } of CONNECTIONS) {
      const run = await playStoryOnce({ root, env, seed, joe: 'script', printLine: () => {}, ...wires });
      keep(name, run.transcript);
      runs.push({ name, won: run.end.won, judged: judgeInhabitation(run.transcript, run.specs, run.entries) });
      for (const { breaks, what, change } of TRANSCRIPT_FAULTS) {
        const changed = change(run);
        keep(`${name} ${breaks} fails`, changed.transcript);
        const judged = judgeInhabitation(changed.transcript, run.specs, changed.entries);
        const { verdict, findings } = judged.find(({ id }) => id === breaks)!;
        faults.push({ id: breaks, over: name, what, verdict, reason: findings[0]?.reason ?? '' });
      }
    }
    const passes = runs.every(({ won, judged }) => won && judged.every(({ verdict }) => verdict === 'holds'));
    const ok = passes && faults.every(({ verdict }) => verdict === 'fails');
    if (io.json) printJson(io, { ok, lives: runs, faults });
    else printScorecard(io, runs, faults);
    if (!ok) io.exitCode = 1;
  } finally {
    for (const used of [root, state]) rmSync(used, { recursive: true });
  }
}

function printScorecard(
  io: Io,
  runs: readonly { readonly name: string; readonly judged: readonly DemandResult[] }[],
  faults: readonly FaultyRun[],
): void {
  const ids = Object.keys(INHABITATION_DEMANDS) as DemandId[];
  const word = (verdict: string) =>
    [verdict === 'holds' ? 'green' : verdict === 'fails' ? 'red' : 'dim', verdict] as const;
  print(io, formatHeading(io, 'An agent in the house, over each connection'));
  const rows = ids.map((id) => [
    id,
    INHABITATION_DEMANDS[id],
    ...runs.map(({ judged }) => word(judged.find((result) => result.id === id)!.verdict)),
  ]);
  printTable(io, ['', 'demand', ...runs.map(({ name }) => name)], rows);
  print(io);
  print(io, formatHeading(io, 'The same runs with one fault'));
  const broken = TRANSCRIPT_FAULTS.map(({ breaks, what }) => {
    const same = faults.filter(({ id }) => id === breaks);
    const cells = runs.map(({ name }) => word(same.find(({ over }) => over === name)!.verdict));
    return [breaks, ...cells, what, excerpt(same[0]!.reason, 70)];
  });
  printTable(io, ['', ...runs.map(({ name }) => name), 'the fault', 'reason'], broken);
}
