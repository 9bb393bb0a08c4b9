import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsdown';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { askDaemon, NoDaemonError } from '../../src/daemon/hook/ask-daemon.ts';
import { openSession } from '../../src/open-session.ts';
import configs from '../../tsdown.config.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { postToolUse, preToolUse, runProgram } from './processes.ts';
import { isDeep } from '../depth.ts';

const ROOT = join(import.meta.dirname, '../..');
let base: string;
let folder: string;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-built-')));
  const hopgate = join(base, 'hopgate');
  mkdirSync(hopgate);
  for (const part of ['package.json', 'specs']) cpSync(join(ROOT, part), join(hopgate, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(hopgate, 'node_modules'));
  folder = join(hopgate, 'dist/hook');
  const hook = configs.find(({ outDir }) => outDir === 'dist/hook');
  await build({ ...hook, cwd: ROOT, outDir: folder, config: false, logLevel: 'silent' });
});

afterAll(() => rmSync(base, { recursive: true }));

/** A session in explore and DIAGNOSE. */
async function session(world: World): Promise<string> {
  const session = await openSession({ root: world.root, agent: 'claude-code', approver: () => true });
  await session.setMode({ to: 'diagnose' });
  await session.start('explore');
  await session.detach();
  return session.id;
}

it.runIf(isDeep)('the built hook program answers without a daemon, repeatedly', async () => {
  const world = makeWorld();
  const id = await session(world);
  const args = [join(folder, 'main.cjs'), 'alone', 'hook', 'claude-code'];
  const cache = join(base, 'cache');
  const own = { HOPGATE_DAEMON: 'off', CLAUDE_PROJECT_DIR: world.root, HOPGATE_SESSION: id };
  const env = { ...world.env, ...own, NODE_COMPILE_CACHE: cache };
  const hook = (input: string) => runProgram(process.execPath, args, env, input);
  const edit = { file_path: join(world.root, 'src/a.ts'), old_string: 'one', new_string: 'two' };
  for (const n of [1, 2]) {
    const read = await hook(preToolUse(world, 'Read', { file_path: join(world.root, 'src/a.ts') }, `toolu_read${n}`));
    expect(read).toMatchObject({ exit: 0, stderr: '' });
    expect(read.stdout).not.toContain('"permissionDecision":"deny"');
    const refused = await hook(preToolUse(world, 'Edit', edit, `toolu_edit${n}`));
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain('explore');
    expect(await hook(postToolUse(world, 'Edit', edit, {}, `toolu_edit${n}`))).toMatchObject({ exit: 0 });
  }
  // One file of code for each file that was read. A renamed module must not leave its group.
  const cached = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(cached.length).toBeGreaterThan(0);
  expect(cached.length).toBeLessThan(8);
});

it('the daemon serves a client of another installation, and ends when its own files are replaced, even by files of the same size and time', async () => {
  const world = makeWorld();
  const main = join(folder, 'main.cjs');
  const daemon = spawn(process.execPath, [main, 'daemon'], { env: world.env, stdio: 'ignore' });
  const ended = once(daemon, 'exit');
  world.later(() => void daemon.kill());
  // This process is a client of another installation: the source.
  const status = async () => JSON.parse((await askDaemon('/status', { env: world.env })).toString());
  await vi.waitFor(async () => expect(await status()).toMatchObject({ pid: daemon.pid }), 10_000);
  expect(await status()).toMatchObject({ pid: daemon.pid });
  const { atime, mtime } = statSync(main);
  writeFileSync(main, readFileSync(main, 'utf8').replace('#!/usr/bin/env node', '#!/usr/bin/env  nod'));
  utimesSync(main, atime, mtime);
  await expect(status()).rejects.toThrow(NoDaemonError);
  await ended;
});
