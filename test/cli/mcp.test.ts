import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { parseHttpAddress } from '../../src/cli/mcp/http-address.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { evidenceFile } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { depth, isDeep } from '../depth.ts';
import { called, done, httpClient, inspect, MAIN, repository, serve, serveHttp, toolNames } from './mcp.ts';
import { type Machine, machine } from './run.ts';

const CONTROLS = ['bell', 'whistle', 'hop', 'mode', 'status', 'why'];

/** The events of a session's evidence. */
async function events(here: Machine, id: string): Promise<readonly string[]> {
  const store = sqliteStore(evidenceFile(here.root, here.env));
  const found: string[] = [];
  for await (const { entry } of store.entries(id)) found.push(toBody(entry.body)?.event ?? 'other');
  await store.close();
  return found;
}

/** From a new session to edit in execute. */
async function toEdit({ client }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  await done(client, 'mode', { to: 'diagnose' });
  await done(client, 'mode', { to: 'execute', reason: 'to mend' });
  await done(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
}

it.runIf(isDeep)('hopgate mcp reports an unreadable message in one line', async () => {
  const here = await repository();
  const child = spawn(process.execPath, [MAIN, 'mcp', '--root', here.root], { env: here.env, stdio: 'pipe' });
  child.stdin.end('{"jsonrpc":"2.0"}\n[]\n');
  const err = await text(child.stderr);
  const ignoredLines = err.split('\n').filter((line) => line.startsWith('hopgate: ignored input'));
  expect(ignoredLines).toHaveLength(2);
  expect(err).not.toContain('invalid_union');
});

it.runIf(isDeep)('hopgate mcp answers a request that is too large, wherever its id is, and serves on', async () => {
  const here = await repository();
  const child = spawn(process.execPath, [MAIN, 'mcp', '--root', here.root], { env: here.env, stdio: 'pipe' });
  const params = { name: 'write', arguments: { path: 'src/a.js', content: 'x'.repeat(11 << 20) } };
  const call = { method: 'tools/call', params };
  const lines = [
    { jsonrpc: '2.0', id: 1, ...call },
    { ...call, jsonrpc: '2.0', id: 'two' },
    { ...call, jsonrpc: '2.0', params: { ...params, id: 3 } }, // a notification
    { jsonrpc: '2.0', id: 4, method: 'ping' },
  ].map((message) => `${JSON.stringify(message)}\n`);
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.write(lines.join(''));
  const next = async () => JSON.parse((await answers.next()).value ?? 'null') as object;
  const tooLarge = { code: -32600, message: expect.stringContaining('more than 10485760') };
  expect(await next()).toMatchObject({ id: 1, error: tooLarge });
  expect(await next()).toMatchObject({ id: 'two', error: tooLarge });
  expect(await next()).toMatchObject({ id: 4 });
  child.stdin.end();
  expect(await text(child.stderr)).toMatch(/the message has 1\d+ bytes/);
});

describe.each(depth<readonly ('legacy' | 'auto')[]>(['auto'], ['legacy', 'auto']))(
  'hopgate mcp over stdio (%s)',
  (era) => {
    it.runIf(isDeep)('lets an agent find, fix and test a bug, and prints only protocol messages', async () => {
      const here = await repository();
      const served = await serve(here, ['--agent', 'mender'], { era, approves: true });
      const { client, opened } = served;
      expect(opened).toMatchObject({ agent: 'mender', mode: 'discuss', peripheral: 'explore' });
      expect(await toolNames(client)).toEqual(CONTROLS);
      await done(client, 'mode', { to: 'diagnose' });
      expect(await done(client, 'grep', { pattern: 'a - b' })).toContain('src/sum.js');
      expect((await called(client, 'edit', { path: 'src/sum.js', old: 'a - b', new: 'a + b' })).text).toContain(
        'tool-not-allowed',
      );
      await done(client, 'mode', { to: 'execute', reason: 'to mend' });
      await done(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
      await done(client, 'edit', { path: 'src/sum.js', old: 'a - b', new: 'a + b' });
      await done(client, 'hop', { to: 'test', exit: 'hop-test', reason: 'mended' });
      expect(await done(client, 'bash-test')).toContain('tests: pass');
      expect(served.noise).toEqual([]);
      await client.close();
      expect((await here.run('verify', opened.session)).code).toBe(0);
      expect((await here.run('verify', opened.session, '--inhabited')).out).toMatch(/P-1/);
    });
  },
);

describe('a session of hopgate mcp', () => {
  it.runIf(isDeep)('is not opened if an approval names something unknown', async () => {
    const here = await repository();
    const ran = await here.run('mcp', '--approve', 'execute', 'deplo');
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(
      /no destination, mode or tool "deplo" to approve[\s\S]*Did you mean deploy\? Destinations: .*; modes: .*; or all/,
    );
    expect((await here.run('sessions')).out).not.toContain('s-');
  });

  it.runIf(isDeep)('continues in another process', async () => {
    const here = await repository();
    const first = await serve(here, ['--approve', 'execute']);
    await toEdit(first);
    await first.client.close();
    const second = await serve(here, ['--session', first.opened.session.slice(0, 12)]);
    expect(second.opened).toMatchObject({
      session: first.opened.session,
      agent: 'mcp',
      mode: 'execute',
      peripheral: 'edit',
    });
    expect(await toolNames(second.client)).toEqual([
      ...['read', 'edit', 'write', 'bash', 'bash-background', 'install'],
      ...CONTROLS,
    ]);
  });

  it.runIf(isDeep)('continues after its server was killed during a step, which is not repeated', async () => {
    const here = await repository();
    const first = await serve(here, ['--approve', 'execute']);
    await toEdit(first);
    const running = called(first.client, 'bash', { command: 'until test -e go; do sleep 0.05; done' }).catch(
      () => null,
    );
    while (!(await events(here, first.opened.session)).includes('intent'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await first.kill();
    await running;
    const second = await serve(here, ['--session', first.opened.session]);
    expect(await done(second.client, 'read', { path: 'src/sum.js' })).toContain('a - b');
    expect((await events(here, first.opened.session)).slice(-3)).toEqual(['intent', 'interrupted', 'step']);
    await second.client.close();
    expect((await here.run('verify', first.opened.session)).code).toBe(0);
  });

  it.runIf(isDeep)('has one writer: a second server gets a session-busy refusal', async () => {
    const here = await repository();
    const first = await serve(here);
    await done(first.client, 'mode', { to: 'diagnose' });
    const second = await serve(here, ['--session', first.opened.session]);
    expect(await toolNames(second.client)).toContain('grep');
    const { text, isError } = await called(second.client, 'read', { path: 'src/sum.js' });
    expect(isError).toBe(true);
    expect(text).toContain('session-busy');
    await first.client.close();
    expect(await done(second.client, 'read', { path: 'src/sum.js' })).toContain('a - b');
  });

  it.runIf(isDeep)('offers its thread, its spec and the agent’s constraints as resources', async () => {
    const here = await repository();
    const { client } = await serve(here);
    await called(client, 'write', { path: 'src/x', content: 'x' });
    const text = async (uri: string) => {
      const [first] = (await client.readResource({ uri })).contents;
      return first && 'text' in first ? first.text : '';
    };
    expect(await text('hopgate://session/thread')).toMatch(/┌ explore\n.*✗ write src\/x x {2}tool-not-allowed/);
    expect(JSON.parse(await text('hopgate://session/spec'))).toMatchObject({
      peripherals: { explore: { id: 'explore' } },
    });
    expect(JSON.parse(await text('hopgate://session/constraints'))).toMatchObject({
      peripheral: 'explore',
      forbidden: { tools: expect.arrayContaining(['write']) },
    });
  });

  it.runIf(isDeep)('starts in the named peripheral if that is allowed', async () => {
    const here = await repository();
    expect((await serve(here, ['--peripheral', 'chat'])).opened).toMatchObject({ peripheral: 'chat' });
    const refused = await here.run('mcp', '--peripheral', 'edit');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('edit does not admit this entry');
    expect(await here.run('mcp', '--peripheral', 'edti', '--json')).toMatchObject({ code: 2, out: '' });
  });

  it.runIf(isDeep)('is not created under an unknown id', async () => {
    const here = await repository();
    const { code, out, err } = await here.run('mcp', '--session', 's-none', '--json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'unknown-session' } });
  });
});

describe('an approval over hopgate mcp', () => {
  it.runIf(isDeep)(
    'waits for the operator if the client cannot ask, and is found when the call is repeated',
    async () => {
      const here = await repository();
      const { client } = await serve(here);
      await done(client, 'mode', { to: 'diagnose' });
      const asked = await called(client, 'mode', { to: 'execute', reason: 'to mend' });
      expect(asked.isError).toBe(true);
      const [, id] = /"hopgate approve (\S+)"/.exec(asked.text) ?? [];
      expect(id).toBeDefined();
      expect((await here.run('approve', id!, '--yes')).code).toBe(0);
      expect(await done(client, 'mode', { to: 'execute', reason: 'to mend' })).toContain('execute');
    },
  );

  it.runIf(isDeep)('is waited for if the operator wants that', async () => {
    const here = await repository();
    const { client } = await serve(here, ['--wait-approval', '60']);
    await done(client, 'mode', { to: 'diagnose' });
    const asked = done(client, 'mode', { to: 'execute', reason: 'to mend' });
    let waiting: { id: string }[] = [];
    while (waiting.length === 0) waiting = JSON.parse((await here.run('approve', '--json')).out);
    expect((await here.run('approve', waiting[0]!.id, '--yes')).code).toBe(0);
    expect(await asked).toContain('execute');
  });

  it.runIf(isDeep)('is not asked for if it was given in advance', async () => {
    const here = await repository();
    const { client } = await serve(here, ['--approve', 'execute'], { approves: false });
    await done(client, 'mode', { to: 'diagnose' });
    await done(client, 'mode', { to: 'execute', reason: 'to mend' });
  });

  it.runIf(isDeep)('is not asked for at the client with --no-elicit', async () => {
    const here = await repository();
    const { client } = await serve(here, ['--no-elicit'], { approves: true });
    await done(client, 'mode', { to: 'diagnose' });
    expect((await called(client, 'mode', { to: 'execute', reason: 'to mend' })).text).toContain('hopgate approve');
  });
});

describe('hopgate mcp ends', () => {
  it('if its client disconnects, even without a message', async () => {
    const here = await repository();
    const { code, out, err } = await here.run('mcp', '--json');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    const { session } = JSON.parse(err.trim()) as { session: string };
    expect((await here.run('resume', session, '--json')).code).toBe(0);
  });

  it.runIf(isDeep)('on a signal, and releases its session', async () => {
    const here = await repository();
    const { child, opened, ended } = await serveHttp(here);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect((await here.run('resume', opened.session, '--json')).code).toBe(0);
  });
});

describe('hopgate mcp --http', () => {
  it.runIf(isDeep)('answers requests with the token that it prints', async () => {
    const here = await repository();
    const { opened } = await serveHttp(here);
    expect(opened.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const client = await httpClient(opened.url!, opened.token!);
    await done(client, 'mode', { to: 'diagnose' });
    expect(await done(client, 'read', { path: 'src/sum.js' })).toContain('a - b');
    await expect(httpClient(opened.url!, 'another-token')).rejects.toThrow();
  });

  it.runIf(isDeep)('uses a token from the environment and does not print it', async () => {
    const here = await repository();
    const token = 'a-token-that-stays';
    const { opened } = await serveHttp(here, [], { HOPGATE_MCP_TOKEN: token });
    expect(opened.token).toBeNull();
    expect(await toolNames(await httpClient(opened.url!, token))).toEqual(CONTROLS);
  });

  it.each([
    ['0.0.0.0:0', 'can be reached from other machines'],
    ['192.168.0.1', 'can be reached from other machines'],
    ['127.0.0.1:99999', 'is not an address'],
    ['http://x', 'is not an address'],
  ])('refuses to serve at the address %s', async (address, why) => {
    const here = await repository();
    const { code, err } = await here.run('mcp', '--http', address);
    expect(code).toBe(2);
    expect(err).toContain(why);
  });

  it('refuses a token that is easy to guess', async () => {
    const { code, err } = await machine({}, { HOPGATE_MCP_TOKEN: 'short' }).run('mcp', '--http');
    expect(code).toBe(2);
    expect(err).toContain('shorter than 16');
  });

  it.each([
    [true, { address: '127.0.0.1', port: 0 }],
    ['8123', { address: '127.0.0.1', port: 8123 }],
    ['localhost:1', { address: 'localhost', port: 1 }],
    ['[::1]:80', { address: '::1', port: 80 }],
    ['[::1]', { address: '::1', port: 0 }],
    ['example.org', { address: 'example.org', port: 0 }],
  ] as const)('accepts the address %s', (text, address) => expect(parseHttpAddress(text)).toEqual(address));
});

describe('the MCP Inspector', () => {
  const config = (here: Machine, ...argv: string[]): string => {
    const file = join(here.env['HOME'] ?? '', 'inspector.json');
    const args = [MAIN, 'mcp', '--root', here.root, ...argv];
    writeFileSync(
      file,
      JSON.stringify({ mcpServers: { hopgate: { command: process.execPath, args, env: here.env } } }),
    );
    return file;
  };

  it.runIf(isDeep)('lists the tools and finds no error in their schemas', async () => {
    const here = await repository();
    const { code, out, err } = await inspect(here, [
      ...['--config', config(here), '--server', 'hopgate', '--method', 'tools/list', '--strict'],
    ]);
    expect(code, err).toBe(0);
    expect((JSON.parse(out) as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(CONTROLS);
  });

  it.runIf(isDeep)('calls one tool, and is refused another with the path to it', async () => {
    const here = await repository();
    const on = ['--config', config(here), '--server', 'hopgate', '--method', 'tools/call'];
    const mode = await inspect(here, [...on, '--tool-name', 'mode', '--tool-arg', 'to=diagnose']);
    expect(mode.code, mode.err).toBe(0);
    expect(mode.out).toContain('tools open: read');
    const why = await inspect(here, [...on, '--tool-name', 'why', '--tool-arg', 'tool=write']);
    expect(why.out).toContain('explore has no tool write');
  });

  it.runIf(isDeep)('connects over HTTP', async () => {
    const here = await repository();
    const { opened } = await serveHttp(here, [], { HOPGATE_MCP_TOKEN: 'a-token-that-stays' });
    const { code, out, err } = await inspect(here, [
      ...['--server-url', opened.url!, '--header', 'Authorization: Bearer a-token-that-stays'],
      ...['--transport', 'http', '--method', 'resources/list'],
    ]);
    expect(code, err).toBe(0);
    expect(out).toContain('hopgate://session/thread');
  });
});
