import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'tsdown';
import { openSession } from '../../src/open-session.ts';
import type { Session } from '../../src/session/session.ts';
import configs from '../../tsdown.config.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Limits of the cost of each way to answer a hook, in multiples of `node -e 0`. */
const TARGETS = {
  'by the compiled client': 0.36,
  'by Node': 2,
  'by itself, no daemon': 2,
  'by itself, after 2,000 entries': 2,
  'by itself, an edit': 2,
} as const;
type Way = keyof typeof TARGETS;
const WAYS = Object.keys(TARGETS) as Way[];
const ASKING = WAYS.filter((way) => !way.startsWith('by itself'));

/** Processes per second of each way to answer a hook, and of `node -e 0`, each measured after the other. */
export type HookRound = { readonly [way in Way]: { readonly rate: number; readonly base: number } };

/**
 * Hook processes as a client program starts them, on the built program, for a read (or an edit) that the gate allows:
 * the user waits for them at each call. Without the daemon, each hook opens the session again.
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
  mkdirSync(join(root, 'src'));
  for (const file of ['a.ts', 'src/a.ts']) writeFileSync(join(root, file), 'a\n');
  const state = { XDG_STATE_HOME: join(base, 'state'), HOME: base, PATH: process.env['PATH'] ?? '' };
  const before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = state.XDG_STATE_HOME;
  const short = await sessionIn(root, async () => {});
  const long = await sessionIn(root, async (session) => {
    while ((await session.step({ tool: 'read', args: { path: 'a.ts' } })).evidence[0]!.seq < 2_000);
  });
  const editing = await sessionIn(root, async (session) => {
    await must(session.setMode({ to: 'execute' }));
    await must(session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'to edit' }));
  });
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
  const env = { ...state, HOPGATE_SESSION: short, CLAUDE_PROJECT_DIR: root };

  let calls = 0;
  const event = (name: string, tool: string, more: object) =>
    JSON.stringify({
      session_id: `bench ${tool}`,
      cwd: root,
      hook_event_name: name,
      tool_name: tool,
      tool_use_id: `toolu_${calls}`,
      ...more,
    });
  /** A client program gives every call an id of its own. */
  const read = () => {
    calls++;
    return event('PreToolUse', 'Read', { tool_input: { file_path: join(root, 'a.ts') } });
  };
  const edit = { tool_input: { file_path: join(root, 'src/a.ts'), old_string: 'a', new_string: 'b' } };
  const time = (program: string, args: readonly string[], more: { [name: string]: string } = {}, input = read()) => {
    const start = performance.now();
    const ended = spawnSync(program, args, { env: { ...env, ...more }, input, encoding: 'utf8' });
    const ms = performance.now() - start;
    if (ended.status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`);
    return ms;
  };
  const start = (): ChildProcess => spawn(process.execPath, [main, 'daemon'], { env: state, stdio: 'ignore' });
  const launcher = join(state.XDG_STATE_HOME, 'hopgate/bin/hook');
  const daemon = start();
  await untilItAnswers(launcher, state);
  const alone = (session: string, input: string) =>
    time(launcher, ['claude-code'], { HOPGATE_DAEMON: 'off', HOPGATE_SESSION: session }, input);
  const run: { readonly [way in Way]: () => number } = {
    'by the compiled client': () => time(launcher, ['claude-code']),
    'by Node': () => time(process.execPath, [main, 'hook', 'claude-code'], { NODE_COMPILE_CACHE: join(base, 'cache') }),
    'by itself, no daemon': () => alone(short, read()),
    'by itself, after 2,000 entries': () => alone(long, read()),
    'by itself, an edit': () => {
      calls++;
      const ms = alone(editing, event('PreToolUse', 'Edit', edit));
      alone(editing, event('PostToolUse', 'Edit', { ...edit, tool_response: {} }));
      return ms;
    },
  };
  /** Measures each one together with a bare Node; returns the medians of their rates. */
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
    targets: TARGETS,
    async rounds(count: number, times = 7): Promise<readonly HookRound[]> {
      const each = (ways: readonly Way[]) =>
        Array.from({ length: count }, () => Object.fromEntries(ways.map((way) => [way, measure(way, times)])));
      const asked = each(ASKING);
      // The ways without the daemon need the session, which the daemon holds.
      await ended(daemon);
      const others = each(WAYS.filter((way) => !ASKING.includes(way)));
      return others.map((round, i) => ({ ...asked[i], ...round }) as HookRound);
    },
    async close(): Promise<void> {
      await ended(daemon);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** A session in explore, or wherever `on` leads it; its id. */
async function sessionIn(root: string, on: (session: Session) => Promise<void>): Promise<string> {
  const session = await openSession({ root, agent: 'claude-code', approver: () => true });
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.start('explore'));
  await on(session);
  await session.detach();
  return session.id;
}

async function must(result: Promise<{ readonly ok: boolean }>): Promise<void> {
  const { ok, ...rest } = await result;
  if (!ok) throw new Error(JSON.stringify(rest));
}

/** A ticket that does not exist, so that the daemon must be running to say so. */
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
