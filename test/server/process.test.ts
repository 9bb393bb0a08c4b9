import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askDaemon } from '../../src/daemon/hook/ask-daemon.ts';
import { isEntryIntact } from '../../src/evidence/chain.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { makeWorld, type World } from '../daemon/daemon-fixture.ts';
import { startDaemon } from '../daemon/processes.ts';
import { depth, isDeep } from '../depth.ts';
import { send, until } from './serve-world.ts';

/** `HOPGATE_KILLS=500` for a long run under a long load, which prints the rate of requests. */
const LONG = process.env['HOPGATE_KILLS'];
const KILLS = Number(LONG ?? depth(1, 8));
const WRITERS = 8;
const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

interface Program {
  readonly child: ChildProcess;
  readonly port: number;
  readonly operator: string;
}

/** `hopgate serve` as a process of its own; it is ended with the test. */
async function serveProgram(world: World, ...options: string[]): Promise<Program> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--json', ...options], {
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  world.later(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await until(() => text.trimEnd().endsWith('}') || child.exitCode !== null);
  const { address, tokens } = JSON.parse(text);
  return { child, port: Number(/:(\d+)$/.exec(address)![1]), operator: readFileSync(tokens.operator, 'utf8').trim() };
}

describe('hopgate serve', () => {
  it('loses nothing that it acknowledged when it is killed under load', async () => {
    const world = makeWorld();
    const acknowledged = new Map<string, string>();
    let requests = 0;
    let underLoad = 0;
    let underLoadMs = 0;
    for (let round = 0; round < KILLS; round++) {
      const { child, port, operator } = await serveProgram(world);
      const post = (path: string, body: object) => send(port, `POST /v1/sessions${path}`, { token: operator, body });
      const busy = new Set<string>();
      const worker = async () => {
        const { json } = await post('', { root: world.root, agent: 'builder', peripheral: 'explore' });
        for (;;) {
          const answer = await post(`/${json.session}/step`, { tool: 'edit', args: {} });
          requests += 1;
          busy.add(json.session);
          for (const { id, hash } of answer.json.evidence) acknowledged.set(id, hash);
        }
      };
      const workers = Array.from({ length: WRITERS }, () => worker().catch(() => {}));
      await until(() => busy.size === WRITERS);
      const [begun, answered] = [Date.now(), requests];
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + (LONG ? 200 : 20) + (round % 25) * (LONG ? 16 : 7));
      child.kill('SIGKILL');
      underLoadMs += Date.now() - begun;
      underLoad += requests - answered;
      await Promise.all([once(child, 'close'), ...workers]);
    }
    if (LONG) {
      const rate = Math.round((underLoad * 1000) / underLoadMs);
      console.log(`${KILLS} kills, ${requests} requests, ${rate} a second from ${WRITERS} writers at once`);
    }
    const store = sqliteStore(`${ensureStateDir(world.root, world.env)}/evidence.db`);
    world.later(() => store.close());
    for (const [id, hash] of acknowledged) {
      const stored = await store.get(id);
      expect(stored?.entry.hash).toBe(hash);
      expect(stored && isEntryIntact(stored)).toBe(true);
    }
    expect(acknowledged.size).toBeGreaterThan(depth(20, 40));
  });

  it.runIf(isDeep)(
    'takes the place of the daemon, answers the daemon’s clients, and ends on a signal despite open streams',
    async () => {
      const world = makeWorld();
      const daemon = await startDaemon(world);
      const { child, port, operator } = await serveProgram(world);
      if (daemon.exitCode === null) await once(daemon, 'close');
      const status = JSON.parse((await askDaemon('/status', { env: world.env })).toString());
      expect(status).toMatchObject({ pid: child.pid, httpAddress: `http://127.0.0.1:${port}` });
      const again = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
        env: world.env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let output = '';
      again.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      await once(again, 'close');
      expect(output).toContain('serves at');

      const { json } = await send(port, 'POST /v1/sessions', {
        token: operator,
        body: { root: world.root, agent: 'builder' },
      });
      const socket = createConnection({ port, host: '127.0.0.1' });
      world.later(() => socket.destroy());
      socket.on('error', () => {});
      socket.write(
        `GET /v1/sessions/${json.session}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${operator}\r\n\r\n`,
      );
      await once(socket, 'data');
      child.kill('SIGTERM');
      const [exit] = await once(child, 'close');
      expect(exit).toBe(0);
      // The lease was released, so that another process continues at once.
      const session = await openSession({ root: world.root, agent: 'builder', session: json.session });
      expect((await session.start('explore')).ok).toBe(true);
      await session.detach();
    },
  );
});

describe('a sandboxed command', () => {
  it.runIf(isDeep)('reaches neither the server nor its tokens', async () => {
    const world = makeWorld({ 'src/a.ts': 'one\n' });
    const { port, operator } = await serveProgram(world);
    const session = await openSession({
      root: world.root,
      agent: 'builder',
      approver: () => true,
    });
    await session.setMode({ to: 'diagnose' });
    await session.start('explore');
    const run = async (command: string) => {
      const answer = await session.step({ tool: 'bash-readonly', args: { command } });
      return JSON.stringify(answer.ok ? answer.result : answer.denial);
    };
    const script = `fetch("http://127.0.0.1:${port}/v1/health").then(r=>r.text()).then(console.log,e=>console.log("failed "+e.cause?.code))`;
    expect(await run(`node -e '${script}'`)).toMatch(/failed (ECONNREFUSED|ENETUNREACH|EPERM|EACCES)|not found/);
    expect(
      await run(
        `cat ${world.env['XDG_STATE_HOME']}/hopgate/server/operator.token; ls -R ${world.env['XDG_STATE_HOME']}`,
      ),
    ).not.toContain('hopgate-operator');
    await session.detach();
    // A command with the network of this machine has no token, and a token of its own session approves nothing.
    const { json } = await send(port, 'POST /v1/sessions', {
      token: operator,
      body: { root: world.root, agent: 'builder' },
    });
    expect((await send(port, 'GET /v1/approvals', {})).status).toBe(401);
    expect((await send(port, 'GET /v1/approvals', { token: json.token })).status).toBe(403);
  });
});
