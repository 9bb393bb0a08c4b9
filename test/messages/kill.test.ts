import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, vi } from 'vitest';
import { valueOr } from '../../src/base/value-or.ts';
import { hopgateCommandLine } from '../../src/cli/client/client-program.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { makeWorld } from '../daemon/daemon-fixture.ts';
import { isDeep, sample } from '../depth.ts';

// The test starts three programs.
it.runIf(isDeep)(
  'a message is delivered again with the same id after kill -9 between its delivery and the next turn',
  async () => {
    const world = makeWorld();
    const store = sqliteStore(join(ensureStateDir(world.root, world.env), 'evidence.db'));
    world.later(() => store.close());
    const session = await openSession({ root: world.root, agent: 'ann', store });
    await session.detach();
    const [command = '', ...args] = hopgateCommandLine();
    const agent = async () => {
      const transport = new StdioClientTransport({
        command,
        args: [...args, 'mcp', '--root', world.root, '--session', session.id],
        env: Object.fromEntries(Object.entries(world.env).filter(([, value]) => value !== undefined)) as {
          [name: string]: string;
        },
        stderr: 'ignore',
      });
      const client = new Client({ name: 'agent', version: '0' });
      await client.connect(transport);
      world.later(() => client.close());
      return {
        async turn() {
          const { content } = await client.callTool({ name: 'status', arguments: {} });
          return /^\[bell \d+ from .*$/m.exec(
            content.map((block) => ('text' in block ? block.text : '')).join('\n'),
          )?.[0];
        },
        state: async () => (await store.messages!.inbox(`session:${session.id}`)).map(({ state }) => state),
        kill: () => process.kill(transport.pid!, 'SIGKILL'),
      };
    };
    const first = await agent();
    expect(await first.turn()).toBeUndefined();
    const { id } = await store.messages!.send({
      id: 'm-0198f6a0-0000-7000-8000-000000000001',
      kind: 'bell',
      act: 'assert',
      from: 'person:operator',
      author: 'operator',
      to: `session:${session.id}`,
      text: 'the tests are red',
      ref: null,
    });
    const line = await first.turn();
    expect(line).toContain(`id ${id}] "the tests are red"`);
    first.kill();
    const second = await agent();
    expect(await second.turn()).toBe(line);
    expect(await second.turn()).toBeUndefined();
    expect(await second.state()).toEqual(['read']);
  },
);

it.each(sample(['SIGINT', 'SIGTERM'] as const, 2))(
  'a whistle of a person leaves no wait in the store after %s',
  async (signal) => {
    const world = makeWorld();
    const store = sqliteStore(join(ensureStateDir(world.root, world.env), 'evidence.db'));
    world.later(() => store.close());
    const session = await openSession({ root: world.root, agent: 'ann', store });
    await session.detach();
    const [command = '', ...args] = hopgateCommandLine();
    const words = ['whistle', `session:${session.id}`, 'Which port?', '--seconds', '600', '--root', world.root];
    const child = spawn(command, [...args, ...words], { env: world.env });
    world.later(() => void child.kill('SIGKILL'));
    await vi.waitUntil(async () => (await store.messages!.waits(Date.now())).length === 1, { timeout: 500_000 });
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(await store.messages!.waits(Date.now())).toEqual([]);
  },
);

const STARTER = `
  const [command, ...args] = JSON.parse(process.argv[1]);
  require('node:child_process').spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
`;

it.runIf(isDeep)('inbox --follow ends after the program that started it was killed', async () => {
  const world = makeWorld();
  const store = sqliteStore(join(ensureStateDir(world.root, world.env), 'evidence.db'));
  world.later(() => store.close());
  const { id } = await openSession({ root: world.root, agent: 'ann', store });
  await store.messages!.send({
    id: 'm-1',
    kind: 'bell',
    act: 'assert',
    from: `session:${id}`,
    author: 'ann',
    to: 'person:operator',
    text: 'the tests are red',
    ref: null,
  });
  const follow = [...hopgateCommandLine(), 'inbox', '--follow', '--root', world.root];
  const starter = spawn(process.execPath, ['-e', STARTER, JSON.stringify(follow)], { env: world.env, detached: true });
  // Not the program kill: some versions of it read -123 as -1, which is every process.
  world.later(() => void valueOr(() => process.kill(-starter.pid!, 'SIGKILL'), false));
  const output = on(starter.stdout, 'data', { close: ['end'] });
  expect(String((await output.next()).value)).toContain('the tests are red');
  starter.kill('SIGKILL');
  // The follower has the same stdout.
  expect(await output.next()).toMatchObject({ done: true });
});
