import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDecoder, readVarUint } from 'lib0/decoding';
import { createEncoder, type Encoder, length, toUint8Array, writeVarUint } from 'lib0/encoding';
import { type WebSocket, WebSocketServer } from 'ws';
import { readSyncMessage, writeSyncStep1, writeUpdate } from 'y-protocols/sync';
import type { Doc } from 'yjs';
import { guardUpgrade } from '../../base/http.ts';
import { type Database, loadNodeSqlite, switchToWriteAheadLog } from '../../stores/sqlite/node-sqlite.ts';
import { withSqliteErrors } from '../../stores/sqlite/sqlite-error.ts';
import {
  loadYjs,
  type ReviewContributions,
  type ReviewFacts,
  reviewContributionsOf,
  reviewFactsOf,
  setReviewFacts,
} from './review-document.ts';

/** The number that marks a sync message in y-websocket. Messages of other types, such as awareness, are ignored. */
const SYNC = 0;
const MAX_BYTES = 8 << 20;
const MAX_CONNECTIONS = 256;
/** How long a statement waits for another process's lock, in milliseconds. */
const BUSY_MS = 5_000;

interface DocumentServerOptions {
  readonly file: string;
  /** The name of the document: the path of its address. */
  readonly name: string;
  readonly host: string;
  /**
   * The port to listen on. null for the port of an earlier start of the review if it is free, otherwise for any free
   * port.
   */
  readonly port: number | null;
  /** True if the holder of this token may read and write. */
  readonly admits: (token: string) => boolean;
}

export interface ReviewDocumentServer {
  readonly host: string;
  readonly port: number;
  facts(): ReviewFacts;
  keepFacts(facts: ReviewFacts): void;
  contributions(): ReviewContributions;
  /** Resolves when the agent's contribution is on disk. @throws Error if the disk refuses it */
  contributionStored(agent: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves a shared yjs document over the protocol of y-websocket. Each update is on disk before another replica gets it,
 * so a killed server continues with the same document.
 * @throws Error with the system's code if it cannot listen
 */
export async function serveReviewDocument(options: DocumentServerOptions): Promise<ReviewDocumentServer> {
  const { file, name, host, port, admits } = options;
  const { applyUpdate, Doc } = await loadYjs();
  const db = withSqliteErrors('use', file, () => openUpdates(file));
  const doc = new Doc();
  for (const { data } of db.prepare('SELECT data FROM updates WHERE document = ? ORDER BY rowid').all(name))
    applyUpdate(doc, data as Uint8Array);
  const insert = db.prepare('INSERT INTO updates (document, data) VALUES (?, ?)');
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BYTES });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  doc.on('update', (data: Uint8Array) => {
    try {
      withSqliteErrors('use', file, () => insert.run(name, data));
    } catch (error) {
      failed.reject(error);
      throw error;
    }
    const message = syncMessage((encoder) => writeUpdate(encoder, data));
    for (const socket of sockets.clients) socket.send(message);
  });
  const server = createServer((_, response) => response.writeHead(426).end('This address speaks WebSocket only.\n'));
  server.on('upgrade', (request, socket, head) => {
    guardUpgrade(socket);
    const status = refusal(request, name, admits) ?? (sockets.clients.size >= MAX_CONNECTIONS ? 503 : null);
    if (status !== null) return void socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (made) => synchronise(made, doc));
  });
  if (port !== null) await listenAt(server, host, port);
  else await listenAt(server, host, reviewFactsOf(doc).port ?? 0).catch(() => listenAt(server, host, 0));
  const bound = (server.address() as AddressInfo).port;
  setReviewFacts(doc, { port: bound });
  return {
    host,
    port: bound,
    facts: () => reviewFactsOf(doc),
    keepFacts: (facts) => setReviewFacts(doc, facts),
    contributions: () => reviewContributionsOf(doc),
    contributionStored: (agent) => Promise.race([failed.promise, contributionArrived(doc, agent)]),
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      db.close();
      doc.destroy();
    },
  };
}

function openUpdates(file: string): Database {
  const db = new (loadNodeSqlite().DatabaseSync)(file);
  switchToWriteAheadLog(db, BUSY_MS);
  db.exec(
    `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS updates (document TEXT NOT NULL, data BLOB NOT NULL) STRICT`,
  );
  return db;
}

const contributionArrived = (doc: Doc, agent: string): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (reviewContributionsOf(doc)[agent] === undefined) return;
      doc.off('update', look);
      resolve();
    };
    doc.on('update', look);
    look();
  });

const listenAt = (server: Server, host: string, port: number): Promise<unknown> =>
  once(server.listen(port, host), 'listening');

/** The HTTP status for a refused connection; null if it is accepted. A browser, which sends an `Origin`, is refused. */
function refusal({ url, headers }: IncomingMessage, name: string, admits: (token: string) => boolean): number | null {
  if (headers.origin !== undefined) return 403;
  if (!admits(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '')) return 401;
  return url === `/${encodeURIComponent(name)}` ? null : 404;
}

/** Synchronises a replica with the document. An invalid message closes the connection. */
function synchronise(socket: WebSocket, doc: Doc): void {
  socket.on('error', () => socket.terminate());
  socket.on('message', (data: Buffer) => {
    try {
      const decoder = createDecoder(new Uint8Array(data));
      if (readVarUint(decoder) !== SYNC) return;
      const answer = createEncoder();
      writeVarUint(answer, SYNC);
      readSyncMessage(decoder, answer, doc, socket, (error) => {
        throw error;
      });
      if (length(answer) > 1) socket.send(toUint8Array(answer));
    } catch {
      socket.close(1002, 'this is not a message of the sync protocol');
    }
  });
  socket.send(syncMessage((encoder) => writeSyncStep1(encoder, doc)));
}

function syncMessage(write: (encoder: Encoder) => void): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, SYNC);
  write(encoder);
  return toUint8Array(encoder);
}
