import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { AgentDriver } from '../../src/agency/agent-driver.ts';
import { DialIns, dialIn } from '../../src/agency/dial-in.ts';
import { claudeCodeDriver } from '../../src/agency/drivers/claude-code-driver.ts';
import { codexDriver } from '../../src/agency/drivers/codex-driver.ts';
import { httpDriver } from '../../src/agency/drivers/http-driver.ts';
import { scriptedDriver } from '../../src/agency/drivers/scripted-driver.ts';
import { runAgent } from '../../src/agency/run-agent.ts';
import { openRunJournal } from '../../src/agency/run-journal.ts';
import type { RunReply } from '../../src/agency/run-reply.ts';
import { runWithAllAgents } from '../../src/agency/run-with-all-agents.ts';
import { openHttpServer } from '../../src/server/http-server.ts';
import { loadAgency } from '../../src/spec/agency/load-agency.ts';
import { loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { isDeep } from '../depth.ts';
import { serveWorld, until } from '../server/serve-world.ts';
import { agencyWith, breakingWire, countingAgent, folder, nodeWith, run, served } from './agency-nodes.ts';

const alone = (key: string) => ({ key, budgetMs: null, via: [] });
const bare = (reply: RunReply) => JSON.stringify({ ...reply, meta: { ...reply.meta, 'duration-ms': 0 } });
const never = new AbortController().signal;

describe('a run', () => {
  it('answers with exactly ok, response and meta', async () => {
    const reply = await nodeWith('x: { location: local, driver: scripted, replies: [a view] }').run(
      run('x'),
      alone('k'),
    );
    expect(reply).toEqual({
      ok: true,
      response: 'a view',
      meta: { 'agent-id': 'x', 'duration-ms': expect.any(Number) },
    });
    expect(Object.keys(reply)).toEqual(['ok', 'response', 'meta']);
    expect(Object.keys(reply.meta)).toEqual(['agent-id', 'duration-ms']);
  });

  it('reads JSON by its schema, and asks once more with the error', async () => {
    const peripherals = `p:\n  entry: e\n  inputs: []\n  prompt-template: go\n  response: { type: json, schema: { type: object, required: [n], properties: { n: { type: integer } } } }\n`;
    const spec = loadAgency(agencyWith('{}', peripherals)).peripherals['p']!;
    const prompts: string[] = [];
    const saying = (...texts: string[]) =>
      scriptedDriver(
        texts.map((text) => ({ prompt }) => {
          prompts.push(prompt);
          return text;
        }),
      );
    expect(await runAgent(saying('{"n":"1"}', '```json\n{"n":1}\n```'), spec, 'go', never)).toEqual({ n: 1 });
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain('the answer/n must be integer');
    await expect(runAgent(saying('no', 'no', '{"n":1}'), spec, 'go', never)).rejects.toMatchObject({
      code: 'invalid-response',
    });
  });

  it('checks several answers by the same schema with an $id', async () => {
    const peripherals = `p:\n  entry: e\n  inputs: []\n  prompt-template: go\n  response: { type: json, schema: { $id: "https://example.org/p", type: object } }\n`;
    const node = nodeWith('x: { location: local, driver: scripted, replies: ["{}"] }', { peripherals });
    const p = { 'agent-id': 'x', peripheral: 'p', inputs: {} };
    for (const key of ['k1', 'k2']) expect(await node.run(p, alone(key))).toMatchObject({ ok: true, response: {} });
  });

  it('fails with a remedy if its agent cannot start, or if the registry is broken', async () => {
    const agents = `m: { location: local, driver: ai-sdk, module: missing.mjs }
c: { location: local, driver: claude-code, program: /missing/claude }
d: { location: local, driver: claude-code, program: /bin/cat, cwd: /missing }`;
    const node = nodeWith(agents);
    const error = async (agent: string) => ((await node.run(run(agent), alone(agent))) as { error: object }).error;
    expect(await error('m')).toMatchObject({ code: 'agent-not-started', remedy: expect.stringContaining('"module"') });
    expect(await error('c')).toMatchObject({ code: 'agent-not-started', remedy: expect.stringContaining('"program"') });
    expect(await error('d')).toMatchObject({
      message: 'the folder /missing does not exist',
      remedy: expect.stringContaining('"cwd"'),
    });
    const broken = await nodeWith('x: { location: nowhere }').run(run('x'), alone('k'));
    expect(broken).toMatchObject({ ok: false, error: { code: 'invalid-registry' }, meta: { 'agent-id': 'x' } });
  });

  it('starts its agent once for each key, for parallel and later callers and after a restart', async () => {
    const agent = await countingAgent(30);
    const node = nodeWith(`x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`);
    const replies = await Promise.all([1, 2, 3].map(() => node.run(run('x'), alone('k'))));
    expect(new Set([...replies, await node.run(run('x'), alone('k'))].map(bare)).size).toBe(1);
    expect(agent.prompts).toHaveLength(1);
    expect(await node.run(run('x', { prompt: 'other' }), alone('k'))).toMatchObject({ error: { code: 'key-reused' } });
  });

  it('that was refused can be repeated with its key once the cause is removed', async () => {
    const node = nodeWith('x: { location: local, driver: scripted, replies: [a view] }');
    const incomplete = run('x', { inputs: { 'par/title': 'Lab' } });
    expect(await node.run(incomplete, alone('k'))).toMatchObject({ error: { code: 'missing-inputs' } });
    expect(await node.run(run('x'), alone('k'))).toMatchObject({ response: 'a view' });
  });

  it('can be repeated with its key if its agent never started, but not if the agent failed', async () => {
    const program = join(folder(), 'claude');
    const ended = createServer().listen(0, '127.0.0.1');
    await once(ended, 'listening');
    const { port } = ended.address() as AddressInfo;
    ended.close();
    const node = nodeWith(`c: { location: local, driver: claude-code, program: ${program} }
h: { location: local, driver: http, url: "http://127.0.0.1:${port}", honours: [fs, shell, http] }`);
    const codes = async (agent: string) => {
      const reply = await node.run(run(agent), alone(agent));
      return reply.ok ? reply.response : reply.error.code;
    };
    expect([await codes('c'), await codes('h'), await codes('h')]).toEqual(Array(3).fill('agent-not-started'));
    const script = (text: string) => writeFileSync(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    script('exit 1');
    expect(await codes('c')).toBe('agent-failed');
    script(`echo '{"result":"a view"}'`);
    expect(await codes('c')).toBe('agent-failed');
  });

  it('does not start its agent again after its process ended', () => {
    const file = join(folder(), 'j.db');
    const first = openRunJournal(file);
    expect(first.begin('k', 'd')).toEqual({ is: 'new' });
    first.close();
    const second = openRunJournal(file);
    onTestFinished(() => second.close());
    expect(second.begin('k', 'd')).toEqual({ is: 'interrupted' });
  });

  it('names the file of its journal if SQLite fails', () => {
    const file = join(folder(), 'j.db');
    const journal = openRunJournal(file);
    onTestFinished(() => journal.close());
    const db = new (loadNodeSqlite().DatabaseSync)(file);
    db.exec('DROP TABLE agency_runs');
    db.close();
    const problem = expect.objectContaining({ code: 'store-failed', message: expect.stringContaining(file) });
    expect(() => journal.begin('k', 'd')).toThrow(problem);
    writeFileSync(`${file}-2`, 'no database '.repeat(50));
    expect(() => openRunJournal(`${file}-2`)).toThrow(expect.objectContaining({ code: 'store-failed' }));
  });

  it('continues when its caller has stopped waiting', async () => {
    const agent = await countingAgent(200);
    const node = nodeWith(`x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`);
    const early = await node.run(run('x'), { key: 'k', budgetMs: 5, via: [] });
    expect(early).toMatchObject({ ok: false, error: { code: 'wait-ended' } });
    expect(await node.run(run('x'), alone('k'))).toMatchObject({ ok: true });
    expect(agent.prompts).toHaveLength(1);
  });

  it('ends at the time limit of its peripheral, and when it is cancelled', async () => {
    // An agent for each run: the first run may end before its request arrives, or after.
    const [slow, agent] = [await countingAgent(60_000), await countingAgent(60_000)];
    const agentAt = (url: string) => `x: { location: local, driver: http, url: "${url}", honours: [fs, shell, http] }`;
    const short = 'p:\n  entry: e\n  inputs: []\n  prompt-template: go\n  response: { type: text }\n  timeout-ms: 20\n';
    const p = { 'agent-id': 'x', peripheral: 'p', inputs: {} };
    expect(await nodeWith(agentAt(slow.url), { peripherals: short }).run(p, alone('k'))).toMatchObject({
      error: { code: 'timed-out' },
    });
    const node = nodeWith(agentAt(agent.url));
    const reply = node.run(run('x'), alone('k'));
    await until(() => agent.prompts.length === 1);
    expect(node.cancel('k')).toBe(true);
    expect(await reply).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('of several agents keeps the good replies if some fail', async () => {
    const node = nodeWith('x: { location: local, driver: scripted, replies: [one] }');
    const all = await runWithAllAgents(['x', 'y'], (agent) => node.run(run(agent), alone(agent)));
    expect(all).toMatchObject({
      outcome: 'partial',
      replies: { x: { ok: true }, y: { error: { code: 'unknown-agent' } } },
    });
  });
});

describe('the envelope of a driver', () => {
  const program = { program: 'x', cwd: null, model: null, env: {} };
  const drivers: { readonly [name: string]: AgentDriver } = {
    scripted: scriptedDriver(['']),
    'claude-code': claudeCodeDriver(program),
    codex: codexDriver(program),
    http: httpDriver({ url: 'http://127.0.0.1:9', token: null, honours: ['fs'] }),
  };
  it.each([
    ['scripted', [false, false, false], []],
    ['claude-code', [false, false, false], []],
    ['claude-code', [true, false, true], []],
    ['claude-code', [false, true, false], ['fs', 'http']],
    ['codex', [false, false, false], []],
    ['codex', [true, false, false], ['fs']],
    ['http', [false, false, false], ['shell', 'http']],
    ['http', [true, true, true], []],
  ] as const)('of %s with fs, shell, http = %j cannot enforce %j', (name, [fs, shell, http], open) =>
    expect(drivers[name]!.unenforceable({ fs, shell, http })).toEqual(open),
  );

  it('refuses the run before the agent starts if the driver cannot enforce it', async () => {
    const agent = await countingAgent();
    const node = nodeWith(`x: { location: local, driver: http, url: "${agent.url}" }`);
    expect(await node.run(run('x'), alone('k'))).toMatchObject({ error: { code: 'envelope-not-enforceable' } });
    expect(agent.prompts).toEqual([]);
  });
});

describe('an agent on another node', () => {
  it('gives the same answers and errors as a local agent, byte for byte', async () => {
    const there = await served('x: { location: local, driver: scripted, replies: [a view] }');
    const tokenFile = join(folder(), 'token');
    writeFileSync(tokenFile, there.tokens.ofNode('a'));
    const remote = nodeWith(
      `x: { location: remote, url: "http://127.0.0.1:${there.agencyPort}", token-file: ${tokenFile} }`,
    );
    const local = nodeWith('x: { location: local, driver: scripted, replies: [a view] }');
    const requests = [
      run('x'),
      run('x', { inputs: {} }),
      run('x', { inputs: { q: 1 } }),
      run('x', { peripheral: 'nope' }),
    ];
    for (const [at, request] of requests.entries())
      expect(bare(await remote.run(request, alone(`r${at}`)))).toBe(bare(await local.run(request, alone(`l${at}`))));
  });

  it('is refused without the token of a node', async () => {
    const there = await served('x: { location: local, driver: scripted, replies: [a view] }');
    const remote = nodeWith(`x: { location: remote, url: "http://127.0.0.1:${there.agencyPort}" }`);
    expect(await remote.run(run('x'), alone('k'))).toMatchObject({
      error: { code: 'agent-unreachable', message: expect.stringContaining('needs a token') },
    });
  });

  it('runs once for each key, wherever the connection breaks', async () => {
    const agent = await countingAgent();
    const there = await served(`x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`);
    const tokenFile = join(folder(), 'token');
    writeFileSync(tokenFile, there.tokens.ofNode('a'));
    const cuts = Array.from({ length: 900 }, (_, at) => [{ up: at + 1 }, { down: at + 1 }]).flat();
    const played = cuts.filter((_, at) => at % (isDeep ? 6 : 124) < 2);
    let broken = 0;
    // Each lane has a wire and a node of its own, so that the waits before a second try overlap.
    const lane = async (mine: readonly (typeof cuts)[number][]) => {
      const wire = await breakingWire(there.agencyPort, {});
      const node = nodeWith(`x: { location: remote, url: "http://127.0.0.1:${wire.port}", token-file: ${tokenFile} }`);
      for (const cut of mine) {
        wire.cut(cut);
        const prompt = String(Object.entries(cut)).replace(',', '-');
        const reply = await node.run(run('x', { prompt }), alone(prompt));
        if (wire.isBroken()) broken++;
        expect(reply, prompt).toMatchObject({ ok: true, response: 'a view' });
        expect(
          agent.prompts.filter((each) => each.endsWith(`\n${prompt}`)),
          prompt,
        ).toHaveLength(1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, at) => lane(played.filter((_, nth) => nth % 8 === at))));
    expect(broken).toBeGreaterThan(isDeep ? 200 : 10);
  }, 240_000);

  it('is refused as a loop if the route leads back to this node', async () => {
    const agents = join(folder(), 'agency');
    mkdirSync(agents);
    const at = await serveWorld({}, { agencyFolder: agents });
    const tokenFile = join(folder(), 'token');
    writeFileSync(tokenFile, at.operator);
    writeFileSync(
      join(agents, 'agents.yaml'),
      `x: { location: remote, url: "http://127.0.0.1:${at.port}", token-file: ${tokenFile} }`,
    );
    const { status, json } = await at.ask('POST /agency/run', { body: run('x') });
    expect([status, json.error.code]).toEqual([508, 'loop-refused']);
    const far = await at.ask('POST /agency/run', { body: run('x'), headers: { 'hopgate-via': 'b,c,d,e,f,g,h,i' } });
    expect([far.status, far.json.error.code]).toEqual([508, 'too-many-hops']);
  });

  it('can connect from behind a NAT, and keeps its runs when the connection breaks', async () => {
    const agent = await countingAgent(150);
    const there = await served('x: { location: dial-in, node: laptop }');
    const laptop = nodeWith(`x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`, {
      id: 'laptop',
    });
    const wire = await breakingWire(there.agencyPort, { down: 700 });
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    const changes: boolean[] = [];
    void dialIn({
      url: `http://127.0.0.1:${wire.port}`,
      token: there.tokens.ofNode('laptop'),
      run: (request, route) => laptop.run(request, route),
      cancel: () => {},
      signal: ended.signal,
      onChange: (isConnected) => changes.push(isConnected),
    });
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        there.ask('POST /agency/run', { body: run('x', { prompt: `p${n}` }), headers: { 'idempotency-key': `k${n}` } }),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json.response])).toEqual(Array(4).fill([200, 'a view']));
    expect(agent.prompts).toHaveLength(4);
    expect(wire.isBroken()).toBe(true);
    expect(changes.slice(0, 3)).toEqual([true, false, true]);
  });

  it.runIf(isDeep)(
    'loses its connection when another program connects as the same node, and when the server ends',
    async () => {
      const there = await served('x: { location: dial-in, node: laptop }');
      const http = await openHttpServer(there.host(), { env: there.env, listen: { port: 0 } });
      const ended = new AbortController();
      onTestFinished(() => ended.abort());
      const dial = () => {
        const { promise: opened, resolve } = Promise.withResolvers<void>();
        const lost = Promise.withResolvers<void>();
        const end = dialIn({
          url: http.address,
          token: there.tokens.ofNode('laptop'),
          run: async () => expect.unreachable(),
          cancel: () => {},
          signal: ended.signal,
          onChange: (isConnected) => (isConnected ? resolve() : lost.resolve()),
        });
        return { end, opened, lost: lost.promise };
      };
      const first = dial();
      await first.opened;
      const second = dial();
      expect(await first.end).toBe('replaced');
      await second.opened;
      await http.close();
      await second.lost;
      ended.abort();
      expect(await second.end).toBe('ended');
    },
  );

  it('says once why it cannot connect, not at each attempt', async () => {
    const there = await served('{}');
    const ended = new AbortController();
    const problems: (string | null)[] = [];
    const dial = (port: number) =>
      dialIn({
        url: `http://127.0.0.1:${port}`,
        token: 't',
        run: async () => expect.unreachable(),
        cancel: () => {},
        signal: ended.signal,
        onChange: (_, problem) => problems.push(problem),
      });
    const ends = Promise.all([dial(1), dial(there.agencyPort)]);
    await sleep(500);
    ended.abort();
    await ends;
    const wrong = expect.stringContaining('"hopgate agency token NAME"');
    expect(problems.sort()).toEqual([expect.stringContaining('ECONNREFUSED'), wrong]);
  });

  it('runs only what a well-formed message asks for, and replies also if its node cannot record the run', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    const keys: string[] = [];
    const { promise: replied, resolve } = Promise.withResolvers<unknown>();
    server.on('connection', (socket) => {
      const frame = { type: 'run', request: run('x') };
      for (const passage of [undefined, 'k', { key: 1, via: [] }, { key: 'k', budgetMs: null, via: [] }])
        socket.send(JSON.stringify({ ...frame, passage }));
      socket.send(`{"type":"run","request":{"inputs":${'{"x":'.repeat(100_000)}1${'}'.repeat(100_002)}`);
      socket.on('message', (data) => resolve(JSON.parse(String(data))));
    });
    void dialIn({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: 't',
      run: async (_, { key }) => {
        keys.push(key);
        throw new Error('cannot use /home/ann/agency.db: disk full');
      },
      cancel: () => {},
      signal: ended.signal,
    });
    const error = { code: 'agent-failed', message: 'the node cannot record the run', remedy: expect.any(String) };
    expect(await replied).toMatchObject({ type: 'reply', key: 'k', reply: { ok: false, error } });
    expect(keys).toEqual(['k']);
  });

  it('is reported as unreachable if its node is not connected', () => expect(new DialIns().connected).toEqual([]));
});

it('the server answers a malformed run with 400, a run without a token with 401, and a node that reads sessions with 403', async () => {
  const at = await served('x: { location: local, driver: scripted, replies: [a view] }');
  expect((await at.ask('POST /agency/run', { body: { 'agent-id': 3 } })).status).toBe(400);
  expect((await at.ask('POST /agency/run', { body: run('x', { inputs: {} }) })).status).toBe(400);
  expect((await at.ask('POST /agency/run', { body: run('x'), token: null })).status).toBe(401);
  expect((await at.ask('POST /agency/run', { body: run('x'), token: at.tokens.ofNode('b') })).status).toBe(200);
  expect((await at.ask('GET /v1/sessions', { token: at.tokens.ofNode('b') })).status).toBe(403);
});
