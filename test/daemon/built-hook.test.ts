import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsdown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSession } from '../../src/open-session.ts';
import configs from '../../tsdown.config.ts';
import { postToolUse, preToolUse, runProgram } from './processes.ts';
import { makeWorld, type World } from './world.ts';

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
  // Says at the end which of Node's own modules were loaded.
  writeFileSync(
    join(base, 'loaded.cjs'),
    'const before = new Set(process.moduleLoadList); process.on("exit", () => require("fs").writeFileSync(process.env.LOADED, process.moduleLoadList.filter((name) => !before.has(name)).join("\\n")));',
  );
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

async function hook(world: World, session: string, input: string) {
  const loaded = join(base, 'loaded');
  const args = ['--require', join(base, 'loaded.cjs'), join(folder, 'main.cjs'), 'alone', 'hook', 'claude-code'];
  const { NODE_COMPILE_CACHE: _, ...env } = world.env as { [name: string]: string };
  const said = await runProgram(
    process.execPath,
    args,
    { ...env, HOPGATE_DAEMON: 'off', CLAUDE_PROJECT_DIR: world.root, HOPGATE_SESSION: session, LOADED: loaded },
    input,
  );
  return { ...said, loaded: readFileSync(loaded, 'utf8').split('\n') };
}

const read = (world: World, id: string) => preToolUse(world, 'Read', { file_path: join(world.root, 'src/a.ts') }, id);

/** Each of these, and what it loads itself, takes more time than all that a hook does. */
const HEAVY = /^NativeModule (internal\/)?(crypto|streams?|net|child_process|http|zlib|tls|worker|test_runner)(\/|$)/;

it('lets a call through without loading what takes long', async () => {
  const world = makeWorld();
  const id = await session(world);
  for (const call of ['toolu_1', 'toolu_2']) {
    const said = await hook(world, id, read(world, call));
    expect(said).toMatchObject({ exit: 0, stderr: '' });
    expect(said.stdout).toContain('"permissionDecision":"allow"');
    expect(said.loaded.filter((name) => HEAVY.test(name))).toEqual([]);
    expect(said.loaded).toContain('NativeModule sqlite');
  }
});

it('answers as it did before its code was kept, whatever it is asked', async () => {
  const world = makeWorld();
  const id = await session(world);
  const edit = { file_path: join(world.root, 'src/a.ts'), old_string: 'one', new_string: 'two' };
  const events = [
    read(world, 'toolu_1'),
    preToolUse(world, 'Edit', edit, 'toolu_2'),
    postToolUse(world, 'Edit', edit, {}, 'toolu_2'),
  ];
  const answers = async () => {
    const all = [];
    for (const event of events) {
      const { exit, stdout, stderr } = await hook(world, id, event);
      all.push({ exit, stdout, stderr });
    }
    return all;
  };
  await answers(); // the first of them tell what is told once
  const before = await answers();
  const home = join(world.env['XDG_STATE_HOME'] ?? '', 'hopgate/compile-cache');
  const [versions = ''] = readdirSync(home);
  const [first = ''] = readdirSync(join(home, versions));
  const kept = readdirSync(join(home, versions, first));
  expect(kept.filter((name) => name.startsWith('kind '))).toEqual([
    'kind claude_code_PostToolUse_Edit',
    'kind claude_code_PreToolUse_Edit',
    'kind claude_code_PreToolUse_Read',
  ]);
  expect(kept.filter((name) => name.endsWith('.cjs')).every((name) => readdirSync(folder).includes(name))).toBe(true);
  rmSync(home, { recursive: true });
  expect(await answers()).toEqual(before);
});

it('is ASCII, as its loader takes it', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cjs'));
  expect(files.length).toBeGreaterThan(10);
  for (const file of files)
    expect(
      readFileSync(join(folder, file)).every((byte) => byte < 0x80),
      file,
    ).toBe(true);
});
