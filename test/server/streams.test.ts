import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { WSContext } from 'hono/ws';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { userStateFolder } from '../../src/base/user-folders.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { ROUTES } from '../../src/server/routes.ts';
import { CloudEvent } from '../../src/server/stream/cloud-event.ts';
import { MAX_LAG_ENTRIES } from '../../src/server/stream/follow-session.ts';
import { encodeSse, sendEventsToSocket } from '../../src/server/stream/send-events.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { depth, isDeep, sample } from '../depth.ts';
import { type Served, serveWorld, until } from './serve-world.ts';

interface Got {
  readonly cursor: string;
  readonly event: CloudEvent;
}

/** Reads an SSE stream until `enough`, then cuts the connection. Only whole events count. */
function readEvents(
  served: Served,
  path: string,
  {
    after,
    enough,
    begun = () => {},
  }: {
    readonly after?: string | undefined;
    readonly enough: (got: readonly Got[], bytes: number) => boolean;
    /** Called with each piece that arrives. The first one arrives when the stream has its place. */
    readonly begun?: () => void;
  },
): Promise<readonly Got[]> {
  const got: Got[] = [];
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      port: served.port,
      host: '127.0.0.1',
      path,
      agent: false,
      headers: {
        authorization: `Bearer ${served.operator}`,
        host: `127.0.0.1:${served.port}`,
        ...(after === undefined ? {} : { 'last-event-id': after }),
      },
    });
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      let [text, bytes] = ['', 0];
      const end = () => {
        response.destroy();
        resolve(got);
      };
      response.on('error', () => {});
      response.on('close', () => resolve(got));
      response.setEncoding('utf8').on('data', (chunk: string) => {
        begun();
        bytes += chunk.length;
        text += chunk;
        for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
          const block = text.slice(0, at);
          text = text.slice(at + 2);
          const fields = Object.fromEntries(
            block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
          );
          if (!fields['data']) continue;
          const event = CloudEvent.parse(JSON.parse(fields['data']));
          expect(fields['event']).toBe(event.type);
          got.push({ cursor: fields['id']!, event });
        }
        if (enough(got, bytes)) end();
      });
      if (enough(got, 0)) end();
    });
    request.end();
  });
}

/** A session of foreign evidence with this many entries, written by another connection to the store. */
async function write(served: Served, sessionId: string, count: number, size = 10) {
  const store = sqliteStore(`${ensureStateDir(served.root, served.env)}/evidence.db`);
  served.later(() => store.close());
  const lease = await store.acquire(sessionId, 'test', 600_000);
  const add = async (many: number): Promise<void> => {
    const head = await store.head(sessionId);
    const drafts = Array.from({ length: many }, (_, index) => ({
      type: 'coordination' as const,
      claim: head.seq < 0 && index === 0 ? ('goal' as const) : ('observation' as const),
      author: 'other',
      sessionId,
      body: { text: 'x'.repeat(size) },
    }));
    await store.append(lease, head.seq < 0 ? EMPTY_CHAIN : head, drafts);
  };
  for (let left = count; left > 0; left -= 2_000) await add(Math.min(left, 2_000));
  return { add };
}

const seqs = (got: readonly Got[]): readonly number[] => got.map(({ event }) => Number(event.sequence));
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe('the event stream of a session', () => {
  it('sends CloudEvents from the first entry on, then new entries as they arrive', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const path = `/v1/sessions/${id}/events`;
    const live = readEvents(served, path, { enough: (got) => got.length === 3 });
    await served.ask(`POST /v1/sessions/${id}/step`, { token, body: { tool: 'edit', args: {} } });
    const got = await live;
    expect(seqs(got)).toEqual([0, 1, 2]);
    expect(got.map(({ cursor }) => cursor)).toEqual(['0', '1', '2']);
    expect(got[2]!.event).toMatchObject({
      specversion: '1.0',
      type: 'dev.hopgate.evidence.denial.v1',
      source: id,
      data: { body: { event: 'denial', code: 'tool-not-allowed' } },
    });
    const { json } = await served.ask(`GET /v1/sessions/${id}/evidence?from=2`);
    expect(got[2]!.event.id).toBe(json.entries[0].id);
    const { json: snapshot } = await served.ask(`GET /v1/sessions/${id}/snapshot`);
    const rest = readEvents(served, `${path}?after=${snapshot.seq}&form=frame`, {
      enough: (events) => events.length === 1,
    });
    await served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to: 'diagnose' } });
    expect((await rest)[0]!.event).toMatchObject({
      sequence: '3',
      data: { seq: 3, event: 'mode', delta: { mode: 'diagnose' } },
    });
  });

  it('gives each seq exactly once, wherever the connection is cut', async () => {
    const served = await serveWorld();
    const writer = await write(served, 'cut', 40, 300);
    let written = 40;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 5, maxLength: 12 }), async (cuts) => {
        const all: number[] = [];
        let after: string | undefined;
        for (const cut of cuts) {
          const reading = readEvents(served, '/v1/sessions/cut/events', { after, enough: (_, bytes) => bytes > cut });
          if (cut % 3 === 0) {
            await writer.add(2);
            written += 2;
          }
          await Promise.race([reading, sleep(40)]);
          if (cut > 8_000) continue; // This reader never reaches the end: the next one replaces it.
          const got = await Promise.race([reading, sleep(60).then(() => [])]);
          all.push(...seqs(got));
          after = got.at(-1)?.cursor ?? after;
        }
        const rest = await readEvents(served, '/v1/sessions/cut/events', {
          after,
          enough: (got) => all.length + got.length >= written,
        });
        expect([...all, ...seqs(rest)]).toEqual(upTo(written));
      }),
      { numRuns: depth(1, 20) },
    );
  });

  it('lets other requests run between batches, even for a fast reader', async () => {
    async function* batches(): AsyncGenerator<[]> {
      for (let i = 0; i < 20; i++) yield [];
    }
    let turns = 0;
    const turn = (): void => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    for await (const _ of encodeSse(batches(), () => {}));
    expect(turns).toBeGreaterThanOrEqual(20);
    turns = 0;
    await sendEventsToSocket(batches(), { close: () => {} } as unknown as WSContext);
    expect(turns).toBeGreaterThanOrEqual(20);
    clearImmediate(next);
  });

  it.each(sample(['/v1/sessions/long/thread', '/v1/sessions/long/pars', '/v1/threads', '/v1/pars'], 4))(
    'lets other requests run while %s reads a long session',
    async (path) => {
      const served = await serveWorld();
      await write(served, 'long', 4_000);
      let turns = 0;
      const turn = (): void => {
        turns++;
        next = setImmediate(turn);
      };
      let next = setImmediate(turn);
      expect((await served.ask(`GET ${path}`)).status).toBe(200);
      clearImmediate(next);
      expect(turns).toBeGreaterThanOrEqual(40);
    },
  );

  it('has the frames of the page', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    for (const to of ['diagnose', 'discuss', 'nowhere', 'execute'])
      await served.ask(`POST /v1/sessions/${id}/mode`, { body: { to, by: 'agent' } });
    const events = await readEvents(served, `/v1/sessions/${id}/events?form=frame&after=1`, {
      enough: (got) => got.length === 4,
    });
    const { json } = await served.ask(`GET /v1/sessions/${id}/frames?from=2`);
    expect(events.map(({ event }) => event.data)).toEqual(json.frames);
  });

  it('is the same over a WebSocket', async () => {
    const served = await serveWorld();
    await write(served, 'socket', 600);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/v1/sessions/socket/socket?after=99`, {
      headers: { authorization: `Bearer ${served.operator}` },
    });
    const got: Got[] = [];
    socket.on('message', (data) => got.push(JSON.parse(String(data))));
    await until(() => got.length >= 500);
    expect(seqs(got)).toEqual(upTo(600).slice(100));
    socket.close();
    const refused = new WebSocket(`ws://127.0.0.1:${served.port}/v1/sessions/socket/socket`, {
      headers: { authorization: `Bearer ${served.agent}` },
    });
    const why = await new Promise((resolve) => refused.on('error', (error) => resolve(error.message)));
    expect(why).toMatch(/403/);
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
      const foreign = new WebSocket(`ws://127.0.0.1:${served.port}/v1/sessions/socket/socket`, {
        headers: { authorization: `Bearer ${served.operator}`, origin },
      });
      expect(await new Promise((resolve) => foreign.on('error', (error) => resolve(error.message)))).toMatch(/403/);
    }
  });

  it('closes the WebSocket, and the server continues, if the evidence cannot be read', async () => {
    const served = await serveWorld();
    const route = ROUTES.find(({ at }) => at === '/v1/socket')!;
    // biome-ignore lint/correctness/useYield: the store fails before the first batch
    const broken = async function* () {
      throw new Error('disk I/O error');
    };
    vi.spyOn(route, 'run').mockImplementation(async () => broken());
    onTestFinished(() => void vi.restoreAllMocks());
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/v1/socket`, {
      headers: { authorization: `Bearer ${served.operator}` },
    });
    expect(await new Promise((resolve) => socket.on('close', resolve))).toBe(1011);
    expect((await served.ask('GET /v1/sessions')).status).toBe(200);
  });

  it.runIf(isDeep)('keeps memory bounded for a reader that stopped, and then marks the omitted entries', async () => {
    const served = await serveWorld();
    const writer = await write(served, 'slow', 1, 200);
    const socket = await stopped(served, '/v1/sessions/slow/events');
    const count = depth(20_000, 50_000);
    global.gc?.();
    const before = process.memoryUsage.rss();
    for (let left = count; left > 0; left -= 2_000) await writer.add(2_000);
    await sleep(300);
    global.gc?.();
    const grown = process.memoryUsage.rss() - before;
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.resume();
    await until(() => text.includes('dev.hopgate.stream.resync.v1'));
    const marker = /"type":"dev.hopgate.stream.resync.v1".*?"sequence":"(\d+)"/.exec(text);
    expect(Number(marker?.[1])).toBeGreaterThan(MAX_LAG_ENTRIES);
    // The test writes in the same process, so its own buffers count too.
    expect(grown).toBeLessThan(120 << 20);
    await writer.add(1);
    await until(() => text.includes(`id: ${count + 1}\n`));
    socket.destroy();
  });
});

/** Opens a stream and stops reading once it has begun. */
async function stopped(served: Served, path: string): Promise<Socket> {
  const socket = createConnection({ port: served.port, host: '127.0.0.1' });
  served.later(() => socket.destroy());
  let head = '';
  const answered = new Promise<void>((resolve) =>
    socket.on('data', (chunk: Buffer) => {
      head += chunk;
      if (head.includes('\r\n\r\n')) resolve();
    }),
  );
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${served.operator}\r\n\r\n`,
  );
  await answered;
  socket.removeAllListeners('data').pause();
  return socket;
}

describe('the event stream of all sessions', () => {
  it('continues, as the server does, while the evidence cannot be read', async () => {
    const served = await serveWorld();
    await served.session();
    const home = userStateFolder(served.env);
    let count = 0;
    const reading = readEvents(served, '/v1/events', {
      enough: (got) => got.length > 0,
      begun: () => {
        if (count++ > 0) return;
        renameSync(home, `${home}-away`);
        writeFileSync(home, 'not a folder');
        setTimeout(async () => {
          rmSync(home);
          renameSync(`${home}-away`, home);
          await served.session();
        }, 300);
      },
    });
    expect((await reading)[0]?.event.type).toMatch(/^dev\.hopgate\.evidence/);
  });

  it('continues after a cursor over several repositories, with each entry exactly once', async () => {
    const served = await serveWorld();
    const first = await served.session();
    const { openSession } = await import('../../src/open-session.ts');
    const { mkdirSync } = await import('node:fs');
    const other = `${served.root}-other`;
    mkdirSync(other);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const cut = readEvents(served, '/v1/events', { begun: begin, enough: (got) => got.length === 2 });
    await begun;
    const elsewhere = await openSession({ root: other, agent: 'elsewhere' });
    await elsewhere.start('explore');
    const got = await cut;
    expect(got.map(({ event }) => event.source)).toEqual([elsewhere.id, elsewhere.id]);
    await elsewhere.setMode({ to: 'diagnose' });
    await served.ask(`POST /v1/sessions/${first.id}/mode`, { body: { to: 'diagnose', by: 'agent' } });
    const rest = await readEvents(served, '/v1/events', {
      after: got.at(-1)!.cursor,
      enough: (events) => events.length === 2,
    });
    expect(new Set(rest.map(({ event }) => event.source))).toEqual(new Set([elsewhere.id, first.id]));
    await elsewhere.detach();
  });
});
