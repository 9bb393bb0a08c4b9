import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { folder, PAR_PARTICIPANT, run } from './kit.ts';
import type { Calls } from './machine.ts';

/** Each machine is a network namespace; a pair of virtual interfaces joins them. */
const ADDRESS = { a: '10.213.0.1', b: '10.213.0.2' };
type Name = keyof typeof ADDRESS;
/** `HOPGATE_EVERY_BYTE=1` cuts at every byte, which takes minutes; the deep run at every fifth. */
const STEP = process.env['HOPGATE_EVERY_BYTE'] === '1' ? 1 : 5;
const MAIN = resolve('src/cli/main.ts');
const ip = (line: string): void => void execFileSync('ip', line.split(' '), { stdio: 'pipe' });
const spaceOf = (name: Name | 'router'): string => `hg${process.pid}${name}`;

function canMakeMachines(): boolean {
  if (!isDeep || process.getuid?.() !== 0) return false;
  try {
    ip(`netns add ${spaceOf('a')}`);
    ip(`netns del ${spaceOf('a')}`);
    return true;
  } catch {
    return false;
  }
}

const hasNft = spawnSync('nft', ['--version']).status === 0;

function joinMachines(): void {
  for (const name of ['a', 'b'] as const) {
    ip(`netns add ${spaceOf(name)}`);
    onTestFinished(() => ip(`netns del ${spaceOf(name)}`));
    ip(`-n ${spaceOf(name)} link set lo up`);
  }
  ip(`-n ${spaceOf('a')} link add eth0 type veth peer name eth0 netns ${spaceOf('b')}`);
  for (const name of ['a', 'b'] as const) {
    ip(`-n ${spaceOf(name)} addr add ${ADDRESS[name]}/24 dev eth0`);
    ip(`-n ${spaceOf(name)} link set eth0 up`);
  }
}

/** The network of the laptop; machine a has no route to it. */
const LAN = '192.168.213';
const NAT =
  'add table ip nat; add chain ip nat out { type nat hook postrouting priority 100; }; add rule ip nat out oifname eth0 masquerade';

/** Machine b behind a router that masquerades: nobody can connect to b. Returns how the router gets a new address. */
function joinByRouter(): () => void {
  for (const name of ['a', 'b', 'router'] as const) {
    ip(`netns add ${spaceOf(name)}`);
    onTestFinished(() => ip(`netns del ${spaceOf(name)}`));
    ip(`-n ${spaceOf(name)} link set lo up`);
  }
  const router = spaceOf('router');
  ip(`-n ${spaceOf('a')} link add eth0 type veth peer name eth0 netns ${router}`);
  ip(`-n ${spaceOf('b')} link add eth0 type veth peer name lan netns ${router}`);
  for (const [space, address, device] of [
    [spaceOf('a'), ADDRESS.a, 'eth0'],
    [router, ADDRESS.b, 'eth0'],
    [router, `${LAN}.1`, 'lan'],
    [spaceOf('b'), `${LAN}.2`, 'eth0'],
  ] as const) {
    ip(`-n ${space} addr add ${address}/24 dev ${device}`);
    ip(`-n ${space} link set ${device} up`);
  }
  ip(`-n ${spaceOf('b')} route add default via ${LAN}.1`);
  ip(`netns exec ${router} sysctl -qw net.ipv4.ip_forward=1`);
  execFileSync('ip', ['netns', 'exec', router, 'nft', NAT], { stdio: 'pipe' });
  return () => {
    ip(`-n ${router} addr del ${ADDRESS.b}/24 dev eth0`);
    ip(`-n ${router} addr add 10.213.0.3/24 dev eth0`);
  };
}

/** A machine with a home, a repository and an agency of its own. */
function machine(name: Name) {
  const home = folder();
  const agency = join(home, 'agency');
  const root = join(home, 'repository');
  for (const made of [agency, root]) mkdirSync(made);
  execFileSync('git', ['init', '-q', root]);
  writeFileSync(join(agency, 'peripherals.edn'), PAR_PARTICIPANT);
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: home };
  const start = (...args: string[]): ChildProcess => {
    const child = spawn('ip', ['netns', 'exec', spaceOf(name), process.execPath, ...args], { env, cwd: root });
    child.stderr!.resume();
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await gone;
    });
    return child;
  };
  let port = 0;
  const helper = start(resolve('test/agency/machine.ts'));
  const waiting: ((result: never) => void)[] = [];
  createInterface(helper.stdout!).on('line', (line) => waiting.shift()!(JSON.parse(line) as never));
  return {
    start,
    cli: (...args: string[]) => start(MAIN, ...args),
    agents: (yaml: string) => writeFileSync(join(agency, 'agents.yaml'), yaml),
    agency,
    root,
    file(path: string, text: string) {
      writeFileSync(join(home, path), text);
      return join(home, path);
    },
    call: <N extends keyof Calls>(call: N, ...args: Parameters<Calls[N]>): Promise<Awaited<ReturnType<Calls[N]>>> => {
      helper.stdin!.write(`${JSON.stringify([call, args])}\n`);
      return new Promise((done) => waiting.push(done));
    },
    /** Serves, with the agency on an outer address if there is one. Resolves with what callers need. */
    async serve(outer: string | undefined = ADDRESS[name]) {
      const args = ['--port', '0', '--agency', agency, '--json'];
      const said = await first(start(MAIN, 'serve', ...args, ...(outer ? ['--agency-listen', `${outer}:4781`] : [])));
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)![0];
      port = Number(new URL(url).port);
      const token = readFileSync(join(home, 'state/hopgate/server/operator.token'), 'utf8').trim();
      return (key: string, agent: string) =>
        this.call('post', `${url}/agency/run`, token, key, run(agent, { prompt: key }));
    },
    /** Opens a session of an agent in chat, on the server of this machine. */
    async open(agent: string) {
      const folder = join(home, 'state/hopgate/server');
      const url = `http://127.0.0.1:${port}`;
      const token = readFileSync(join(folder, 'agent.token'), 'utf8').trim();
      const opened = (await this.call('post', `${url}/v1/sessions`, token, agent, {
        ...{ root, agent, peripheral: 'chat' },
      })) as { readonly session: string; readonly token: string };
      const at = `${url}/v1/sessions/${opened.session}`;
      return {
        id: opened.session,
        /** Rings once the other machine is known here. */
        ring: async (body: object): Promise<{ readonly id: string }> => {
          for (let tries = 0; ; tries++) {
            const rung = (await this.call('post', `${at}/bell`, opened.token, `${agent}-${tries}`, body)) as {
              readonly ok: boolean;
              readonly message: { readonly id: string };
            };
            if (rung.ok) return rung.message;
            await sleep(100);
          }
        },
        next: async (): Promise<{ readonly [field: string]: string }> => {
          for (;;) {
            const { messages } = (await this.call('get', `${at}/inbox`, opened.token)) as {
              readonly messages: readonly { readonly [field: string]: string }[];
            };
            if (messages[0]) return messages[0];
            await sleep(50);
          }
        },
      };
    },
    /** Runs the program and returns its exit code. */
    ended: (...args: string[]): Promise<number | null> =>
      new Promise((done) => start(MAIN, ...args).once('exit', (code) => done(code))),
    tokenFor: async (node: string) => (await first(start(MAIN, 'agency', 'token', node))).trim(),
  };
}
type Machine = ReturnType<typeof machine>;

/** The first words of a program. */
const first = (child: ChildProcess): Promise<string> =>
  new Promise((done, fail) => {
    child.stdout!.once('data', (data) => done(String(data)));
    child.once('exit', (code) => fail(new Error(`it ended with ${code}`)));
  });

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

const counting = (url: string): string =>
  `{ location: local, driver: http, url: "${url}", honours: [fs, shell, http] }`;

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
    'reach a laptop behind a router that masquerades, once, also when the router gets a new address',
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
    'ring each other’s sessions, also behind a router that masquerades',
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

  it('write into one review, which the other machine reads, and which continues after a kill', async () => {
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
