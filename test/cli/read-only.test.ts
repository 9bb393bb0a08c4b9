import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConversationFiles } from '../../src/daemon/conversation-files.ts';
import { ensureStateDir, stateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { isDeep, sample } from '../depth.ts';
import { type Machine, machine } from './run.ts';

const LINES = 'mode diagnose\nstart explore\nread src/a.js\nstop\nclose done\n';

/** Runs a command where the state folder is mounted read-only, as root and as an ordinary user alike. */
function onReadOnlyState({ root, env }: Machine, ...argv: string[]) {
  const state = env['XDG_STATE_HOME']!;
  const mounts = ['--dev-bind', '/', '/', '--ro-bind', state, state, '--chdir', root];
  const command = [process.execPath, resolve('src/cli/main.ts'), ...argv];
  const { status, stdout, stderr } = spawnSync('bwrap', [...mounts, ...command], {
    env: env as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

async function withSession(): Promise<{ readonly here: Machine; readonly dir: string }> {
  const here = machine({ 'src/a.js': 'a\n' });
  await here.feed(LINES, 'shell');
  new ConversationFiles(here.root, here.env);
  return { here, dir: stateDir(here.root, here.env) };
}

/** Runs a command that has no rights of root, in a repository whose state folder nobody may open. */
function withoutRights({ root, env }: Machine, ...argv: string[]) {
  const dir = stateDir(root, env);
  chmodSync(dir, 0);
  const command = [process.execPath, resolve('src/cli/main.ts'), ...argv];
  const { status, stdout, stderr } = spawnSync(
    'bwrap',
    ['--dev-bind', '/', '/', '--cap-drop', 'ALL', '--chdir', root, ...command],
    { env: env as NodeJS.ProcessEnv, encoding: 'utf8' },
  );
  chmodSync(dir, 0o700);
  return { code: status, out: stdout, err: stderr, dir };
}

/** Runs `then` while a process holds the evidence open, so that its write-ahead log and shared memory are there. */
async function whileOpen<T>(file: string, then: () => T | Promise<T>): Promise<T> {
  const store = sqliteStore(file);
  await store.putBlob(new Uint8Array([1]));
  try {
    return await then();
  } finally {
    await store.close();
  }
}

describe('a read-only state folder', () => {
  it.each(sample(['sessions', 'log s-', 'thread s-', 'verify', 'infer', 'activity s-', 'par'], 7))(
    'can be read by hopgate %s',
    async (words) => {
      const argv = words.split(' ');
      const { here, dir } = await withSession();
      const before = readdirSync(dir);
      const { code, out } = onReadOnlyState(here, ...argv);
      expect(code).toBe(0);
      expect(out).toBe((await here.run(...argv)).out);
      expect(readdirSync(dir)).toEqual(before);
    },
  );

  it.runIf(isDeep)('can be read while another process writes', async () => {
    const { here, dir } = await withSession();
    const { code, out } = await whileOpen(join(dir, 'evidence.db'), () => onReadOnlyState(here, 'verify'));
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^clean {2}s-/) });
  });

  it.runIf(isDeep)('can be read with the write-ahead log of a killed process', async () => {
    const [here, other] = [machine({ 'src/a.js': 'a\n' }), machine({ 'src/a.js': 'a\n' })];
    const [file, copy] = [here, other].map(({ root, env }) => join(ensureStateDir(root, env), 'evidence.db'));
    // The log is emptied into the file when the last process closes it, so one stays open until the copy is made.
    await whileOpen(file!, async () => {
      await here.feed(LINES, 'shell');
      for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`);
    });
    expect(readFileSync(copy!).includes('session-closed')).toBe(false);
    expect(onReadOnlyState(other, 'log', 's-')).toMatchObject({ code: 0, out: (await here.run('log', 's-')).out });
  });

  it.runIf(isDeep)('refuses to erase', async () => {
    const { here } = await withSession();
    const { code, err } = onReadOnlyState(here, 'erase', 's-', '--yes');
    expect(code).toBe(1);
    expect(err).toContain('cannot be written (EROFS)');
  });
});

describe('a state folder that this user may not open', () => {
  it.each(sample(['sessions', 'log s-', 'verify', 'status', 'approve', 'grants'], 6))(
    'is named by hopgate %s, which never treats the folder as empty',
    async (words) => {
      const argv = words.split(' ');
      const { here } = await withSession();
      const { code, err, dir } = withoutRights(here, ...argv);
      expect(err).toContain(`no permission to open ${dir}`);
      expect(code).toBe(1);
    },
  );

  it.runIf(isDeep)('is named by doctor', async () => {
    const { here } = await withSession();
    const { out, dir } = withoutRights(here, 'doctor');
    expect(out).toMatch(new RegExp(`broken +evidence +no permission to open ${dir}`));
    expect(out).not.toContain('damaged');
  });
});
