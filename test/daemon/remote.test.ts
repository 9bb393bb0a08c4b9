import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { askDaemon } from '../../src/daemon/hook/ask-daemon.ts';
import { remoteAgentSession } from '../../src/daemon/remote-agent-session.ts';
import { isDeep } from '../depth.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { startDaemon } from './processes.ts';

const open = (world: World, env: { [name: string]: string } = {}) =>
  remoteAgentSession({ root: world.root, agent: 'claude-code', env: { ...world.env, ...env } });

describe.each(['over the daemon', 'in this process'])('a session %s', (where) => {
  const world_ = async (): Promise<World> => {
    const world = makeWorld();
    if (where === 'in this process') return { ...world, env: { ...world.env, HOPGATE_DAEMON: 'off' } };
    await startDaemon(world);
    return world;
  };

  it.runIf(isDeep)('works with every adapter', async () => {
    const world = await world_();
    const session = await open(world);
    expect((await session.tools()).map(({ name }) => name)).toEqual([
      'bell',
      'whistle',
      'hop',
      'mode',
      'status',
      'why',
    ]);
    expect((await session.allTools()).map(({ name }) => name)).toContain('bash-git');
    expect(await session.call({ name: 'read', input: { path: 'src/a.ts' } })).toMatchObject({
      status: 'refused',
      denial: { code: 'mode-forbids' },
    });
    expect(await session.call({ name: 'mode', input: { to: 'diagnose' } })).toMatchObject({
      status: 'ok',
      toolsChanged: true,
    });
    expect((await session.tools()).map(({ name }) => name)).toContain('read');
    expect(await session.call({ name: 'read', input: { path: 'src/a.ts' } })).toMatchObject({ status: 'ok' });
    expect(await session.prompt()).toContain('explore');
    expect(await session.status()).toMatchObject({
      sessionId: session.id,
      mode: 'diagnose',
      available: { peripheral: 'explore' },
    });
    const wanted = await session.wants({ name: 'mode', input: { to: 'execute', 'exit-criteria': 'x' } });
    expect(wanted).toMatchObject({ sessionId: session.id, action: { kind: 'mode', to: 'execute' } });
    const approved = { hash: wanted?.hash ?? '', by: 'someone' };
    const call = { name: 'mode', input: { to: 'execute', 'exit-criteria': 'x' } };
    expect(await session.call(call)).toMatchObject({ status: 'refused', denial: { code: 'approval-required' } });
    expect(await session.call({ ...call, approved })).toMatchObject({ status: 'ok' });
    await session.close();
  });

  it.runIf(isDeep)('is the same for all processes of one client program', async () => {
    const world = await world_();
    const [one, two] = [await open(world), await open(world)];
    expect(two.id).toBe(one.id);
    await one.call({ name: 'mode', input: { to: 'diagnose' } });
    expect((await two.status()).mode).toBe('diagnose');
  });

  it.runIf(isDeep || where === 'in this process')('is the one that the environment names, or none', async () => {
    const world = await world_();
    const one = await open(world);
    expect((await open(world, { HOPGATE_SESSION: one.id })).id).toBe(one.id);
    await expect(open(world, { HOPGATE_SESSION: 's-none' })).rejects.toMatchObject({
      message: expect.stringContaining('s-none'),
      code: 'session-not-found',
    });
  });
});

describe('a session over the daemon', () => {
  it.runIf(isDeep)('continues with the next daemon after one was killed', async () => {
    const world = makeWorld();
    const first = await startDaemon(world);
    const session = await open(world);
    await session.call({ name: 'mode', input: { to: 'diagnose' } });
    first.kill('SIGKILL');
    await once(first, 'close');
    expect(await session.call({ name: 'read', input: { path: 'src/a.ts' } })).toMatchObject({ status: 'ok' });
    const { pid } = JSON.parse((await askDaemon('/status', { env: world.env })).toString()) as { pid: number };
    world.later(() => process.kill(pid, 'SIGKILL'));
    expect((await session.status()).mode).toBe('diagnose');
  });
});
