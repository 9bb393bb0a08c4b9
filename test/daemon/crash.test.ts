import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { withEvidence } from '../../src/cli/open-store.ts';
import { askDaemon } from '../../src/daemon/hook/ask-daemon.ts';
import { installLauncher } from '../../src/daemon/hook/launcher.ts';
import { commandEntryFile } from '../../src/daemon/package-files.ts';
import { ensureDaemon } from '../../src/daemon/start-daemon.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { openSession } from '../../src/open-session.ts';
import type { Approver } from '../../src/ports/approver.ts';
import { depth, isDeep, sample } from '../depth.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { connectInspector, postToolUse, preToolUse, runProgram, spawnDaemon, startDaemon } from './processes.ts';

const yes: Approver = { via: 'approver', approve: async () => ({ by: 'operator' }) };

/** A world whose conversation joins a session in `edit`, in mode execute. */
async function editing(): Promise<World & { readonly sessionId: string }> {
  const world = makeWorld();
  const session = await openSession({ root: world.root, agent: 'claude-code', approver: yes });
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  await session.setMode({ to: 'execute', exitCriteria: 'x' });
  await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
  const hopped = await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'go' });
  if (!hopped.ok) throw new Error(hopped.denial.message);
  await session.detach();
  const env = { ...world.env, HOPGATE_SESSION: session.id, CLAUDE_PROJECT_DIR: world.root };
  return { ...world, env, sessionId: session.id };
}

const hook = (world: World, input: string) =>
  runProgram(installLauncher(world.env).file, ['claude-code'], world.env, input);

async function statusOf(world: World): Promise<{ pid: number }> {
  return JSON.parse((await askDaemon('/status', { env: world.env })).toString()) as { pid: number };
}

async function killDaemon(world: World): Promise<void> {
  const { pid } = await statusOf(world);
  process.kill(pid, 'SIGKILL');
  while (await alive(pid)) await sleep(5);
}

/** False if the process has ended or is a zombie. */
async function alive(pid: number): Promise<boolean> {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
}

/** The session's entries, after `verify` has found no violation in them. */
async function evidenceOf(world: World & { readonly sessionId: string }) {
  const session = await openSession({ root: world.root, agent: 'claude-code', session: world.sessionId });
  const entries = await session.evidence();
  const { specs, config, id } = session;
  await session.detach();
  const result = await withEvidence(world.root, world.env, null, (store) =>
    verifySession(id, { specs, config }, store.entries(id)),
  );
  expect(result).toMatchObject({ chain: [], audit: { violations: [] } });
  return { events: entries.map((entry) => toBody(entry.body)?.event), entries };
}

describe('a daemon that is killed with kill -9', () => {
  it('between the two events of an edit loses nothing: the next hook concludes the edit', async () => {
    const world = await editing();
    await startDaemon(world);
    const input = { file_path: join(world.root, 'src/b.ts'), content: 'b\n' };
    expect(await hook(world, preToolUse(world, 'Write', input))).toMatchObject({ exit: 0 });
    expect((await evidenceOf(world)).events.at(-1)).toBe('intent');
    await killDaemon(world);
    writeFileSync(input.file_path, input.content);
    const reply = await hook(world, postToolUse(world, 'Write', input, { filePath: input.file_path, type: 'create' }));
    expect(reply).toMatchObject({ exit: 0 });
    const { events, entries } = await evidenceOf(world);
    expect(events.slice(-2)).toEqual(['intent', 'outcome']);
    expect(toBody(entries.at(-1)!.body)).toMatchObject({ effects: [{ path: 'src/b.ts', op: 'create' }] });
  });

  it('never allows a call that the gate refuses, whenever it is killed', async () => {
    const world = await editing();
    // A hook that found no daemon has started another one.
    world.later(async () => {
      await ensureDaemon(world.env, 30_000);
      await killDaemon(world);
    });
    for (let round = 0; round < depth(1, 4); round++) {
      const daemon = spawnDaemon(world);
      await ensureDaemon(world.env);
      const outside = preToolUse(world, 'Write', { file_path: '/etc/hopgate-test', content: 'x' }, `toolu_${round}`);
      const asked = Promise.all([hook(world, outside), hook(world, outside), hook(world, outside)]);
      await sleep(round * 7); // at any moment in between; whatever was interrupted, the answer must be a refusal
      daemon.kill('SIGKILL');
      for (const reply of await asked) {
        expect(reply).toMatchObject({ exit: 2, stdout: '' });
        expect(reply.stderr).not.toBe('');
      }
    }
    const { events } = await evidenceOf(world);
    expect(new Set(events.slice(events.lastIndexOf('start') + 1))).toEqual(new Set(['denial']));
  });

  it.runIf(isDeep)('is started again by the next hook', async () => {
    const world = await editing();
    const env = { ...world.env, HOPGATE_DAEMON_IDLE_MINUTES: '0.2' };
    const again = { ...world, env };
    const reply = await hook(again, preToolUse(again, 'Read', { file_path: join(world.root, 'src/a.ts') }));
    expect(reply).toMatchObject({ exit: 0 });
    await ensureDaemon(env, 30_000);
    world.later(() => killDaemon(again).catch(() => {}));
    const { pid } = await statusOf(again);
    expect(pid).not.toBe(process.pid);
    expect(await hook(again, preToolUse(again, 'Read', { file_path: '/etc/passwd' }, 'toolu_2'))).toMatchObject({
      exit: 2,
    });
    expect((await statusOf(again)).pid).toBe(pid);
  });
});

it.runIf(isDeep)(
  'a hook that started without a daemon is answered by the daemon that has started since and holds the session',
  async () => {
    const world = await editing();
    await startDaemon(world);
    const read = { file_path: join(world.root, 'src/a.ts') };
    expect(await hook(world, preToolUse(world, 'Read', read))).toMatchObject({ exit: 0 });
    const alone = [commandEntryFile(), 'alone', 'hook', 'claude-code'];
    const start = JSON.stringify({ session_id: 'c1', cwd: world.root, hook_event_name: 'SessionStart' });
    const reply = await runProgram(process.execPath, alone, world.env, start);
    expect(reply).toMatchObject({ exit: 0, stderr: '' });
    expect(reply.stdout).toContain('In the peripheral');
  },
);

describe('a command that hopgate runs instead of the agent', () => {
  const commandOf = (stdout: string): string =>
    (JSON.parse(stdout) as { hookSpecificOutput: { updatedInput: { command: string } } }).hookSpecificOutput
      .updatedInput.command;

  it.runIf(isDeep).each(sample(['a daemon', 'no daemon'], 2))(
    'has the same streams, status and effects, with %s',
    async (which) => {
      const world = await editing();
      if (which === 'a daemon') {
        await startDaemon(world);
      } else Object.assign(world.env, { HOPGATE_DAEMON: 'off' });
      const line = 'echo out; echo err >&2; echo new > src/new.ts; echo no > outside.txt; exit 3';
      const allowed = await hook(world, preToolUse(world, 'Bash', { command: line }));
      expect(allowed.stderr).toBe('');
      const command = commandOf(allowed.stdout);
      const ran = await runProgram('/bin/sh', ['-c', command], world.env);
      expect(ran.exit).toBe(3);
      expect(ran.stdout).toMatch(/^hopgate did not keep outside\.txt: .*\nout\n$/);
      expect(ran.stderr).toContain('err\n');
      expect(readFileSync(join(world.root, 'src/new.ts'), 'utf8')).toBe('new\n');
      const again = await runProgram('/bin/sh', ['-c', command], world.env);
      expect(again).toMatchObject({ exit: 125, stdout: '' });
      expect(again.stderr).toMatch(/it has run already/);
      const { events } = await evidenceOf(world);
      expect(events.slice(-2)).toEqual(['intent', 'outcome']);
    },
  );

  it.runIf(isDeep)('is killed with all its processes when the client is killed', async () => {
    const world = await editing();
    await startDaemon(world);
    const allowed = await hook(world, preToolUse(world, 'Bash', { command: 'echo begun > src/begun; sleep 600' }));
    const { spawn } = await import('node:child_process');
    const child = spawn('/bin/sh', ['-c', `exec ${commandOf(allowed.stdout)}`], {
      env: world.env,
      detached: true,
      stdio: 'ignore',
    });
    const busy = async () =>
      (
        JSON.parse((await askDaemon('/status', { env: world.env })).toString()) as {
          sessions: { busy: string | null }[];
        }
      ).sessions.some((session) => session.busy === 'bash');
    while (!(await busy())) await sleep(20);
    process.kill(-child.pid!, 'SIGKILL');
    while (await busy()) await sleep(20);
    const { entries } = await evidenceOf(world);
    expect(toBody(entries.at(-1)!.body)).toMatchObject({
      event: 'outcome',
      outcome: { status: 'failed', code: 'aborted' },
    });
  });
});

it.runIf(isDeep)(
  'the memory of the daemon does not grow with the number of hooks',
  { timeout: 1_800_000 },
  async () => {
    // Memory instead of a disk: most of a hook's time is the wait until the disk has its entry.
    if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
    onTestFinished(() => void vi.unstubAllEnvs());
    const world = makeWorld();
    const daemon = await startDaemon(world, ['--max-semi-space-size=4', '--inspect=127.0.0.1:0']);
    const inspector = await connectInspector(daemon);
    const body = preToolUse(world, 'Read', { file_path: join(world.root, 'src/a.ts') });
    const ask = () => askDaemon('/hook/claude-code', { env: world.env, body });
    /** Sends `count` further hooks. Returns the daemon's memory after a garbage collection, in MiB. */
    const after = async (count: number) => {
      for (let n = 0; n < count; n += 4) await Promise.all([ask(), ask(), ask(), ask()]);
      await inspector('HeapProfiler.collectGarbage');
      const heap = await inspector('Runtime.getHeapUsage');
      const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1];
      return { heap: Number(heap['usedSize']) / 2 ** 20, resident: Number(resident) / 1024 };
    };
    const first = await after(1_500);
    const last = await after(4_500);
    const sizes = JSON.stringify([first, last]);
    expect(last.heap - first.heap, sizes).toBeLessThan(0.75);
    // The heap is not all: SQLite and buffers have memory outside of it.
    expect(last.resident - first.resident, sizes).toBeLessThan(12);
  },
);
