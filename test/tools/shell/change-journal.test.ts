import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishChangeJournals } from '../../../src/tools/shell/apply-changes.ts';
import {
  hashFile,
  JOURNAL_PREFIX,
  type JournaledChange,
  makeJournal,
} from '../../../src/tools/shell/change-journal.ts';
import { scratch } from './support.ts';

/** A stage as an engine leaves it that is killed right after the commit. */
async function killedAfterCommit(root: string): Promise<string> {
  const stage = makeJournal(root);
  writeFileSync(join(root, 'source'), 'new');
  const put = (path: string, before: string | null): JournaledChange => ({
    do: 'put',
    path,
    before,
    ...stage.add(join(root, 'source'), { mode: 0o644, uid: process.getuid!(), gid: process.getgid!() }),
  });
  stage.commit([
    { do: 'delete', path: 'src/gone', before: hashFile(join(root, 'src/gone')) },
    put('src/a', hashFile(join(root, 'src/a'))),
    put('src/new/b', null),
  ]);
  const gone = spawn('true');
  await new Promise((resolve) => gone.once('exit', resolve));
  const folder = join(root, `${JOURNAL_PREFIX}${gone.pid}-dead`);
  renameSync(stage.folder, folder);
  return folder;
}

test('the changes in the journal of a killed hopgate process are completed', async () => {
  const root = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  await killedAfterCommit(root);
  const { effects, dropped } = finishChangeJournals(root);
  expect(effects.map(({ path, op }) => `${op} ${path}`)).toEqual([
    'delete src/gone',
    'modify src/a',
    'create src/new/b',
  ]);
  expect(dropped).toEqual([]);
  expect(readFileSync(join(root, 'src/a'), 'utf8')).toBe('new');
  expect(readdirSync(root).sort()).toEqual(['source', 'src']);
});

test('a restart after a kill applies only the changes that are missing', async () => {
  const root = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  const folder = await killedAfterCommit(root);
  renameSync(join(folder, '1'), join(root, 'src/a'));
  const { effects } = finishChangeJournals(root);
  expect(effects.map(({ path }) => path)).toEqual(['src/gone', 'src/new/b']);
});

test('a restart after a kill does not repeat a finished deletion', async () => {
  const root = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  await killedAfterCommit(root);
  rmSync(join(root, 'src/gone'));
  const { effects, dropped } = finishChangeJournals(root);
  expect(effects.map(({ path }) => path)).toEqual(['src/a', 'src/new/b']);
  expect(dropped).toEqual([]);
});

test('a file that another program changed after the kill is kept', async () => {
  const root = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  await killedAfterCommit(root);
  writeFileSync(join(root, 'src/a'), 'by hand');
  const { dropped } = finishChangeJournals(root);
  expect(dropped.map(({ path }) => path)).toEqual(['src/a']);
  expect(readFileSync(join(root, 'src/a'), 'utf8')).toBe('by hand');
});

test('a journal folder that came with the repository is not trusted', async () => {
  const root = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  const folder = await killedAfterCommit(root);
  const clone = scratch({ 'src/a': 'old', 'src/gone': 'x' });
  mkdirSync(join(clone, JOURNAL_PREFIX));
  cpSync(folder, join(clone, folder.slice(root.length + 1)), { recursive: true });
  expect(finishChangeJournals(clone)).toEqual({ effects: [], dropped: [] });
  expect(existsSync(join(clone, 'src/gone'))).toBe(true);
});

test('an unfinished journal is discarded if its hopgate process was killed, but not while the process runs', async () => {
  const root = scratch();
  const mine = makeJournal(root);
  const dead = await killedAfterCommit(root);
  renameSync(join(dead, 'journal.json'), join(dead, 'journal.json.new'));
  expect(finishChangeJournals(root)).toEqual({ effects: [], dropped: [] });
  expect(existsSync(dead)).toBe(false);
  expect(existsSync(mine.folder)).toBe(true);
  mine.remove();
});
