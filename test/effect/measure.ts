import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { ABLATIONS, edited } from './ablations.ts';
import { Engine } from './engine.ts';
import { CONDITIONS, LAPSE_KINDS, type LapseKind, type Model, type Run, runAgent } from './repository-agent.ts';

export const LAPSES = [0.05, 0.2, 0.4] as const;

/** Shares of runs, and means. */
export interface Figures {
  readonly solved: number;
  readonly calls: number;
  readonly refused: number;
  readonly wroteOutside: number;
  readonly shippedUntested: number;
  readonly shippedBroken: number;
}

export interface Row extends Figures {
  readonly lapse: number;
  readonly condition: string;
}

/** The figures of each condition at each rate of lapses. */
export async function measureConditions(runs: number): Promise<readonly Row[]> {
  const engine = new Engine(await loadSpecs('specs'));
  try {
    const rows: Row[] = [];
    for (const lapse of LAPSES)
      for (const condition of CONDITIONS)
        rows.push({
          lapse,
          condition,
          ...(await figures(runs, condition === 'free' ? null : engine, { condition, lapse, kind: 'any act' })),
        });
    return rows;
  } finally {
    engine.close();
  }
}

/** The figures without each constraint in turn, for an agent that is taught and knows the graph. */
export async function measureAblations(
  runs: number,
  lapse = 0.2,
): Promise<readonly (Row & { readonly kind: LapseKind })[]> {
  const rows: (Row & { readonly kind: LapseKind })[] = [];
  for (const [dropped, edits] of Object.entries(ABLATIONS)) {
    const engine = new Engine(await edited(edits));
    try {
      for (const kind of LAPSE_KINDS) {
        const model = { condition: 'teaching denial + graph', lapse, kind } as const;
        rows.push({ lapse, kind, condition: dropped, ...(await figures(runs, engine, model)) });
      }
    } finally {
      engine.close();
    }
  }
  return rows;
}

async function figures(runs: number, engine: Engine | null, model: Omit<Model, 'random'>): Promise<Figures> {
  const all: Run[] = [];
  for (let seed = 0; seed < runs; seed++) all.push(await runAgent(engine, { ...model, random: randomOf(seed) }));
  const mean = (of: (run: Run) => number | boolean) => all.reduce((sum, run) => sum + Number(of(run)), 0) / runs;
  return {
    solved: mean(({ solved }) => solved),
    calls: mean(({ calls }) => calls),
    refused: mean(({ refused }) => refused),
    wroteOutside: mean(({ wroteOutside }) => wroteOutside),
    shippedUntested: mean(({ shippedUntested }) => shippedUntested),
    shippedBroken: mean(({ shippedBroken }) => shippedBroken),
  };
}

/** A small pseudorandom generator (mulberry32): the same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
