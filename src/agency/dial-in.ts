import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { getOrInsert } from '../base/get-or-insert.ts';
import { urlBelow } from '../base/http.ts';
import { fieldsOf, parseJsonMessage } from '../base/json.ts';
import { RunFailure, type RunReply, runReplyOf } from './run-reply.ts';
import { RunRequest } from './run-request.ts';
import {
  agentUnreachableFailure,
  parseRunReply,
  RUN_CANCELLED_REASON,
  type RunRoutingData,
  runCancelledFailure,
  type SendRun,
} from './send-run.ts';

/** The methods of a WebSocket that the server calls. */
interface Connection {
  send(text: string): void;
  close(code?: number): void;
}

/** The code with which the server closes a connection when the same node has opened another one. */
const REPLACED_CODE = 4001;

/** The message with which a server gives a run to a node that has connected. */
const RunFrame = z.object({
  type: z.literal('run'),
  request: RunRequest,
  passage: z.object({ key: z.string(), budgetMs: z.number().nullable(), via: z.array(z.string()) }),
});

interface WaitingRun {
  readonly frame: z.output<typeof RunFrame>;
  readonly sentAt: number;
  readonly settle: (reply: RunReply) => void;
}

/** How long a run waits for the connection of its node, in milliseconds. */
const MAX_ABSENCE_MS = 10_000;
/** Interval of the pings that keep a connection open, in milliseconds. */
const PING_MS = 10_000;

/** The nodes that connected to this one. Waiting runs are sent again when their node reconnects. */
export class DialIns {
  readonly #connections = new Map<string, Connection>();
  readonly #waiting = new Map<string, Map<string, WaitingRun>>();
  /** By node: the keys of the runs that the node must cancel. They are sent again when it reconnects. */
  readonly #cancelled = new Map<string, Set<string>>();

  get connected(): readonly string[] {
    return [...this.#connections.keys()];
  }

  /** Adds the connection of a node, and closes an older one of the same node. */
  connect(node: string, line: Connection): void {
    this.#connections.get(node)?.close(REPLACED_CODE);
    this.#connections.set(node, line);
    for (const key of this.#cancelled.get(node) ?? []) sendCancel(line, key);
    this.#cancelled.delete(node);
    for (const waiting of this.#waiting.get(node)?.values() ?? []) send(line, waiting);
  }

  disconnect(node: string, line: Connection): void {
    if (this.#connections.get(node) === line) this.#connections.delete(node);
  }

  /** Handles a message of a node. Only replies are read. */
  receive(node: string, text: string): void {
    const { type, key, reply } = messageIn(text);
    const known = parseRunReply(reply);
    if (type !== 'reply' || typeof key !== 'string' || !known) return;
    this.#cancelled.get(node)?.delete(key);
    this.#waiting.get(node)?.get(key)?.settle(known);
  }

  /** Sends runs to a node, whether it is connected now or within {@link MAX_ABSENCE_MS}. */
  senderTo(node: string): SendRun {
    return (request, route, signal) =>
      new Promise((resolve, reject) => {
        const { key } = route;
        const all = getOrInsert(this.#waiting, node, () => new Map<string, WaitingRun>());
        const finish = (): void => {
          clearInterval(watch);
          signal.removeEventListener('abort', stop);
          all.delete(key);
        };
        const settle = (reply: RunReply): void => {
          finish();
          resolve(reply);
        };
        let seenAt = performance.now();
        const watch = setInterval(() => {
          if (this.#connections.has(node)) seenAt = performance.now();
          else if (performance.now() - seenAt > MAX_ABSENCE_MS) {
            finish();
            reject(agentUnreachableFailure('its node is not connected'));
          }
        }, 200);
        const stop = (): void => {
          finish();
          if (signal.reason !== RUN_CANCELLED_REASON) return reject(agentUnreachableFailure('the wait ended'));
          const line = this.#connections.get(node);
          if (line) sendCancel(line, key);
          this.#cancelled.set(node, (this.#cancelled.get(node) ?? new Set()).add(key));
          reject(runCancelledFailure());
        };
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        const frame = { type: 'run' as const, request, passage: { ...route, via: [...route.via] } };
        const waiting = { frame, sentAt: performance.now(), settle };
        all.set(key, waiting);
        const line = this.#connections.get(node);
        if (line) send(line, waiting);
      });
  }
}

/** The failure of a run on a node that cannot use its files. It names no path, because the caller must not see any. */
const nodeFailure = (): RunFailure =>
  new RunFailure('agent-failed', 'the node cannot record the run', 'Run "hopgate doctor" on the node.');

const sendCancel = (line: Connection, key: string): void => line.send(JSON.stringify({ type: 'cancel', key }));

function send(line: Connection, { frame, sentAt }: WaitingRun): void {
  const { budgetMs } = frame.passage;
  const left = budgetMs === null ? null : Math.max(0, budgetMs - (performance.now() - sentAt));
  line.send(JSON.stringify({ ...frame, passage: { ...frame.passage, budgetMs: left } }));
}

const messageIn = (text: string): { readonly [field: string]: unknown } => fieldsOf(parseJsonMessage(text));

interface DialOptions {
  /** The address of the server: `http://example.org:4781`. */
  readonly url: string;
  readonly token: string;
  readonly run: (request: RunRequest, route: RunRoutingData) => Promise<RunReply>;
  readonly cancel: (key: string) => void;
  readonly signal: AbortSignal;
  /** Called when the connection opens, when it is lost, and when a new problem keeps it from opening. */
  readonly onChange?: (isConnected: boolean, problem: string | null) => void;
}

/**
 * Connects this node to a server and keeps the connection, until the signal is aborted, or until another program has
 * connected as the same node: two programs that both reconnect would close each other's connections without end.
 */
export async function dialIn({ url, ...options }: DialOptions): Promise<'ended' | 'replaced'> {
  const { signal } = options;
  const address = urlBelow(url, 'agency/connect');
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  let reported = '';
  const onChange = (isConnected: boolean, problem: string | null): void => {
    const change = JSON.stringify([isConnected, problem]);
    if (change !== reported) options.onChange?.(isConnected, problem);
    reported = change;
  };
  for (let failures = 0; !signal.aborted; failures++) {
    const end = await connectOnce(address, { ...options, onChange });
    if (end === 'replaced') return end;
    if (end === 'lost') failures = 0;
    await sleep(Math.min(5_000, 100 * 2 ** failures), undefined, { signal }).catch(() => {});
  }
  return 'ended';
}

/** Opens one connection. Resolves when it has ended. */
function connectOnce(
  address: URL,
  { token, run, cancel, signal, onChange = () => {} }: Omit<DialOptions, 'url'>,
): Promise<'never-open' | 'lost' | 'replaced'> {
  return new Promise((resolve) => {
    const socket = new WebSocket(address, { headers: { Authorization: `Bearer ${token}` }, handshakeTimeout: 10_000 });
    let [wasOpen, isAlive, problem] = [false, true, null as string | null];
    const stop = (): void => socket.terminate();
    const pings = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      if (wasOpen) socket.ping();
    }, PING_MS);
    signal.addEventListener('abort', stop, { once: true });
    socket.on('open', () => {
      wasOpen = true;
      onChange(true, null);
    });
    socket.on('pong', () => (isAlive = true));
    socket.on('message', (data) => {
      isAlive = true;
      const message = messageIn(String(data));
      if (message['type'] === 'cancel') return cancel(String(message['key']));
      const frame = RunFrame.safeParse(message);
      if (!frame.success) return;
      const { request, passage: route } = frame.data;
      const failed = () => runReplyOf(request['agent-id'], () => Promise.reject(nodeFailure()));
      void run(request, route)
        .catch(failed)
        .then((reply) => {
          // A closed socket loses the reply; the server asks again with the same key when this node has connected.
          if (socket.readyState === WebSocket.OPEN)
            socket.send(JSON.stringify({ type: 'reply', key: route.key, reply }));
        });
    });
    socket.on('error', ({ message }) => {
      const isTokenWrong = message.endsWith(' 401');
      problem = isTokenWrong
        ? 'that node does not know this token; "hopgate agency token NAME" prints one there'
        : message;
    });
    socket.on('close', (code) => {
      clearInterval(pings);
      signal.removeEventListener('abort', stop);
      onChange(false, problem);
      resolve(code === REPLACED_CODE ? 'replaced' : wasOpen ? 'lost' : 'never-open');
    });
  });
}
