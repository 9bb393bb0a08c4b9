import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  ADDRESS,
  canMakeMachines,
  counting,
  first,
  ip,
  joinByRouter,
  joinMachines,
  LAN,
  type Machine,
  machine,
  spaceOf,
} from './machines.ts';

/** `HOPGATE_EVERY_BYTE=1` cuts at every byte, which takes minutes; the deep run at every fifth. */
const STEP = process.env['HOPGATE_EVERY_BYTE'] === '1' ? 1 : 5;

const hasNft = spawnSync('nft', ['--version']).status === 0;

/** Cuts the wire of `at` at each byte of a run, until a run is too short for the cut. Returns the number of breaks. */
async function cutEverywhere(
  at: Machine,
  runner: Machine,
  ring: (key: string) => Promise<unknown>,
  name: string,
): Promise<{ up: number; down: number }> {
  const breaks = { up: 0, down: 0 };
  for (const way of ['up', 'down'] as const) {
    for (let bytes = 1; ; bytes += STEP) {
      await at.call('cut', { [way]: bytes });
      const key = `${name}-${way}-${bytes}`;
      expect(await ring(key), key).toMatchObject({ ok: true, response: 'a view' });
      expect(await runner.call('starts', `\n${key}`), key).toBe(1);
      if (!(await at.call('isBroken'))) break;
      breaks[way]++;
    }
  }
  await at.call('cut', {});
  return breaks;
}

/** Repeats a run by an agent of a node that is not connected yet, until it succeeds. */
async function connected(call: (key: string) => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    const reply = (await call(`first-${tries}`)) as { readonly ok: boolean };
    if (reply.ok) return;
    expect(reply).toMatchObject({ error: { code: 'agent-unreachable' } });
  }
}

describe.skipIf(!canMakeMachines())('two machines', () => {
  it('run each other’s agents once, wherever the connection breaks', async () => {
    joinMachines();
    const [a, b] = [machine('a'), machine('b')];
    a.agents(`x: ${counting(await a.call('agent'))}\nlaptop: { location: dial-in, node: b }\n`);
    const callA = await a.serve();
    const token = await a.tokenFor('b');
    const tokenFile = b.file('a.token', token);
    const wire = await b.call('wire', 4781, ADDRESS.a);
    const laptop = counting(await b.call('agent'));
    b.agents(`x: { location: remote, url: "http://127.0.0.1:${wire}", token-file: ${tokenFile} }\nlaptop: ${laptop}\n`);
    const callB = await b.serve();

    const there = await cutEverywhere(b, a, (key) => callB(key, 'x'), 'there');
    expect(there.up).toBeGreaterThan(300 / STEP);
    expect(there.down).toBeGreaterThan(300 / STEP);

    b.cli('agency', 'connect', `http://127.0.0.1:${wire}`, '--token-file', tokenFile, '--agency', b.agency);
    await connected((key) => callA(key, 'laptop'));
    const back = await cutEverywhere(b, b, (key) => callA(key, 'laptop'), 'back');
    expect(back.up).toBeGreaterThan(50 / STEP);
    expect(back.down).toBeGreaterThan(150 / STEP);
  }, 900_000);

  it.skipIf(!hasNft)(
    'reach a laptop behind a NAT router exactly once, also if the router’s address changes',
    async () => {
      const changeAddress = joinByRouter();
      const [a, b] = [machine('a'), machine('b')];
      a.agents('laptop: { location: dial-in, node: b }\n');
      const callA = await a.serve();
      const tokenFile = b.file('a.token', await a.tokenFor('b'));
      b.agents(`laptop: ${counting(await b.call('agent', 2_000))}\n`);
      const url = `http://${ADDRESS.a}:4781`;
      b.cli('agency', 'connect', url, '--token-file', tokenFile, '--agency', b.agency);
      await connected((key) => callA(key, 'laptop'));
      expect(() => ip(`-n ${spaceOf('a')} route get ${LAN}.2`)).toThrow('unreachable');
      const during = callA('during', 'laptop');
      while ((await b.call('starts', '\nduring')) === 0) await sleep(20);
      changeAddress();
      expect(await during).toMatchObject({ ok: true, response: 'a view' });
      expect(await b.call('starts', '\nduring')).toBe(1);
    },
    120_000,
  );

  it.skipIf(!hasNft)(
    'ring each other’s sessions, also behind a NAT router',
    async () => {
      joinByRouter();
      const [a, b] = [machine('a'), machine('b')];
      await a.serve();
      await b.serve('');
      const tokenFile = b.file('a.token', await a.tokenFor('laptop'));
      const url = `http://${ADDRESS.a}:4781`;
      b.cli('agency', 'connect', url, '--token-file', tokenFile, '--agency', b.agency, '--node', 'desk');
      const [desk, laptop] = [await a.open('ann'), await b.open('bob')];
      const sent = await laptop.ring({ to: 'agent:ann@desk', text: 'Which port?', act: 'query' });
      const got = await desk.next();
      expect(got).toMatchObject({ id: `${sent.id}@laptop`, from: `session:${laptop.id}@laptop`, author: 'bob@laptop' });
      await desk.ring({ to: got.from, text: '4780', act: 'answer', ref: got.id });
      expect(await laptop.next()).toMatchObject({ from: `session:${desk.id}@desk`, text: '4780', ref: sent.id });
      for (const each of [a, b]) expect(await each.ended('verify')).toBe(0);
    },
    120_000,
  );

  it('write into one review, which continues after a kill', async () => {
    joinMachines();
    const [a, b] = [machine('a'), machine('b')];
    a.agents('far: { location: local, driver: scripted, replies: [from afar] }\n');
    await a.serve();
    const tokenFile = b.file('a.token', await a.tokenFor('b'));
    const far = `far: { location: remote, url: "http://${ADDRESS.a}:4781", token-file: ${tokenFile} }`;
    const agents = (slow: string) =>
      b.agents(`${far}\nnear: { location: local, driver: scripted, replies: [from near] }\nslow: ${slow}\n`);
    agents(counting(await b.call('agent', 600_000)));
    const at = `${ADDRESS.b}:6530`;
    const ring = () =>
      b.cli('par-bell', '--agents', 'near,far,slow', '--par', 'd1', '--listen', at, '--agency', b.agency, '--json');
    const bell = ring();
    const early = { near: 'from near', far: 'from afar' };
    expect(await a.call('joined', `ws://${at}`, 'd1', await b.tokenFor('a'), 2)).toEqual(early);
    const killed = new Promise((done) => bell.once('exit', done));
    bell.kill('SIGKILL');
    await killed;
    agents('{ location: local, driver: scripted, replies: [late] }');
    expect(JSON.parse(await first(ring()))).toMatchObject({ contributions: { ...early, slow: 'late' } });
  });
});
