/**
 * Runs ordinary commands outside and in a session, and compares the results: `npm run test:everyday`. Words choose
 * ecosystems; `--only REGEX` chooses commands, `--place edit` one of explore, edit and test; `--verbose` prints every row; `--json` is for programs.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '../../src/base/process.ts';
import { VERDICTS } from './compare.ts';
import { ecosystemNames, readEcosystem } from './ecosystem.ts';
import { play, type Row } from './play.ts';
import { buildRepository } from './repository.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    place: { type: 'string' },
    json: { type: 'boolean' },
    verbose: { type: 'boolean' },
  },
});
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-everyday-')));
process.env['XDG_STATE_HOME'] = join(folder, 'state');
const { HOME = '/', LANG = 'C.UTF-8', USER = 'user' } = process.env;
// The programs of the operator, not those of this package that `npm run` puts first.
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((part) => !part.includes('node_modules'))
  .join(delimiter);
const env: NodeJS.ProcessEnv = { HOME, LANG, USER, PATH, TERM: 'dumb', XDG_STATE_HOME: process.env['XDG_STATE_HOME'] };

interface Result {
  readonly ecosystem: string;
  readonly commands: number;
  readonly rows: readonly Row[];
}

const results: Result[] = [];
const say = (line: string) => values.json || console.log(line);
try {
  for (const name of positionals.length > 0 ? positionals : ecosystemNames()) {
    const one = readEcosystem(name);
    const missing = one.needs.filter((program) => findProgram(program, PATH) === null);
    if (missing.length > 0) {
      say(`${one.title}: left out; ${missing.join(', ')} not found`);
      continue;
    }
    const at = mkdtempSync(join(folder, `${name}-`));
    const repository = buildRepository(one, at, env);
    const rows = await play(one, repository, {
      env,
      only: values.only === undefined ? null : new RegExp(values.only),
      place: values.place,
      onRow: ({ place, run, verdict: { kind, why } }) => {
        if (kind === 'differs' || values.verbose) say(`  ${name} ${place}: ${run}\n    ${kind}: ${why}`);
      },
    });
    results.push({ ecosystem: one.title, commands: new Set(rows.map(({ run }) => run)).size, rows });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const count = (rows: readonly Row[], kind: Row['verdict']['kind']) =>
  rows.filter(({ verdict }) => verdict.kind === kind).length;
if (values.json) console.log(JSON.stringify(results, null, 2));
else {
  const titles = ['same', 'same, ignored file not kept', 'same, loss named', 'refused with a way', 'differs'];
  console.log(`ecosystem   commands  runs  ${titles.join('  ')}       %`);
  for (const { ecosystem, commands, rows } of results)
    console.log(
      `${ecosystem.padEnd(12)}${`${commands}`.padStart(8)}${`${rows.length}`.padStart(6)}`
        .concat(...VERDICTS.map((kind, i) => `${count(rows, kind)}`.padStart(titles[i]!.length + 2)))
        .concat(percent(rows).padStart(8)),
    );
}
const rows = results.flatMap((each) => each.rows);
say(`${percent(rows)} % as outside or with a way; at least 97 % are needed`);
process.exitCode = shareOf(rows) >= 0.97 ? 0 : 1;

function shareOf(all: readonly Row[]): number {
  return 1 - count(all, 'differs') / Math.max(1, all.length);
}

function percent(all: readonly Row[]): string {
  return (shareOf(all) * 100).toFixed(1);
}
