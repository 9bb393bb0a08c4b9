import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Mutation testing, a part after the other: `npm run mutation [-- gate compile evidence]`. Hours on a small machine. The last lines are the
 * scores: how many of the mutants that were run a test has noticed.
 */
const PARTS = ['gate', 'compile', 'evidence'];
const parts = process.argv.slice(2);
const report = 'test/mutation/report.json';

for (const part of parts.length > 0 ? parts : PARTS) {
  if (!PARTS.includes(part)) {
    console.error(`There is no part "${part}"; there are ${PARTS.join(', ')}.`);
    process.exit(2);
  }
  const stryker = ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', 'test/mutation/stryker.config.json'];
  const { status } = spawnSync(process.execPath, [...stryker, '--mutate', `src/${part}/**/*.ts`], {
    stdio: 'inherit',
    env: { ...process.env, MUTATED: part },
  });
  if (status !== 0) process.exit(status ?? 1);
  console.log(`${part}: ${scoreOf(report)}`);
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
