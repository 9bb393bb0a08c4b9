import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { scriptedBackend } from '../../../src/testing/doubles/scripted-backend.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { call, connected, ERAS, hostOf } from './client.ts';
import { slowGlob } from './slow-glob.ts';

describe('parallel MCP calls', () => {
  it('run in their order of arrival', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const client = await connected(hostOf(agentSession(session), { relistMs: 0 }), {
      person: async () => ({ action: 'accept', content: { approve: true } }),
    });
    const [hop, grep, back] = await Promise.all([
      call(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' }),
      call(client, 'grep', { pattern: 'sum' }),
      call(client, 'read', { path: 'README.md' }),
    ]);
    expect(hop.isError).toBe(false);
    expect(grep.text).toContain('edit has no tool grep');
    expect(back.text).toContain('A repository');
  });

  it('abort the step and record that when they are cancelled', async () => {
    const world = await agentWorld('explore');
    const { backend, started, aborted } = slowGlob();
    const session = await world.open({ backends: (real) => [backend, ...real] });
    const client = await connected(hostOf(agentSession(session)));
    const cancel = new AbortController();
    const running = client.callTool({ name: 'glob', arguments: { pattern: '*' } }, { signal: cancel.signal });
    await started;
    cancel.abort('not needed any more');
    await expect(running).rejects.toThrow();
    await call(client, 'status');
    expect(aborted).toEqual([true]);
    const step = (await session.evidence()).at(-1);
    expect(step?.body).toMatchObject({ tool: 'glob', outcome: { status: 'failed', code: 'aborted' } });
  });

  it('never run if they are cancelled while they wait', async () => {
    const world = await agentWorld('explore');
    const { backend, started, release } = slowGlob();
    const session = await world.open({ backends: (real) => [backend, ...real] });
    const client = await connected(hostOf(agentSession(session)));
    const first = call(client, 'glob', { pattern: '*' });
    await started;
    const cancel = new AbortController();
    const second = client.callTool({ name: 'read', arguments: { path: 'README.md' } }, { signal: cancel.signal });
    await client.listTools(); // by now the server has the second call, too
    cancel.abort();
    await expect(second).rejects.toThrow();
    release();
    await first;
    await call(client, 'status');
    expect((await session.evidence()).filter(({ body }) => (body as { tool?: string }).tool === 'read')).toEqual([]);
  });

  it.each(ERAS)('report progress if the client asked for it (%s)', async (era) => {
    const world = await agentWorld('explore');
    const { backend, release } = slowGlob();
    const session = await world.open({ backends: (real) => [backend, ...real] });
    const client = await connected(hostOf(agentSession(session), { progressMs: 1 }), { era });
    const reports: { progress: number; message?: string | undefined }[] = [];
    await client.callTool(
      { name: 'glob', arguments: { pattern: '*' } },
      {
        onprogress: (progress) => {
          if (reports.push(progress) === 3) release();
        },
      },
    );
    expect(reports.slice(0, 3).map(({ progress }) => progress)).toEqual([1, 2, 3]);
    expect(reports[0]?.message).toBe('glob has been running for 0 s');
  });

  it('do not block listing the tools', async () => {
    const world = await agentWorld('explore');
    const { backend, started, release } = slowGlob();
    const session = await world.open({ backends: (real) => [backend, ...real] });
    const client = await connected(hostOf(agentSession(session)));
    const running = call(client, 'glob', { pattern: '*' });
    await started;
    expect((await client.listTools()).tools.length).toBeGreaterThan(4);
    release();
    await running;
  });

  it('end and are recorded before the host releases the session', async () => {
    const world = await agentWorld('explore');
    const { backend, started } = slowGlob();
    const session = await world.open({ backends: (real) => [backend, ...real] });
    const host = hostOf(agentSession(session));
    const client = await connected(host);
    const running = call(client, 'glob', { pattern: '*' }).catch(() => null);
    await started;
    await client.close();
    await host.close();
    await running;
    const again = await world.open();
    expect((await again.evidence()).at(-1)?.body).toMatchObject({ tool: 'glob', outcome: { code: 'aborted' } });
    await world.verify();
  });
});

it('a failing store is reported as a protocol error, because no model can correct it', async () => {
  const world = await agentWorld('explore');
  const session = await world.open({ backends: [scriptedBackend({})] });
  const broken = { ...agentSession(session), call: async () => Promise.reject(new Error('the disk is full')) };
  const client = await connected(hostOf(broken));
  await expect(call(client, 'read', { path: 'a' })).rejects.toThrow('the disk is full');
});
