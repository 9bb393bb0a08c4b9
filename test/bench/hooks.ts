import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'tsdown';
import { openSession } from '../../src/open-session.ts';
import configs from '../../tsdown.config.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAYS = ['by the compiled client', 'by curl', 'by Node', 'by itself, no daemon'] as const;
type Way = (typeof WAYS)[number];

/** Processes per second of each way to answer a hook, and of `node -e 0`, each measured after the other. */
export type HookRound = { readonly [way in Way]: { readonly rate: number; readonly base: number } };

/**
 * Hook processes as a client program starts them, on the built program, for a read that the gate lets through: what the user waits for at each
 * call. The way without the daemon opens the session anew every time.
 */
export async function hooksBench() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-hooks-')));
  const hopgate = join(base, 'hopgate');
  mkdirSync(hopgate);
  for (const part of ['package.json', 'specs', 'src/daemon/client'])
    cpSync(join(ROOT, part), join(hopgate, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(hopgate, 'node_modules'));
  const hook = configs.find(({ outDir }) => outDir === 'dist/hook');
  await build({ ...hook, cwd: ROOT, outDir: join(hopgate, 'dist/hook'), config: false, logLevel: 'silent' });
  const main = join(hopgate, 'dist/hook/main.cjs');
  const root = join(base, 'repo');
  mkdirSync(root);
  writeFileSync(join(root, 'a.ts'), 'a\n');
  const state = { XDG_STATE_HOME: join(base, 'state'), HOME: base, PATH: process.env['PATH'] ?? '' };
  const before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = state.XDG_STATE_HOME;
  const session = await openSession({ root, agent: 'claude-code' });
  await session.setMode({ to: 'diagnose' });
  await session.start('explore');
  await session.detach();
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
  const env = { ...state, HOPGATE_SESSION: session.id, CLAUDE_PROJECT_DIR: root };

  const input = JSON.stringify({
    session_id: 'bench',
    cwd: root,
    hook_event_name: 'PreToolUse',
    tool_name: 'Read',
    tool_input: { file_path: join(root, 'a.ts') },
    tool_use_id: 'toolu_bench',
  });
  const time = (program: string, args: readonly string[], more: { [name: string]: string } = {}, exit = 0): number => {
    const start = performance.now();
    const ended = spawnSync(program, args, { env: { ...env, ...more }, input, encoding: 'utf8' });
    const ms = performance.now() - start;
    if (ended.status !== exit)
      throw new Error(`${program} ${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`);
    return ms;
  };
  const start = (more: { [name: string]: string } = {}): ChildProcess =>
    spawn(process.execPath, [main, 'daemon'], { env: { ...state, ...more }, stdio: 'ignore' });
  const launcher = join(state.XDG_STATE_HOME, 'hopgate/bin/hook');
  const curl = `${launcher}-curl`;
  const withCurl = start({ HOPGATE_HOOK_CLIENT: 'curl' });
  await untilItAnswers(launcher, state);
  cpSync(launcher, curl);
  await ended(withCurl);
  rmSync(launcher);
  const daemon = start();
  await untilItAnswers(launcher, state);
  const run: { readonly [way in Way]: () => number } = {
    'by the compiled client': () => time(launcher, ['claude-code']),
    'by curl': () => time(curl, ['claude-code']),
    'by Node': () => time(process.execPath, [main, 'hook', 'claude-code']),
    'by itself, no daemon': () =>
      time(process.execPath, [main, 'alone', 'hook', 'claude-code'], { HOPGATE_DAEMON: 'off' }),
  };
  /** Each beside one bare Node; the medians of their rates. */
  const measure = (way: Way, times: number) => {
    const [all, bare]: [number[], number[]] = [[], []];
    for (let i = -1; i < times; i++) {
      const [zero, ms] = [time(process.execPath, ['-e', '0']), run[way]()];
      if (i < 0) continue;
      bare.push(zero);
      all.push(ms);
    }
    return { rate: 1000 / median(all), base: 1000 / median(bare) };
  };
  return {
    ways: WAYS,
    async rounds(count: number, times = 7): Promise<readonly HookRound[]> {
      const each = (ways: readonly Way[]) =>
        Array.from({ length: count }, () => Object.fromEntries(ways.map((way) => [way, measure(way, times)])));
      const [alone, ...asking] = [...WAYS].reverse() as [Way, ...Way[]];
      const asked = each(asking);
      // It needs the session, which the daemon holds.
      await ended(daemon);
      return each([alone]).map((round, i) => ({ ...asked[i], ...round }) as HookRound);
    },
    async close(): Promise<void> {
      await ended(daemon);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** A run that there is not: the daemon says so once it is there. */
async function untilItAnswers(launcher: string, env: { readonly [name: string]: string }): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (existsSync(launcher) && spawnSync(launcher, ['run', 'x'], { env }).status === 125) return;
    await sleep(25);
  }
  throw new Error('the daemon does not start');
}

async function ended(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill('SIGTERM');
  await new Promise((resolve) => daemon.once('close', resolve));
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
