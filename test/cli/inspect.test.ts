import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type {
  StatelyActorEvent,
  StatelyEventEvent,
  StatelyInspectionEvent,
  StatelySnapshotEvent,
} from '@statelyai/inspect';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type createMachine, setup, transition } from 'xstate';
import { z } from 'zod';
import manifest from '../../node_modules/@statelyai/inspect/package.json' with { type: 'json' };
import { startBridge } from '../../src/cli/inspect/bridge-server.ts';
import { statelyInspector } from '../../src/cli/inspect/stately-inspector.ts';
import { compileMachineConfigs } from '../../src/compile/compile-specs.ts';
import { guards } from '../../src/compile/guards.ts';
import { listMachineNames, type MachineJson } from '../../src/compile/machine-json.ts';
import { openSession } from '../../src/open-session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { isDeep } from '../depth.ts';
import { commitAll, folder, machine } from './run.ts';

const specs = await loadSpecs('default');

/** The wire form as the package types it: the schemas are held to its types below. */
const base = {
  rootId: z.string().or(z.undefined()),
  sessionId: z.string().min(1),
  createdAt: z.string().regex(/^\d+$/),
  id: z.string().min(1),
  _version: z.literal(manifest.version),
};
const event = z.looseObject({ type: z.string().min(1) });
const snapshot = z.strictObject({ status: z.enum(['active', 'done']), value: z.string(), context: z.strictObject({}) });
const actorMessage = z.strictObject({
  ...base,
  type: z.literal('@xstate.actor'),
  name: z.string(),
  snapshot,
  definition: z.string(),
  parentId: z.string().optional(),
});
const eventMessage = z.strictObject({
  ...base,
  type: z.literal('@xstate.event'),
  event,
  sourceId: z.undefined().optional(),
});
const snapshotMessage = z.strictObject({ ...base, type: z.literal('@xstate.snapshot'), event, snapshot });
const message = z.discriminatedUnion('type', [actorMessage, eventMessage, snapshotMessage]);
type Message = z.infer<typeof message>;

// Fails to compile if the package's own types demand another form.
type Keys<T> = T extends unknown ? keyof T : never;
const sameKeys = <A, B>(
  _: [Keys<A>] extends [Keys<B>] ? ([Keys<B>] extends [Keys<A>] ? true : never) : never,
): void => {};
sameKeys<z.infer<typeof actorMessage>, StatelyActorEvent>(true);
sameKeys<z.infer<typeof eventMessage>, StatelyEventEvent>(true);
sameKeys<z.infer<typeof snapshotMessage>, StatelySnapshotEvent>(true);
const asTyped = (
  checked: Message,
): Pick<StatelyInspectionEvent, 'type' | 'sessionId' | 'createdAt' | 'id' | '_version'> =>
  checked satisfies Pick<StatelyInspectionEvent, 'type' | 'sessionId' | 'createdAt' | 'id' | '_version'>;

/** A real client: what it received, each message checked. */
async function watcher(url: string, headers: { readonly [name: string]: string } = {}) {
  const received: Message[] = [];
  const socket = new WebSocket(url, { headers });
  onTestFinished(() => socket.terminate());
  let wake = () => {};
  socket.on('message', (data) => {
    const checked = message.parse(JSON.parse(String(data)));
    asTyped(checked);
    received.push(checked);
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const until = async (enough: (messages: readonly Message[]) => boolean): Promise<readonly Message[]> => {
    while (!enough(received)) await new Promise<void>((resolve) => (wake = resolve));
    return received;
  };
  return { received, until };
}

async function bridge() {
  const started = await startBridge(0);
  onTestFinished(() => started.close());
  return started;
}

const SECRET = 'hunter2-in-an-argument';

/** A session that visits two peripherals, takes steps, is refused once, and closes. */
async function live(inspector: ReturnType<typeof statelyInspector>): Promise<string> {
  const root = folder({ 'src/a.ts': `export const a = '${SECRET}';\n` });
  commitAll(root);
  const session = await openSession({ root, agent: 'me', store: 'memory', specs, inspector });
  const ok = async (call: Promise<{ readonly ok: boolean }>) => expect(await call).toMatchObject({ ok: true });
  await ok(session.start('explore'));
  await session.setMode({ to: 'execute' });
  await ok(session.setMode({ to: 'diagnose' }));
  await ok(session.step({ tool: 'read', args: { path: 'src/a.ts' } }));
  await ok(session.step({ tool: 'grep', args: { pattern: SECRET } }));
  await ok(session.hop({ to: 'edit', exit: 'found-target', reason: 'found it' }));
  await ok(session.stop('enough'));
  await ok(session.start('edit', { by: 'operator' }));
  await ok(session.stop('enough'));
  await ok(session.close('done'));
  const { id } = session;
  await session.detach();
  return id;
}

const isClosed = (messages: readonly Message[]) =>
  messages.some(
    (each) => each.type === '@xstate.snapshot' && each.sessionId === 'hop-graph' && each.snapshot.value === 'closed',
  );

/** Replays the reported events on each actor's definition, and compares its state with the reported one. */
function followed(messages: readonly Message[]): number {
  const actors = new Map<string, { logic: ReturnType<typeof createMachine>; at: never }>();
  let checked = 0;
  let last: { readonly type: string } | null = null;
  for (const each of messages) {
    if (each.type === '@xstate.actor') {
      const config = JSON.parse(each.definition) as MachineJson;
      const names = listMachineNames(config, 'guards');
      const logic = setup({ guards: guards(...names) as never }).createMachine(config as never) as never;
      actors.set(each.sessionId, {
        logic,
        at: (logic as ReturnType<typeof createMachine>).resolveState({
          value: each.snapshot.value,
          context: {},
        }) as never,
      });
      continue;
    }
    const actor = actors.get(each.sessionId);
    if (!actor) throw new Error(`${each.sessionId} was not introduced`);
    if (each.type === '@xstate.event') last = each.event;
    else {
      expect(each.event).toEqual(last);
      const [next] = transition(actor.logic, actor.at, each.event as never);
      expect([each.event.type, next.value, next.status]).toEqual([
        each.event.type,
        each.snapshot.value,
        each.snapshot.status,
      ]);
      actor.at = next as never;
      checked++;
    }
  }
  return checked;
}

describe('the Stately inspector', () => {
  it('receives the events of the three machines in its own message form', async () => {
    const { send, socket } = await bridge();
    const { until } = await watcher(socket);
    await live(statelyInspector(send));
    const messages = await until(isClosed);
    const actors = messages.filter((each) => each.type === '@xstate.actor');
    expect(actors.map(({ sessionId, name, parentId }) => [sessionId, name, parentId ?? null])).toEqual([
      ['mode-gate', 'mode-gate', null],
      ['hop-graph', 'hop-graph', null],
      ['explore-lifecycle', 'explore-lifecycle', 'hop-graph'],
      ['edit-lifecycle', 'edit-lifecycle', 'hop-graph'],
      ['edit-lifecycle:2', 'edit-lifecycle', 'hop-graph'],
    ]);
    const events = messages.flatMap((each) =>
      each.type === '@xstate.event' ? [`${each.sessionId} ${each.event.type}`] : [],
    );
    expect(events).toEqual([
      'hop-graph start.explore',
      'explore-lifecycle start',
      'mode-gate to.diagnose',
      'explore-lifecycle step',
      'explore-lifecycle step',
      ...['explore-lifecycle exit.found-target', 'hop-graph found-target.edit', 'edit-lifecycle start'],
      ...['edit-lifecycle stop', 'hop-graph stop'],
      ...['hop-graph start.edit', 'edit-lifecycle:2 start', 'edit-lifecycle:2 stop', 'hop-graph stop'],
      'hop-graph close',
    ]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  it('receives definitions that parse back into the same machines, and events that lead to the same states', async () => {
    const sent: Message[] = [];
    await live(statelyInspector((each) => sent.push(message.parse(JSON.parse(JSON.stringify(each))))));
    const known = new Map(compileMachineConfigs(specs).map((config) => [config.id, config]));
    const actors = sent.filter((each) => each.type === '@xstate.actor');
    for (const { definition, name } of actors) expect(JSON.parse(definition)).toEqual(known.get(name));
    expect(followed(sent)).toBe(15);
  });

  it('receives no arguments and results', async () => {
    const sent: unknown[] = [];
    await live(statelyInspector((each) => sent.push(each)));
    expect(sent.length).toBeGreaterThan(30);
    expect(JSON.stringify(sent)).not.toContain(SECRET);
  });

  it('receives messages that the receiver of its package understands, even if the receiver connects late', async () => {
    const { send, socket } = await bridge();
    await live(statelyInspector(send));
    const names = await new Promise<readonly string[]>((resolve) => {
      const seen: string[] = [];
      createWebSocketReceiver({ server: socket }).subscribe((each) => {
        if (each.type === '@xstate.actor') seen.push(each.name);
        if (seen.length === 5) resolve(seen);
      });
    });
    expect(names.at(0)).toBe('mode-gate');
  });
});

describe('the bridge to the Stately inspector', () => {
  const get = (address: string, headers: { readonly [name: string]: string }) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      request(address, { headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      })
        .once('error', reject)
        .end();
    });

  it('shows the inspector’s page and sends messages only to its origin', async () => {
    const { address } = await bridge();
    const { status, text } = await get(address, {});
    expect(status).toBe(200);
    expect(text).toContain('<iframe id="inspector" title="Stately inspector" src="https://stately.ai/inspect">');
    expect(text).not.toContain("'*'");
  });

  it('refuses other pages and other names for this machine', async () => {
    const { address, socket } = await bridge();
    expect((await get(address, { host: 'evil.example' })).status).toBe(403);
    expect((await get(address, { origin: 'https://evil.example' })).status).toBe(403);
    await expect(watcher(socket, { origin: 'https://evil.example' })).rejects.toThrow('401');
    await expect(watcher(socket, { host: 'evil.example' })).rejects.toThrow('401');
    await expect(watcher(socket, { origin: address.slice(0, -1) })).resolves.toBeDefined();
  });

  it('listens only on the loopback interface', async () => {
    const { address } = await bridge();
    const port = Number(new URL(address).port);
    const other = createServer();
    onTestFinished(() => void other.close());
    // The port is free on another address of this machine: nobody listens on all of them.
    await new Promise<void>((resolve, reject) => other.once('error', reject).listen(port, '127.0.0.2', resolve));
  });

  it('says that the port is taken', async () => {
    const { address } = await bridge();
    await expect(startBridge(Number(new URL(address).port))).rejects.toMatchObject({ code: 'port-in-use' });
  });
});

describe('hopgate inspect', () => {
  const SCENARIO = `title: A look
agent: me
steps:
  - mode: diagnose
  - start: explore
  - step: { tool: glob, args: { pattern: "**" } }
  - stop: { reason: done }
`;

  /** A receiver as another program would be, on a port of its own. */
  async function receiver(): Promise<{ url: string; received: Message[] }> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => void server.close());
    const received: Message[] = [];
    server.on('connection', (socket) =>
      socket.on('message', (data) => received.push(message.parse(JSON.parse(String(data))))),
    );
    await new Promise((resolve) => server.once('listening', resolve));
    return { url: `ws://127.0.0.1:${(server.address() as { port: number }).port}`, received };
  }

  it('replays a stored session with the same messages as the live one', async () => {
    const { root, run } = machine({ 'a.txt': 'a', 'look.yaml': SCENARIO });
    commitAll(root);
    const seenLive = await receiver();
    const ran = await run('run', 'look.yaml', '--root', '.', '--inspect', seenLive.url);
    expect(ran, ran.all).toMatchObject({ code: 0 });
    const later = await receiver();
    const shown = await run('inspect', '--url', later.url, '--json');
    expect(shown, shown.all).toMatchObject({ code: 0 });
    expect(JSON.parse(shown.out)).toMatchObject({ address: null, socket: later.url });
    const plain = (messages: readonly Message[]) => messages.map(({ id, createdAt, ...rest }) => rest);
    expect(later.received.length).toBeGreaterThan(8);
    expect(plain(later.received)).toEqual(plain(seenLive.received));
  });

  it.runIf(isDeep)('serves the session until it is interrupted, and prints the address', async () => {
    const { root, run, env } = machine({ 'a.txt': 'a', 'look.yaml': SCENARIO });
    commitAll(root);
    expect(await run('run', 'look.yaml', '--root', '.')).toMatchObject({ code: 0 });
    const child = spawn(
      process.execPath,
      [new URL('../../src/cli/main.ts', import.meta.url).pathname, 'inspect', '--port', '0'],
      {
        cwd: root,
        env: { ...process.env, ...env },
      },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    let socket = '';
    for await (const line of createInterface(child.stdout)) {
      socket = /messages: (ws:\S+)\)/.exec(line)?.[1] ?? '';
      if (socket !== '') break;
    }
    const { until } = await watcher(socket);
    const messages = await until((each) =>
      each.some((one) => one.type === '@xstate.event' && one.event.type === 'stop'),
    );
    expect(messages.map(({ sessionId }) => sessionId)).toContain('explore-lifecycle');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('explains an unknown session, a missing receiver, a wrong address and a wrong port', async () => {
    const { root, run } = machine({ 'look.yaml': SCENARIO });
    commitAll(root);
    expect(await run('inspect')).toMatchObject({ code: 1, err: expect.stringContaining('has no sessions yet') });
    await run('run', 'look.yaml', '--root', '.');
    expect(await run('inspect', '--url', 'ws://127.0.0.1:1')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no server answers'),
    });
    expect(await run('inspect', '--url', 'http://x')).toMatchObject({ code: 2 });
    expect(await run('inspect', '--port', 'x')).toMatchObject({ code: 2 });
  });
});
