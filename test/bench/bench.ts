import { decisionsPerSecond, transitionsPerSecond } from './decisions.ts';
import { gatedStepsPerSecond } from './gated-steps.ts';
import { hooksBench } from './hooks.ts';
import { appendsPerSecond, rawInsertsPerSecond } from './raw-sqlite.ts';
import { pairsOf, sandboxBench } from './sandbox.ts';

/**
 * What a gated step costs next to what the disk costs, in one run: each round measures the base and what is held against it one after the
 * other, so that a busy machine slows both. Ratios are medians over the rounds. `--json` for programs.
 */
interface Row {
  readonly what: string;
  readonly against: string;
  /** What one of these may cost at most, in multiples of the base. */
  readonly target?: number;
  /** Rates per second, one pair a round. */
  readonly rounds: readonly { readonly rate: number; readonly base: number }[];
}

const ROUNDS = 3;
const COMMAND_PAIRS = 80;
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measure(
  what: string,
  against: string,
  rate: () => number | Promise<number>,
  base: () => number | Promise<number>,
): Promise<Row> {
  await base();
  await rate();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push({ base: await base(), rate: await rate() });
  return { what, against, rounds };
}

const rows: Row[] = [];
for (const sessions of [1, 16, 64]) {
  const together = sessions === 1 ? 'one session' : `${sessions} sessions at once`;
  const raw = () => rawInsertsPerSecond({ rows: Math.min(500 * sessions, 6400), batch: sessions });
  const against = `raw inserts, ${sessions} a transaction`;
  const steps = Math.min(400 * sessions, 2560);
  rows.push(
    await measure(`durable gated steps, ${together}`, against, () => gatedStepsPerSecond({ steps, sessions }), raw),
  );
  rows.push(
    await measure(`store appends, ${together}`, against, () => appendsPerSecond({ appends: steps, sessions }), raw),
  );
}
rows.push(
  await measure(
    'decide, one step',
    "xstate's pure transition",
    () => decisionsPerSecond(),
    () => transitionsPerSecond(),
  ),
);
const sandbox = await sandboxBench();
if (sandbox) {
  for (const way of sandbox.ways)
    rows.push({
      what: way.what,
      against: 'the same bwrap command line by hand',
      rounds: await pairsOf(way, COMMAND_PAIRS),
    });
  await sandbox.close();
}

const hooks = await hooksBench();
const hookRounds = await hooks.rounds(ROUNDS);
for (const way of hooks.ways)
  rows.push({
    what: `hook processes ${way}`,
    against: 'node -e 0',
    target: hooks.targets[way],
    rounds: hookRounds.map((round) => round[way]),
  });
await hooks.close();

const results = rows.map(({ what, against, target, rounds }) => ({
  what,
  against,
  perSecond: Math.round(median(rounds.map(({ rate }) => rate))),
  basePerSecond: Math.round(median(rounds.map(({ base }) => base))),
  /** How many times the base one of these costs; below 1 it is cheaper. */
  costs: Number(median(rounds.map(({ rate, base }) => base / rate)).toFixed(2)),
  ...(target === undefined ? {} : { target }),
}));

if (process.argv.includes('--json')) console.log(JSON.stringify(results, null, 2));
else {
  const cells = [
    ['what', 'per second', 'against', 'per second', 'costs', 'at most'],
    ...results.map((row) => [
      row.what,
      `${row.perSecond}`,
      row.against,
      `${row.basePerSecond}`,
      `× ${row.costs}`,
      row.target === undefined ? '' : `× ${row.target}`,
    ]),
  ];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) =>
          [1, 3, 4, 5].includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  '),
    );
  console.log(
    `\nMedians of ${ROUNDS} rounds (of commands: ${COMMAND_PAIRS} pairs), node ${process.version}; "costs": how many of the base one takes.`,
  );
}
