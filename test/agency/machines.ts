import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { folder, PAR_PARTICIPANT, run } from './agency-nodes.ts';
import type { Calls } from './machine.ts';

/** Each machine is a network namespace; a pair of virtual interfaces joins them. */
export const ADDRESS = { a: '10.213.0.1', b: '10.213.0.2' };
type Name = keyof typeof ADDRESS;
const MAIN = resolve('src/cli/main.ts');
export const ip = (line: string): void => void execFileSync('ip', line.split(' '), { stdio: 'pipe' });
export const spaceOf = (name: Name | 'router'): string => `hg${process.pid}${name}`;

export function canMakeMachines(): boolean {
  if (!isDeep || process.getuid?.() !== 0) return false;
  try {
    ip(`netns add ${spaceOf('a')}`);
    ip(`netns del ${spaceOf('a')}`);
    return true;
  } catch {
    return false;
  }
}

export function joinMachines(): void {
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
export const LAN = '192.168.213';
const NAT =
  'add table ip nat; add chain ip nat out { type nat hook postrouting priority 100; }; add rule ip nat out oifname eth0 masquerade';

/** Machine b behind a router that masquerades: nobody can connect to b. Returns how the router gets a new address. */
export function joinByRouter(): () => void {
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
export function machine(name: Name) {
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
  let server: ChildProcess | null = null;
  const helper = start(resolve('test/agency/machine.ts'));
  const waiting: ((result: never) => void)[] = [];
  createInterface(helper.stdout!).on('line', (line) => waiting.shift()!(JSON.parse(line) as never));
  return {
    start,
    cli: (...args: string[]) => start(MAIN, ...args),
    agents: (yaml: string) => writeFileSync(join(agency, 'agents.yaml'), yaml),
    agency,
    root,
    env,
    /** Writes files of the repository. */
    files(all: { readonly [path: string]: string }) {
      for (const [path, text] of Object.entries(all)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
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
      server = start(MAIN, 'serve', ...args, ...(outer ? ['--agency-listen', `${outer}:4781`] : []));
      const opening = await first(server);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(opening)![0];
      port = Number(new URL(url).port);
      const token = readFileSync(join(home, 'state/hopgate/server/operator.token'), 'utf8').trim();
      return (key: string, agent: string) =>
        this.call('post', `${url}/agency/run`, token, key, run(agent, { prompt: key }));
    },
    /** Ends the server as a crash does. */
    async kill() {
      const gone = new Promise((done) => server!.once('exit', done));
      server!.kill('SIGKILL');
      await gone;
    },
    /** Opens a session of an agent, on the server of this machine. */
    async open(agent: string, peripheral = 'chat') {
      const folder = join(home, 'state/hopgate/server');
      const url = () => `http://127.0.0.1:${port}/v1/sessions`;
      const token = readFileSync(join(folder, 'agent.token'), 'utf8').trim();
      const opened = (await this.call('post', url(), token, agent, { root, agent, peripheral })) as {
        readonly session: string;
        readonly token: string;
      };
      const at = () => `${url()}/${opened.session}`;
      const send = (what: 'step' | 'hop', body: object) =>
        this.call('tryPost', `${at()}/${what}`, opened.token, agent, body);
      return {
        id: opened.session,
        step: (tool: string, args: object) => send('step', { tool, args }),
        hop: (to: string, exit: string) => send('hop', { to, exit, reason: 'it is done' }),
        /** Sends a bell once this machine knows the other one. */
        ring: async (body: object): Promise<{ readonly id: string }> => {
          for (let tries = 0; ; tries++) {
            const rung = (await this.call('post', `${at()}/bell`, opened.token, `${agent}-${tries}`, body)) as {
              readonly ok: boolean;
              readonly message: { readonly id: string };
            };
            if (rung.ok) return rung.message;
            await sleep(100);
          }
        },
        next: async (): Promise<{ readonly [field: string]: string }> => {
          for (;;) {
            const { messages } = (await this.call('get', `${at()}/inbox`, opened.token)) as {
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
export type Machine = ReturnType<typeof machine>;

/** The first words of a program. */
export const first = (child: ChildProcess): Promise<string> =>
  new Promise((done, fail) => {
    child.stdout!.once('data', (data) => done(String(data)));
    child.once('exit', (code) => fail(new Error(`it ended with ${code}`)));
  });

export const counting = (url: string): string =>
  `{ location: local, driver: http, url: "${url}", honours: [fs, shell, http] }`;
