import { parseArgs } from 'node:util';
import { decisions, transitions } from './decisions.ts';
import { hooksBench } from './hooks.ts';
import { langGraphSteps, xstateSteps } from './other-stores.ts';
import type { Pace } from './pace.ts';
import { entryRows, gatedSteps, rawInserts, storeAppends, syncedPages } from './raw-sqlite.ts';
import { pairsOf, sandboxBench } from './sandbox.ts';

/**
 * The cost of a gated step as a multiple of the disk's cost, in one run: each round measures the base and the step one
 * after the other, so that a busy machine slows both. Ratios are medians over the rounds. `--json` for programs.
 */
interface Row {
  readonly what: string;
  readonly against: string;
  /** Maximum cost of one, in multiples of the base. */
  readonly target?: number;
  /** One pair for each round. */
  readonly rounds: readonly {
    readonly rate: number;
    readonly base: number;
    readonly cpu?: number;
    readonly baseCpu?: number;
  }[];
}

const ROUNDS = 3;
const COMMAND_PAIRS = 80;
/** Prints on stderr the part that is measured now, because the whole run takes minutes. */
const progress = (what: string) => console.error(`measuring ${what}`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measure(
  what: string,
  against: string,
  rate: () => Promise<Pace>,
  base: () => Promise<Pace>,
): Promise<Row> {
  progress(`${what}, against ${against}`);
  await base();
  await rate();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [below, above] = [await base(), await rate()];
    rounds.push({ base: below.perSecond, rate: above.perSecond, cpu: above.cpu, baseCpu: below.cpu });
  }
  return { what, against, rounds };
}

const { values } = parseArgs({
  options: { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' }, only: { type: 'string' } },
});
if (values.help) {
  console.log(`npm run bench -- [--only REGEX] [--json]

Measures what steps, decisions, commands and hooks cost, as ratios to a base that is measured in the same run.
It takes minutes and needs a quiet machine.

  --only REGEX  run only the parts that match: steps, decide, commands, hooks
  --json        print JSON

  npm run bench -- --only hooks`);
  process.exit(0);
}
const only = values.only === undefined ? null : new RegExp(values.only);
const wants = (part: 'steps' | 'decide' | 'commands' | 'hooks') => only?.test(part) ?? true;

const rows: Row[] = [];
for (const sessions of wants('steps') ? [1, 16, 64] : []) {
  const together = sessions === 1 ? 'one session' : `${sessions} sessions at once`;
  // So many that most of them run optimised by V8, as in a long session; the base is SQLite's compiled code.
  const steps = sessions === 1 ? 10_000 : 32_000;
  const kept = await entryRows(steps, sessions);
  const step = () => gatedSteps({ steps, sessions });
  const bare = () => rawInserts(kept, sessions, false);
  const target = { 1: 1.4, 64: 4 }[sessions];
  const limit = target ? { target } : {};
  const indexed = () => rawInserts(kept, sessions, true);
  const same = `awaited inserts of the same rows into the store's tables, ${sessions} a transaction`;
  rows.push({ ...(await measure(`durable gated steps, ${together}`, same, step, indexed)), ...limit });
  const against = `awaited inserts of the same rows, no index, ${sessions} a transaction`;
  rows.push({ ...(await measure(`durable gated steps, ${together}`, against, step, bare)), ...limit });
  if (sessions === 1)
    rows.push(
      await measure(`durable gated steps, ${together}`, 'a page written and synced (fdatasync)', step, syncedPages),
    );
  rows.push(
    await measure(`store appends, ${together}`, against, () => storeAppends({ appends: steps, sessions }), bare),
  );
  const few = 1600;
  rows.push(
    await measure(`xstate actors persisted, ${together}`, against, () => xstateSteps({ steps, sessions }), bare),
  );
  rows.push(
    await measure(
      `LangGraph with its SQLite saver, ${together}`,
      against,
      () => langGraphSteps({ steps: few, sessions }),
      bare,
    ),
  );
}
if (wants('decide'))
  rows.push(
    await measure(
      'decide, one step',
      "xstate's pure transition",
      () => decisions(),
      () => transitions(),
    ),
  );
const sandbox = wants('commands') ? await sandboxBench() : null;
if (sandbox) {
  for (const way of sandbox.ways) {
    progress(way.what);
    rows.push({
      what: way.what,
      against: 'the same bwrap command line by hand',
      rounds: await pairsOf(way, COMMAND_PAIRS),
    });
  }
  await sandbox.close();
}

if (wants('hooks')) {
  progress('hook processes');
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
}

const results = rows.map(({ what, against, target, rounds }) => ({
  what,
  against,
  perSecond: Math.round(median(rounds.map(({ rate }) => rate))),
  basePerSecond: Math.round(median(rounds.map(({ base }) => base))),
  ...(rounds[0]?.cpu === undefined
    ? {}
    : {
        /** User and system time in microseconds, of one of these and of one of the base. */
        cpu: Number(median(rounds.map(({ cpu }) => cpu ?? 0)).toFixed(1)),
        baseCpu: Number(median(rounds.map(({ baseCpu }) => baseCpu ?? 0)).toFixed(1)),
      }),
  /** How many times the base one of these costs; below 1 it is cheaper. */
  costs: Number(median(rounds.map(({ rate, base }) => base / rate)).toFixed(2)),
  ...(target === undefined ? {} : { target }),
}));

if (values.json) console.log(JSON.stringify(results, null, 2));
else {
  const cells = [
    ['what', 'per second', 'against', 'per second', 'costs', 'at most', 'CPU µs', 'base'],
    ...results.map((row) => [
      row.what,
      `${row.perSecond}`,
      row.against,
      `${row.basePerSecond}`,
      `× ${row.costs}`,
      row.target === undefined ? '' : `× ${row.target}`,
      `${row.cpu ?? ''}`,
      `${row.baseCpu ?? ''}`,
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) =>
          column !== 0 && column !== 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  '),
    );
  const sync = results.find(({ against }) => against.includes('fdatasync'));
  const indexed = results.find(({ what, against }) => what === sync?.what && against.includes("store's tables"));
  if (sync && indexed) {
    const on = (micros: number) => ((micros + indexed.cpu!) / (micros + indexed.baseCpu!)).toFixed(2);
    console.log(
      `\nThis disk syncs a page in ${Math.round(1e6 / sync.basePerSecond)} µs. By CPU time alone, a step of one session costs × ${on(100)} of an insert into the store's tables on a disk that takes 0.1 ms, × ${on(1000)} at 1 ms, × ${on(5000)} at 5 ms.`,
    );
  }
  console.log(
    `\nMedians of ${ROUNDS} rounds (of commands: ${COMMAND_PAIRS} pairs), node ${process.version}; "costs": how many of the base one takes; "CPU µs": user and system time of one, and of one of the base.`,
  );
}
