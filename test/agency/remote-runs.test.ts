import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgencyNode } from '../../src/agency/agency-node.ts';
import { DialIns, dialIn } from '../../src/agency/dial-in.ts';
import { openAgencyNode } from '../../src/agency/open-node.ts';
import { openRunJournal, type RunJournal } from '../../src/agency/run-journal.ts';
import { loadAgency } from '../../src/spec/agency/load-agency.ts';
import { loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { isDeep } from '../depth.ts';
import { until } from '../server/serve-world.ts';
import { agencyWith, breakingWire, countingAgent, folder, nodeWith, run, served } from './agency-nodes.ts';

const routeOf = (key: string, budgetMs: number | null = null) => ({ key, budgetMs, via: [] });
const httpAgent = (url: string) => `x: { location: local, driver: http, url: "${url}", honours: [fs, shell, http] }`;

/** A server whose agent x works for a given time, and the registry of a node that runs x there. */
async function farAgent(workMs: number) {
  const agent = await countingAgent(workMs);
  const there = await served(httpAgent(agent.url));
  const tokenFile = join(folder(), 'token');
  writeFileSync(tokenFile, there.tokens.ofNode('a'));
  const agents = `x: { location: remote, url: "http://127.0.0.1:${there.agencyPort}", token-file: ${tokenFile} }`;
  return { agent, there, agents };
}

describe('a run on another node', () => {
  it('continues when its caller has stopped waiting, and the same key gets the late reply', async () => {
    const { agent, agents } = await farAgent(300);
    const node = nodeWith(agents);
    const [short, long] = await Promise.all([
      node.run(run('x'), routeOf('k', 100)),
      sleep(10).then(() => node.run(run('x'), routeOf('k'))),
    ]);
    expect(short).toMatchObject({ ok: false, error: { code: 'wait-ended' }, meta: { 'duration-ms': 100 } });
    expect(long).toMatchObject({ ok: true, response: 'a view' });
    expect(await node.run(run('x'), routeOf('k'))).toEqual(long);
    expect(agent.prompts).toHaveLength(1);
  });

  it.runIf(isDeep)('ends on the other node when it is cancelled on this one', async () => {
    const { agent, there, agents } = await farAgent(60_000);
    const node = nodeWith(agents);
    const reply = node.run(run('x'), routeOf('k'));
    await until(() => agent.prompts.length === 1);
    expect(node.cancel('k')).toBe(true);
    expect(await reply).toMatchObject({ error: { code: 'cancelled' } });
    await until(() => agent.left() === 1);
    const asked = await there.ask('POST /agency/run', { body: run('x'), headers: { 'idempotency-key': 'k' } });
    expect(asked.json.error.code).toBe('cancelled');
  });

  it('continues on the other node when this node closes, and is found by its key afterwards', async () => {
    const { agent, agents } = await farAgent(200);
    const state = folder();
    const open = () =>
      openAgencyNode({
        env: { HOME: state, XDG_STATE_HOME: state },
        id: 'a',
        folder: agencyWith(agents),
        dialIns: new DialIns(),
      });
    const first = open();
    const reply = first.run(run('x'), routeOf('k'));
    await until(() => agent.prompts.length === 1);
    await first.close();
    expect(await reply).toMatchObject({ ok: false, error: { code: 'agent-unreachable' } });
    const second = open();
    onTestFinished(() => second.close());
    expect(await second.run(run('x'), routeOf('k'))).toMatchObject({ ok: true, response: 'a view' });
    expect([agent.prompts.length, agent.left()]).toEqual([1, 0]);
  });

  it('that was sent to a dial-in node ends when it is cancelled on this node, also while the dial-in node is not connected', async () => {
    const agent = await countingAgent(60_000);
    const there = await served('x: { location: dial-in, node: laptop }');
    const laptop = nodeWith(httpAgent(agent.url), { id: 'laptop' });
    const connect = async () => {
      const ended = new AbortController();
      onTestFinished(() => ended.abort());
      const wire = await breakingWire(there.agencyPort, {});
      const gone = dialIn({
        url: `http://127.0.0.1:${wire.port}`,
        token: there.tokens.ofNode('laptop'),
        run: (request, passed) => laptop.run(request, passed),
        cancel: (key) => void laptop.cancel(key),
        signal: ended.signal,
      });
      const connected = async () => (await there.ask('GET /agency/agents')).json.connected.length as number;
      await until(async () => (await connected()) === 1);
      return async () => {
        ended.abort();
        await gone;
        await until(async () => (await connected()) === 0);
      };
    };
    const start = (key: string) =>
      there.ask('POST /agency/run', { body: run('x', { prompt: key }), headers: { 'idempotency-key': key } });
    const cancel = (key: string) => there.ask('POST /agency/cancel', { body: { key } });

    const leave = await connect();
    const first = start('k1');
    await until(() => agent.prompts.length === 1);
    await cancel('k1');
    expect((await first).json.error.code).toBe('cancelled');
    await until(() => agent.left() === 1);

    const second = start('k2');
    await until(() => agent.prompts.length === 2);
    await leave();
    await cancel('k2');
    expect((await second).json.error.code).toBe('cancelled');
    expect(agent.left()).toBe(1);
    await connect();
    await until(() => agent.left() === 2);
  });

  it('that another process started cannot be cancelled by this process, and does not keep its node open', async () => {
    const registry = agencyWith('x: { location: local, driver: scripted, replies: [a view] }');
    const journal = { begin: () => ({ is: 'elsewhere' }), close: () => {} } as unknown as RunJournal;
    const never = () => Promise.reject(new Error('not here'));
    const node = new AgencyNode({
      id: 'a',
      load: () => loadAgency(registry),
      driverOf: never,
      senderTo: () => never,
      journal,
    });
    const reply = node.run(run('x'), routeOf('k'));
    expect(node.cancel('k')).toBe(false);
    await node.close();
    expect(await reply).toMatchObject({ error: { code: 'wait-ended' } });
  });
});

it('a run whose process id now belongs to a younger process counts as interrupted', () => {
  const file = join(folder(), 'j.db');
  const first = openRunJournal(file);
  first.begin('k', 'd');
  first.close();
  const { DatabaseSync } = loadNodeSqlite();
  const db = new DatabaseSync(file);
  const [{ holder }] = db.prepare('SELECT holder FROM agency_runs').all() as [{ holder: string }];
  const older = holder.replace(/\.(\d+)\.(\d+)$/, `.${process.ppid}.1`);
  db.prepare('UPDATE agency_runs SET holder = ?').run(older);
  db.close();
  const second = openRunJournal(file);
  onTestFinished(() => second.close());
  expect(older).not.toBe(holder);
  expect(second.begin('k', 'd')).toEqual({ is: 'interrupted' });
});
