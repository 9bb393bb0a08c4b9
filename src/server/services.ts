import { join } from 'node:path';
import type { AgencyNode } from '../agency/agency-node.ts';
import { DialIns } from '../agency/dial-in.ts';
import { agencyFolder, openAgencyNode } from '../agency/open-node.ts';
import type { Env } from '../base/user-folders.ts';
import type { SessionHost } from '../daemon/session-host.ts';
import { type A2aHandler, openA2aHandler } from './a2a/a2a-handler.ts';
import { BrowserLogins } from './access/logins.ts';
import { nodeIdOfUser, type Requester, Tokens, tokenFolder } from './access/tokens.ts';
import { EvidenceOfAllRepositories } from './all-evidence.ts';
import { ApiError } from './api-error.ts';
import { FrameCache } from './frame-cache.ts';
import { openGraphCache } from './graph-cache.ts';
import { NodeMailExchange } from './messages/node-mail.ts';
import { SessionReaders } from './session-reader.ts';
import { NewEntryNotifier } from './stream/entry-feed.ts';

/** Maximum number of open event streams: of all clients, and of the agent of one session. */
const MAX_STREAMS = 256;
const MAX_SESSION_STREAMS = 16;

/** Numbers for `metrics`, since the start. */
interface Counters {
  readonly requests: Map<string, number>;
  denials: number;
  streams: number;
  /** The number of open streams of each session's agent. */
  readonly streamsOf: Map<string, number>;
}

export interface ServerServices {
  readonly env: Env;
  readonly version: string;
  readonly startedAt: number;
  /** The daemon's host of sessions, which hooks, MCP servers and this server share. */
  readonly host: SessionHost;
  readonly allEvidence: EvidenceOfAllRepositories;
  readonly readers: SessionReaders;
  readonly frames: FrameCache;
  readonly feed: NewEntryNotifier;
  readonly tokens: Tokens;
  readonly logins: BrowserLogins;
  /** Runs agents, here and on other nodes. */
  readonly agency: AgencyNode;
  readonly dialIns: DialIns;
  /** The messages from and to other nodes. */
  readonly mail: NodeMailExchange;
  /** Serves the agency by the A2A protocol; opened at the first use. */
  readonly a2a: () => Promise<A2aHandler>;
  readonly counters: Counters;
  readonly ending: AbortSignal;
}

/** Makes the services of one server. `close` closes their stores and stops their work. */
export function makeServerServices(
  parts: Pick<ServerServices, 'env' | 'version' | 'host' | 'ending'> & {
    /** The agency folder. Default: this user's. */
    readonly agencyFolder?: string;
  },
): ServerServices & { readonly close: () => Promise<void> } {
  const allEvidence = new EvidenceOfAllRepositories(parts.env);
  const feed = new NewEntryNotifier(allEvidence);
  const dialIns = new DialIns();
  const { env, agencyFolder: folder = agencyFolder(env) } = parts;
  const agency = openAgencyNode({ env, dialIns, id: nodeIdOfUser(env), folder });
  let a2a: Promise<A2aHandler> | null = null;
  return {
    ...parts,
    allEvidence,
    feed,
    startedAt: Date.now(),
    readers: new SessionReaders(allEvidence),
    frames: new FrameCache(allEvidence, openGraphCache(join(tokenFolder(env), 'graphs'))),
    tokens: new Tokens(parts.env),
    logins: new BrowserLogins(),
    agency,
    dialIns,
    mail: new NodeMailExchange(allEvidence),
    a2a: () => (a2a ??= openA2aHandler({ env, agency, folder, version: parts.version })),
    counters: { requests: new Map(), denials: 0, streams: 0, streamsOf: new Map() },
    async close() {
      feed.stop();
      await agency.close();
      await (await a2a)?.close();
      await allEvidence.close();
    },
  };
}

/** Counts an open stream. Call the returned function when the stream ends. @throws ApiError `too-many-streams` */
export function countOpenStream({ counters }: ServerServices, who: Requester): () => void {
  const own = who.role === 'session' ? who.session : null;
  const ofSession = own === null ? 0 : (counters.streamsOf.get(own) ?? 0);
  if (counters.streams >= MAX_STREAMS || ofSession >= MAX_SESSION_STREAMS)
    throw new ApiError(
      'too-many-streams',
      `${ofSession >= MAX_SESSION_STREAMS ? ofSession : counters.streams} streams are open`,
      'Close one, then open this one again.',
    );
  const count = (by: 1 | -1): void => {
    counters.streams += by;
    if (own !== null) counters.streamsOf.set(own, (counters.streamsOf.get(own) ?? 0) + by);
    if (own !== null && counters.streamsOf.get(own) === 0) counters.streamsOf.delete(own);
  };
  count(1);
  let isOpen = true;
  return () => {
    if (isOpen) count(-1);
    isOpen = false;
  };
}
