import { hash, randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { Doc } from 'yjs';
import type { Json } from '../../spec/types.ts';
import type { RunReply } from '../run-reply.ts';
import type { RunRequest } from '../run-request.ts';
import { type AllAgentsResult, runWithAllAgents } from '../run-with-all-agents.ts';
import { loadYjs, setReviewContribution } from './review-document.ts';
import type { ReviewDocumentServer } from './serve-document.ts';

interface ParticipantRuns {
  readonly agents: readonly string[];
  /** The name of the review, and of its document. */
  readonly par: string;
  readonly title: string;
  readonly session: string;
  readonly document: ReviewDocumentServer;
  /** True if this review was started before. An agent that failed is then started again. */
  readonly continued: boolean;
  /** The token with which replicas join the document. */
  readonly token: string;
  /** Runs one agent once for each key. */
  readonly run: (request: RunRequest, key: string) => Promise<RunReply>;
  /** Called when an agent's answer is on disk, or its run failed. */
  readonly onReply?: (agent: string, reply: RunReply) => void;
}

/**
 * Runs agents in parallel in the peripheral `par-participant`, and adds the answer of each to the shared document.
 * Resolves when every answer is on disk. The same `par` continues an interrupted review: an agent that has answered is
 * not started again.
 */
export function runReviewParticipants({
  agents,
  par,
  title,
  session,
  document,
  continued,
  token,
  run,
  onReply,
}: ParticipantRuns): Promise<AllAgentsResult> {
  const inputs: { [name: string]: Json } = {
    'par/title': title,
    'par/crdt-host': document.host,
    'par/crdt-port': document.port,
    'session/id': session,
  };
  const digest = hash('sha256', JSON.stringify(inputs)).slice(0, 16);
  return runWithAllAgents(agents, async (agent) => {
    const known = document.contributions()[agent];
    if (known !== undefined) return { ok: true, response: known, meta: { 'agent-id': agent, 'duration-ms': 0 } };
    const request = { 'agent-id': agent, peripheral: 'par-participant', inputs };
    const key = `${par}.${agent}.${digest}`;
    const first = await run(request, key);
    // A participant has no tools, so starting it again repeats no effect.
    const again = !first.ok && (continued || first.error.code === 'run-interrupted');
    const reply = again ? await run(request, `${key}.${randomUUID()}`) : first;
    if (reply.ok) {
      const { response } = reply;
      const text = typeof response === 'string' ? response : JSON.stringify(response);
      const replica = await joinReviewDocument(`ws://${hostIn(document.host)}:${document.port}`, par, token);
      setReviewContribution(replica.doc, agent, text);
      await document.contributionStored(agent);
      replica.leave();
    }
    onReply?.(agent, reply);
    return reply;
  });
}

const hostIn = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Joins a shared document. Resolves when the replica is complete. Reconnects until `leave` is called. */
export async function joinReviewDocument(
  url: string,
  par: string,
  token: string,
): Promise<{ readonly doc: Doc; leave(): void }> {
  const [{ Doc }, { WebsocketProvider }] = await Promise.all([loadYjs(), import('y-websocket')]);
  class Authenticated extends WebSocket {
    constructor(address: string | URL) {
      super(address, { headers: { Authorization: `Bearer ${token}` } });
    }
  }
  const doc = new Doc();
  const provider = new WebsocketProvider(url, encodeURIComponent(par), doc, {
    WebSocketPolyfill: Authenticated as unknown as typeof globalThis.WebSocket,
    disableBc: true,
  });
  if (!provider.synced) await new Promise<void>((resolve) => provider.once('sync', () => resolve()));
  return {
    doc,
    leave() {
      provider.destroy();
      doc.destroy();
    },
  };
}
