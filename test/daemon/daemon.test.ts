import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HookAnswer } from '../../src/adapters/core/hook-context.ts';
import { daemonFolder } from '../../src/daemon/daemon-folder.ts';
import { decodeAnswerFrame } from '../../src/daemon/hook/answer-frame.ts';
import { askDaemon, daemonSocketPath, daemonTokenPath } from '../../src/daemon/hook/ask-daemon.ts';
import { type ServeOptions, serveDaemon } from '../../src/daemon/serve-daemon.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { isDeep } from '../depth.ts';

type Handle = () => Promise<HookAnswer>;
const allow: HookAnswer = { exit: 0, stdout: '{"ok":true}', stderr: '' };

async function daemonOf(world: World, options: Partial<ServeOptions> = {}) {
  const daemon = await serveDaemon({ env: world.env, waitMs: 0, ...options });
  if (!daemon) throw new Error('another daemon is there');
  world.later(() => daemon.stop());
  return daemon;
}

const answering = (handle: Handle) => ({ handlers: { claude: async () => handle } });

const ask = (world: World, path: string, body?: string) =>
  askDaemon(path, { env: world.env, ...(body === undefined ? {} : { body }) });

/** Sends bytes unchanged, and returns all bytes received until the end. */
function sendRaw(world: World, bytes: string | Buffer, { hangUp = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(daemonSocketPath(world.env));
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(bytes, () => {
      if (hangUp) socket.destroy();
    });
  });
}

const token = (world: World): string => readFileSync(daemonTokenPath(world.env), 'utf8').trim();

describe('the daemon', () => {
  it('answers hooks on a socket that only its user can reach', async () => {
    const world = makeWorld();
    const { socket } = await daemonOf(
      world,
      answering(async () => allow),
    );
    const answer = decodeAnswerFrame(await ask(world, '/hook/claude', '{}'));
    expect(answer).toEqual({ exit: 0, stdout: Buffer.from('{"ok":true}'), stderr: Buffer.of() });
    expect(statSync(daemonFolder(world.env)).mode & 0o777).toBe(0o700);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(daemonTokenPath(world.env)).mode & 0o777).toBe(0o600);
  });

  it('runs once, however many processes start it at the same time', async () => {
    const world = makeWorld();
    const started = await Promise.all([0, 1, 2, 3].map(() => serveDaemon({ env: world.env, waitMs: 0 })));
    const running = started.filter((daemon) => daemon !== null);
    expect(running).toHaveLength(1);
    world.later(() => running[0]?.stop());
    expect(JSON.parse((await ask(world, '/status')).toString())).toMatchObject({ pid: process.pid });
  });

  it('replaces a killed daemon whose socket still exists', async () => {
    const world = makeWorld();
    const first = await daemonOf(world);
    await first.stop();
    writeFileSync(daemonSocketPath(world.env), '');
    await daemonOf(
      world,
      answering(async () => allow),
    );
    expect(decodeAnswerFrame(await ask(world, '/hook/claude', '{}'))?.exit).toBe(0);
  });

  it('refuses a caller without the token', async () => {
    const world = makeWorld();
    await daemonOf(
      world,
      answering(async () => allow),
    );
    for (const header of ['', 'Authorization: Bearer x\r\n', `Authorization: ${token(world)}\r\n`])
      expect(await sendRaw(world, `GET /status HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${header}\r\n`)).toMatch(
        /^HTTP\/1.1 403/,
      );
    writeFileSync(daemonTokenPath(world.env), 'f'.repeat(64));
    await expect(ask(world, '/status')).rejects.toThrow(/403/);
  });

  it('answers running requests before it ends', async () => {
    const world = makeWorld();
    let release = () => {};
    let begun = () => {};
    const working = new Promise<void>((resolve) => (begun = resolve));
    const daemon = await daemonOf(
      world,
      answering(async () => {
        begun();
        await new Promise<void>((resolve) => (release = resolve));
        return allow;
      }),
    );
    const asked = ask(world, '/hook/claude', '{}');
    await working;
    const stopped = daemon.stop();
    release();
    expect(decodeAnswerFrame(await asked)?.exit).toBe(0);
    await stopped;
    expect(existsSync(daemon.socket)).toBe(false);
  });

  it('ends after a time without requests', async () => {
    const idle = await daemonOf(makeWorld(), { idleMinutes: 0.1 / 60 });
    await idle.ended;
  });

  it('ends when its socket or its token is removed', async () => {
    const began = performance.now();
    await Promise.all(
      ['socket', 'token'].map(async (name) => {
        const orphan = await daemonOf(makeWorld(), { idleMinutes: 0.1 });
        rmSync(join(dirname(orphan.socket), name));
        await orphan.ended;
      }),
    );
    expect(performance.now() - began).toBeLessThan(5500);
  });

  it('does not end during a request', async () => {
    const world = makeWorld();
    let release = () => {};
    let begin = (_: 'began') => {};
    const began = new Promise<'began'>((resolve) => (begin = resolve));
    const options = {
      idleMinutes: 0.05 / 60,
      ...answering(async () => {
        const released = new Promise<void>((resolve) => (release = resolve));
        begin('began');
        await released;
        return allow;
      }),
    };
    for (;;) {
      const daemon = await daemonOf(world, options);
      const answer = ask(world, '/hook/claude', '{}').then(decodeAnswerFrame, () => 'too late' as const);
      // On a busy machine the daemon may end before the request arrives.
      if ((await Promise.race([began, answer])) === 'too late') {
        await daemon.ended;
        continue;
      }
      await sleep(400); // longer than its idle limit
      release();
      expect(await answer).toMatchObject({ exit: 0 });
      await daemon.ended;
      return;
    }
  });

  it.each<[string, string | Buffer]>([
    ['noise', Buffer.from([0, 255, 1, 254, 10, 13])],
    ['another protocol', 'EHLO me\r\n\r\n'],
    ['a header without end', `GET /status HTTP/1.1\r\nX: ${'x'.repeat(100_000)}`],
    ['half a request', 'POST /hook/claude HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc'],
    ['a length that is none', 'POST /hook/claude HTTP/1.1\r\nContent-Length: -1\r\n\r\n'],
  ])('survives %s', async (_, bytes) => {
    const world = makeWorld();
    await daemonOf(
      world,
      answering(async () => allow),
    );
    await sendRaw(world, bytes, { hangUp: bytes.toString().includes('abc') });
    expect(decodeAnswerFrame(await ask(world, '/hook/claude', '{}'))?.exit).toBe(0);
  });

  it('survives unreadable requests', async () => {
    const world = makeWorld();
    await daemonOf(
      world,
      answering(async () => allow),
    );
    await expect(ask(world, '/nothing', '')).rejects.toThrow(/404/);
    await expect(ask(world, '/agent', 'no json')).rejects.toThrow(/500/);
    for (const op of ['null', '{}', '{"op":"call"}', '{"op":"nonsense","root":"/nowhere","session":"x"}'])
      expect((await ask(world, '/agent', op).catch((error: Error) => error.message)).toString()).toMatch(
        /"ok":false|500/,
      );
    expect(decodeAnswerFrame(await ask(world, `/run/${'0'.repeat(32)}`, ''))?.exit).toBe(125);
    expect(decodeAnswerFrame(await ask(world, '/run/..%2F..%2Fx', ''))?.exit).toBe(125);
    expect(decodeAnswerFrame(await ask(world, '/hook/none', '{}'))?.exit).toBe(2);
    expect(decodeAnswerFrame(await ask(world, '/hook/claude', '{'))?.exit).toBe(2);
  });

  it.runIf(isDeep)('refuses a request that is too large', async () => {
    const world = makeWorld();
    await daemonOf(
      world,
      answering(async () => allow),
    );
    const answer = await ask(world, '/hook/claude', 'x'.repeat((32 << 20) + 1)).catch((error: Error) => error.message);
    expect(answer.toString()).toMatch(/413|does not answer/);
    expect(decodeAnswerFrame(await ask(world, '/hook/claude', '{}'))?.exit).toBe(0);
  });

  it('logs the reason of its end', async () => {
    const world = makeWorld();
    const before = process.listenerCount('uncaughtExceptionMonitor');
    const daemon = await daemonOf(world);
    (process as NodeJS.EventEmitter).emit('uncaughtExceptionMonitor', new Error('a fault of ours'));
    expect(readFileSync(join(daemonFolder(world.env), 'log'), 'utf8')).toContain(
      'stops after an error: Error: a fault of ours',
    );
    await daemon.stop();
    expect(process.listenerCount('uncaughtExceptionMonitor')).toBe(before);
  });

  it('keeps its log file small', async () => {
    const world = makeWorld();
    const log = join(daemonFolder(world.env), 'log');
    await (await daemonOf(world)).stop();
    writeFileSync(log, 'x'.repeat((1 << 20) + 1));
    await (await daemonOf(world)).stop();
    expect(statSync(log).size).toBeLessThan(1000);
    expect(existsSync(`${log}.1`)).toBe(true);
  });

  it('is asked again by a caller that had read the token of an earlier daemon', async () => {
    const world = makeWorld();
    mkdirSync(daemonFolder(world.env), { recursive: true });
    writeFileSync(daemonTokenPath(world.env), 'a');
    const later = createServer((_, response) => {
      writeFileSync(daemonTokenPath(world.env), 'b');
      response.writeHead(403).end('the token is wrong');
    });
    await new Promise<void>((resolve) => later.listen(daemonSocketPath(world.env), resolve));
    world.later(() => new Promise<void>((resolve) => later.close(() => resolve())));
    await expect(ask(world, '/status')).rejects.toMatchObject({ name: 'NoDaemonError', hasStarted: false });
    await expect(ask(world, '/status')).rejects.toThrow('answered 403');
  });

  it.runIf(isDeep)('finds a place for its socket for any length of the state folder’s path', async () => {
    const world = makeWorld();
    const env = { ...world.env, XDG_STATE_HOME: join(world.env['XDG_STATE_HOME'] ?? '', 'x'.repeat(120)) };
    expect(Buffer.byteLength(daemonSocketPath(env))).toBeLessThan(108);
    const daemon = await serveDaemon({ env, waitMs: 0, ...answering(async () => allow) });
    world.later(() => daemon?.stop());
    expect(decodeAnswerFrame(await askDaemon('/hook/claude', { env, body: '{}' }))?.exit).toBe(0);
    await daemon?.stop();
    rmSync(daemonFolder(env), { recursive: true });
  });
});
