import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Mutation testing, a part after the other: `npm run mutation [-- gate compile evidence]`. Hours on a small machine;
 * `-- --share 0.2 [--seed 1]` takes the declarations at random that hold about that share of the code. The last lines
 * are the scores: how many of the mutants that were run a test has noticed.
 */
const PARTS = ['gate', 'compile', 'evidence'];
const { positionals: parts, values } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' } },
});
const share = Number(values.share);
const report = 'test/mutation/report.json';
if (!(share > 0 && share <= 1)) fail(`--share is a number above 0 and up to 1, not "${values.share}".`);

for (const part of parts.length > 0 ? parts : PARTS) {
  if (!PARTS.includes(part)) fail(`There is no part "${part}"; there are ${PARTS.join(', ')}.`);
  const stryker = ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', 'test/mutation/stryker.config.json'];
  const { status } = spawnSync(process.execPath, [...stryker, '--mutate', mutatedIn(part).join(',')], {
    stdio: 'inherit',
    env: { ...process.env, MUTATED: part },
  });
  if (status !== 0) process.exit(status ?? 1);
  console.log(`${part}: ${scoreOf(report)}`);
}

/** The files of a part, or only those declarations in each file that the seed chose. */
function mutatedIn(part: string): string[] {
  if (share === 1) return [`src/${part}/**/*.ts`];
  return globSync(`src/${part}/**/*.ts`)
    .sort()
    .flatMap((file) =>
      declarations(file)
        .filter(({ from }) => chance(`${values.seed} ${file} ${from}`) < share)
        .map(({ from, to }) => `${file}:${from}-${to}`),
    );
}

/** An unindented line begins a declaration, as the formatter writes it; lines count from 1. */
function declarations(file: string): { readonly from: number; readonly to: number }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const starts = lines.flatMap((line, at) => (/^[a-z@]/.test(line) ? [at + 1] : []));
  return starts.map((from, at) => ({ from, to: (starts[at + 1] ?? lines.length + 1) - 1 }));
}

/** From 0 up to 1. */
function chance(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 8), 16) / 2 ** 32;
}

function scoreOf(file: string): string {
  type Report = {
    readonly files: { readonly [name: string]: { readonly mutants: readonly { readonly status: string }[] } };
  };
  const { files } = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const mutants = Object.values(files).flatMap(({ mutants }) => mutants);
  const count = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const noticed = count('Killed', 'Timeout');
  const all = noticed + count('Survived', 'NoCoverage');
  return `${((100 * noticed) / all).toFixed(1)} % (${noticed} of ${all})`;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
