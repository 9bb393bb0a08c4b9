import type { AgentSession } from '../../adapters/core/agent-session.ts';
import { describeConstraints } from '../../adapters/core/describe-constraints.ts';
import type { McpReading } from '../../adapters/mcp/mcp-reading.ts';
import { asJson } from '../../base/json.ts';
import { buildThread } from '../../evidence/threads.ts';
import { openEvidence } from '../../open-evidence.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { SessionPin } from '../../session/pin.ts';
import { getOwn } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { outlineVisits } from '../../view/outline-thread.ts';
import { readPinOrReason, withExistingSessions } from '../choose-sessions.ts';
import type { Io } from '../io.ts';
import { findSession } from '../open-store.ts';
import { renderThread } from '../thread/render-thread.ts';

const COLUMNS = 120;

/** The data that MCP clients may read about a session, from the evidence; the session may be in any process. */
export function createSessionReading(io: Io, root: string, session: AgentSession): McpReading {
  const reading = <T>(use: (store: EvidenceStore) => Promise<T>): Promise<T> => readStore(io, root, use);
  const pin = () => readPinOfSession(io, root, session);
  // The store stays open, because it is read four times a second.
  let open: EvidenceStore | null = null;
  const store = (): EvidenceStore => (open ??= openEvidence(root, io.env, 'read', { readOnly: true }));
  const { id } = session;
  const spec = async (): Promise<SpecSet> => (await pin()).specs;
  return {
    spec,
    async thread() {
      const specs = await spec();
      const entries = await reading((store) => Array.fromAsync(store.entries(id), ({ entry }) => entry));
      const subject = { type: 'session' as const, id };
      const thread = buildThread(entries, subject, { now: Date.now(), staleAfter: 24 * 3_600_000 });
      const order = (tool: string) => getOwn(specs.tools, tool)?.parameters.map(({ name }) => name) ?? null;
      return renderThread({ ...io, color: false }, outlineVisits(thread?.entries ?? entries, order), COLUMNS);
    },
    inbox: async () => (await store().messages?.inbox(`session:${id}`, { unread: true, limit: 1000 })) ?? [],
    last: async () => (await store().head(id)).seq,
    async message(id) {
      const { messages } = store();
      const message = await messages?.find(id);
      return message ? { message, answer: (await messages?.answerTo(id)) ?? null } : null;
    },
    async constraints(peripheral) {
      const { specs, config } = await pin();
      return asJson(describeConstraints(specs, config, peripheral));
    },
  };
}

const readStore = <T>(io: Io, root: string, use: (store: EvidenceStore) => Promise<T>): Promise<T> =>
  withExistingSessions(io, root, use, 'read', new Error(`the evidence of ${root} is gone`));

export const readPinOfSession = (io: Io, root: string, { id }: Pick<AgentSession, 'id'>): Promise<SessionPin> =>
  readStore(io, root, async (store) => {
    const read = await readPinOrReason(store, findSession(await store.sessions(), id));
    if (typeof read === 'string') throw new Error(read);
    return read;
  });
