import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import { openSession } from '../../src/open-session.ts';
import { StoreError } from '../../src/ports/evidence-store.ts';
import type { NativeTicket } from '../../src/session/native/native-steps.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { isDeep } from '../depth.ts';

const event = (name: string, toolUseId: string | null = null) => ({ name, at: '2026-01-01T00:00:00.000Z', toolUseId });

/**
 * A client program in a terminal with this folder on its PATH, and a process that it starts by way of a package runner
 * with another PATH.
 */
async function client(world: World, folder: string) {
  const hook = "require('child_process').spawn('sleep', ['600'], { stdio: 'ignore' }).pid";
  const runner = `process.title = 'npm exec hopgate'; console.log(${hook}); setInterval(() => {}, 1e6)`;
  const code = `process.env.PATH = '/of/settings:' + process.env.PATH; require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(runner)}], { stdio: 'inherit' }); setInterval(() => {}, 1e6)`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const child = spawn(process.execPath, ['-e', code], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const end = () => void (child.exitCode === null && child.signalCode === null && process.kill(-child.pid!, 'SIGKILL'));
  world.later(end);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { hook: Number(line), end };
}

describe('a conversation’s session', () => {
  it('is opened in the default peripheral, with the client program as its agent', async () => {
    const { host, conversation, nobody } = makeWorld();
    const context = host().hookContext(nobody);
    const record = await context.conversation(conversation());
    const state = await context.withSession(record, async (session) => session.state);
    expect(state).toMatchObject({ agent: 'claude-code', peripheral: 'explore', mode: 'discuss' });
    expect(record).toMatchObject({ parent: null, events: [], notes: {} });
  });

  it('starts in the named peripheral', async () => {
    const { host, conversation } = makeWorld();
    const context = host().hookContext({ env: { HOPGATE_PERIPHERAL: 'chat' }, pid: null });
    const record = await context.conversation(conversation());
    expect(await context.withSession(record, async ({ state }) => state.peripheral)).toBe('chat');
  });

  it('is closed if it cannot start in the named peripheral', async () => {
    const { host, conversation, root, env } = makeWorld();
    const context = host().hookContext({ env: { HOPGATE_PERIPHERAL: 'nowhere' }, pid: null });
    await expect(context.conversation(conversation())).rejects.toThrow(/nowhere/);
    const record = await host().hookContext({ env: {}, pid: null }).conversation(conversation());
    expect(record.sessionId).toBeTypeOf('string');
    expect(root && env).toBeTruthy();
  });

  it('is the same in another process, and differs for another conversation', async () => {
    const { host, conversation, nobody } = makeWorld();
    const first = await host().hookContext(nobody).conversation(conversation());
    expect((await host().hookContext(nobody).conversation(conversation())).sessionId).toBe(first.sessionId);
    expect((await host().hookContext(nobody).conversation(conversation('c2'))).sessionId).not.toBe(first.sessionId);
  });

  it('is opened once, however many processes ask at the same time', async () => {
    const { host, conversation, nobody } = makeWorld();
    const hosts = [host(), host(), host({ keepOpenMs: 60_000 })];
    const records = await Promise.all(
      hosts.flatMap((one) => [0, 1, 2].map(() => one.hookContext(nobody).conversation(conversation()))),
    );
    expect(new Set(records.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it('is the one that the environment names, and no other', async () => {
    const { host, conversation, root, nobody } = makeWorld();
    const made = await openSession({ root, agent: 'somebody' });
    await made.detach();
    const context = host().hookContext({ env: { HOPGATE_SESSION: made.id }, pid: null });
    const record = await context.conversation(conversation());
    expect(record.sessionId).toBe(made.id);
    expect(await context.withSession(record, async ({ state }) => state.agent)).toBe('somebody');
    const other = host().hookContext({ env: { HOPGATE_SESSION: 's-none' }, pid: null });
    await expect(other.conversation(conversation('c3'))).rejects.toThrow(/no session "s-none"/);
    const moved = await host().hookContext(nobody).conversation(conversation('c4'));
    expect(
      (
        await host()
          .hookContext({ env: { HOPGATE_SESSION: made.id }, pid: null })
          .conversation(moved.conversation)
      ).sessionId,
    ).toBe(made.id);
  });

  it('is shared by all conversations of one client process and its MCP server', async () => {
    const { host, conversation, root } = makeWorld();
    const caller = { env: {}, pid: process.pid };
    const record = await host().hookContext(caller).conversation(conversation('before-clear'));
    expect((await host().hookContext(caller).conversation(conversation('after-clear'))).sessionId).toBe(
      record.sessionId,
    );
    expect(await host().conversations.attach(root, 'claude-code', caller)).toBe(record.sessionId);
  });

  it.runIf(isDeep)('uses the PATH of the terminal in which the client program was started or continued', async () => {
    const world = makeWorld();
    const { conversation } = world;
    const daemon = world.host({ keepOpenMs: 60_000 });
    const pathOf = async (pid: number, id: string) => {
      const record = await daemon.hookContext({ env: { PATH: '/of/settings' }, pid }).conversation(conversation(id));
      return daemon.sessions.use(world.root, record.sessionId, 'a test', async (session) => {
        await session.setMode({ to: 'diagnose' });
        const step = await session.step({ tool: 'bash-readonly', args: { command: 'echo $PATH' } });
        return JSON.stringify(step);
      });
    };
    const [one, other] = [await client(world, '/node/v20/bin'), await client(world, '/node/v22/bin')];
    expect(await pathOf(one.hook, 'c1')).toContain('/node/v20/bin');
    expect(await pathOf(other.hook, 'c2')).toContain('/node/v22/bin');
    one.end();
    const resumed = await client(world, '/node/v24/bin');
    await expect.poll(() => pathOf(resumed.hook, 'c1')).toContain('/node/v24/bin');
    expect(await pathOf(other.hook, 'c2')).not.toMatch('of/settings');
  });

  it('is new for the next conversation of a client whose session was closed', async () => {
    const { host, conversation, root } = makeWorld();
    const caller = { env: {}, pid: process.pid };
    const context = host().hookContext(caller);
    const record = await context.conversation(conversation('first'));
    await context.withSession(record, (session) => session.stop('done'));
    const closing = await openSession({ root, agent: 'claude-code', session: record.sessionId });
    expect(await closing.close()).toMatchObject({ ok: true });
    expect((await context.conversation(conversation('second'))).sessionId).not.toBe(record.sessionId);
  });

  it('uses the operator’s approvals given in advance, and otherwise waits for the operator', async () => {
    const { host, conversation, nobody, root } = makeWorld();
    const one = host();
    const context = one.hookContext(nobody);
    const record = await context.conversation(conversation());
    const execute = () =>
      context.withSession(record, (session) => session.setMode({ to: 'execute', exitCriteria: 'x' }));
    await context.withSession(record, (session) => session.setMode({ to: 'diagnose' }));
    const waiting = await execute();
    expect(waiting).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    expect(waiting.ok ? '' : waiting.denial.remedy).toMatch(/hopgate approve /);
    await one.sessions.claim(root, record.sessionId, { approve: ['execute'] });
    expect(await execute()).toMatchObject({ ok: true });
  });

  it('is found by hooks that come after the MCP server', async () => {
    const { host, conversation, root } = makeWorld();
    const caller = { env: {}, pid: process.pid };
    const id = await host().conversations.attach(root, 'claude-code', caller);
    expect((await host().hookContext(caller).conversation(conversation())).sessionId).toBe(id);
  });

  it('has a record of the last 50 events and the notes, also from parallel processes', async () => {
    const { host, conversation, nobody } = makeWorld();
    const contexts = [host().hookContext(nobody), host().hookContext(nobody)];
    const record = await contexts[0]!.conversation(conversation());
    await Promise.all(Array.from({ length: 60 }, (_, i) => contexts[i % 2]!.recordEvent(record, event(`e${i}`))));
    const after = await contexts[1]!.recordEvent(record, event('last'), { asked: true });
    expect(after.events).toHaveLength(50);
    expect(new Set(after.events.map(({ name }) => name)).size).toBe(50);
    expect(after.events.at(-1)).toEqual(event('last'));
    expect((await contexts[0]!.conversation(conversation())).notes).toEqual({ asked: true });
  });

  it('has files that only the user can read', async () => {
    const { host, conversation, nobody, root, env } = makeWorld();
    const context = host().hookContext(nobody);
    const record = await context.conversation(conversation());
    await context.storeForCall(record, 'k', 1);
    const { readdirSync } = await import('node:fs');
    const { stateDir } = await import('../../src/project/state-dir.ts');
    const folder = join(stateDir(root, env), 'conversations');
    const modes = readdirSync(folder, { recursive: true, withFileTypes: true }).map(
      (item) => [item.isDirectory(), statSync(join(item.parentPath, item.name)).mode & 0o077] as const,
    );
    expect(modes.filter(([isFolder]) => !isFolder).length).toBeGreaterThan(2);
    for (const [, open] of modes) expect(open).toBe(0);
  });
});

describe('a ticket', () => {
  it('is taken once, by the first process that asks', async () => {
    const { host, conversation, nobody } = makeWorld();
    const [one, two] = [host().hookContext(nobody), host().hookContext(nobody)];
    const record = await one.conversation(conversation());
    await one.storeForCall(record, 'toolu_1', { a: [1] });
    await one.storeForCall(record, 'toolu_2', 'b');
    expect(await two.takeForCall(record, 'toolu_1')).toEqual({ a: [1] });
    expect(await one.takeForCall(record, 'toolu_1')).toBeNull();
    expect(await one.takeForCall(record, 'toolu_2')).toBe('b');
  });

  it('of a run names its call, and is valid once', async () => {
    const { host, conversation, nobody } = makeWorld();
    const one = host({ runCommand: '/x/hook run' });
    const record = await one.hookContext(nobody).conversation(conversation());
    const line = await one
      .hookContext(nobody)
      .commandFor(record, { tool: 'bash', args: { command: 'ls' }, callId: 'c1' });
    const id = /^\/x\/hook run ([0-9a-f]{32})$/.exec(line)?.[1] ?? '';
    expect(host().runTickets.take(id)).toMatchObject({ conversation: conversation(), call: { tool: 'bash' } });
    expect(one.runTickets.take(id)).toBeNull();
    expect(one.runTickets.take('../../x')).toBeNull();
  });
});

describe('a native call over the host', () => {
  it('is admitted in one process and concluded in another, and its evidence passes verify', async () => {
    const { host, conversation, nobody, root } = makeWorld();
    const first = host();
    const record = await first.hookContext(nobody).conversation(conversation());
    await first.sessions.claim(root, record.sessionId, { approve: ['execute'] });
    const ticket = await first.hookContext(nobody).withSession(record, async (session) => {
      await session.setMode({ to: 'diagnose' });
      const looked = await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
      expect(looked.ok).toBe(true);
      expect(await session.setMode({ to: 'execute', exitCriteria: 'done' })).toMatchObject({ ok: true });
      expect(await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'now' })).toMatchObject({ ok: true });
      const admitted = await session.admit({ tool: 'write', args: { path: 'src/b.ts', content: 'x\n' } });
      if (!admitted.ok) throw new Error(admitted.denial.message);
      return admitted.ticket;
    });
    await first.hookContext(nobody).storeForCall(record, 'toolu_1', ticket as unknown as Json);
    writeFileSync(join(root, 'src/b.ts'), 'x\n');
    const second = host();
    const taken = (await second.hookContext(nobody).takeForCall(record, 'toolu_1')) as unknown as NativeTicket;
    await second.hookContext(nobody).withSession(record, async (session) => {
      const done = await session.conclude(taken, { status: 'ok', result: { path: 'src/b.ts' } });
      expect(done).toMatchObject({ ok: true, recorded: true });
      const last = toBody((await session.evidence()).at(-1)!.body);
      expect(last).toMatchObject({ event: 'outcome', effects: [{ path: 'src/b.ts', op: 'create' }] });
    });
  });
});

describe('a sub-agent’s session', () => {
  it('has its parent’s envelope and mode', async () => {
    const { host, conversation, nobody } = makeWorld();
    const context = host({ keepOpenMs: 60_000 }).hookContext(nobody);
    const parent = await context.conversation(conversation());
    await context.withSession(parent, (session) => session.setMode({ to: 'diagnose' }));
    const child = await context.conversation(conversation('c1', 'a1'));
    expect(child.parent).toBe(parent.sessionId);
    await context.withSession(child, async (session) => {
      expect(session.state).toMatchObject({ agent: 'claude-code/a1', peripheral: 'explore', mode: 'diagnose' });
      expect(session.available()).toMatchObject({ hops: [], modes: [] });
      expect(await session.step({ tool: 'read', args: { path: 'src/a.ts' } })).toMatchObject({ ok: true });
      expect(session.why({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } })).not.toBeNull();
      expect(await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'x' })).toMatchObject({ ok: false });
      expect(await session.setMode({ to: 'execute' })).toMatchObject({ ok: false });
    });
    // The parent now has fewer rights: the sub-agent loses the same ones.
    await context.withSession(parent, (session) => session.stop('enough'));
    expect(await context.denialByParent(child, { tool: 'read', args: { path: 'src/a.ts' } })).not.toBeNull();
  });

  it('opens its parent’s session if that does not exist yet', async () => {
    const { host, conversation, nobody } = makeWorld();
    const context = host().hookContext(nobody);
    const child = await context.conversation(conversation('c1', 'a1'));
    expect((await context.conversation(conversation())).sessionId).toBe(child.parent);
  });

  it('has no tools while its parent is in no peripheral', async () => {
    const { host, conversation, nobody } = makeWorld();
    const context = host().hookContext(nobody);
    const parent = await context.conversation(conversation());
    await context.withSession(parent, (session) => session.stop('enough'));
    const child = await context.conversation(conversation('c1', 'a1'));
    const denial = await context.withSession(child, async (s) => s.why({ tool: 'read', args: { path: 'src/a.ts' } }));
    expect(denial?.code).toBe('no-peripheral');
    expect(await context.denialByParent(parent, { tool: 'read', args: { path: 'src/a.ts' } })).toBeNull();
  });
});

describe('parallel users of one session', () => {
  it('take turns', async () => {
    const { host, conversation, nobody } = makeWorld();
    const one = host({ keepOpenMs: 60_000 });
    const record = await one.hookContext(nobody).conversation(conversation());
    const seen: string[] = [];
    const work = (name: string) =>
      one.hookContext(nobody).withSession(record, async () => {
        seen.push(`${name} in`);
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(`${name} out`);
      });
    await Promise.all([work('a'), work('b')]);
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out']);
  });

  it('learn what the session is busy with if they waited too long, and can continue later', async () => {
    const { host, conversation, nobody } = makeWorld();
    const one = host({ keepOpenMs: 60_000, waitMs: 30 });
    const record = await one.hookContext(nobody).conversation(conversation());
    let release = () => {};
    const long = one.sessions.use(record.conversation.root, record.sessionId, 'bash-test', () => {
      return new Promise<void>((resolve) => (release = resolve));
    });
    await expect(one.hookContext(nobody).withSession(record, async () => 1)).rejects.toThrow(
      /bash-test has been running/,
    );
    release();
    await long;
    expect(await one.hookContext(nobody).withSession(record, async () => 1)).toBe(1);
  });

  it('wait until another process releases it, and get an error if it does not', async () => {
    const { host, conversation, nobody, root } = makeWorld();
    const one = host({ waitMs: 200 });
    const record = await one.hookContext(nobody).conversation(conversation());
    const other = await openSession({ root, agent: 'claude-code', session: record.sessionId });
    await other.settle();
    const busy = await one
      .hookContext(nobody)
      .withSession(record, (session) => session.step({ tool: 'read', args: { path: 'src/a.ts' } }));
    expect(busy).toMatchObject({ ok: false, denial: { code: 'session-busy' } });
    const patient = host({ waitMs: 60_000 })
      .hookContext(nobody)
      .withSession(record, (session) => session.setMode({ to: 'diagnose' }));
    await other.detach();
    expect(await patient).toMatchObject({ ok: true });
  });
});

it('a session whose store failed is opened again and works once the disk works', async () => {
  const { host, conversation, root, nobody } = makeWorld();
  const one = host({ keepOpenMs: 60_000 });
  const { sessionId } = await one.hookContext(nobody).conversation(conversation());
  const use = <T>(work: (session: Session) => Promise<T>) => one.sessions.use(root, sessionId, 'a test', work);
  const first = await use(async (session) => session);
  expect(await use(async (session) => session)).toBe(first);
  // The lease cannot be released either.
  first.detach = () => Promise.reject(full);
  const full = new StoreError('store-failed', 'cannot write: database or disk is full');
  await expect(use(() => Promise.reject(full))).rejects.toBe(full);
  const second = await use(async (session) => session);
  expect(second).not.toBe(first);
  expect(await use((session) => session.setMode({ to: 'diagnose' }))).toMatchObject({ ok: true });
  await expect(one.sessions.join(root, sessionId, () => Promise.reject(full))).rejects.toBe(full);
  expect(await use(async ({ state }) => state.mode)).toBe('diagnose');
});
