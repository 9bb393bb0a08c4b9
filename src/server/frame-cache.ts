import { compileSpecTables } from '../compile/spec-tables.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { SessionPin } from '../session/pin.ts';
import { foldToEnd } from '../session/state/fold-entries.ts';
import { readStoredState } from '../session/state/stored-state.ts';
import type { SpecSet } from '../spec/types.ts';
import { SessionFrames } from '../view/session-frames.ts';
import type { ViewFrame, ViewGraph } from '../view/view-state.ts';
import type { EvidenceOfAllRepositories } from './all-evidence.ts';
import { CompressedViewFrames, type NewestFrames } from './compressed-frames.ts';
import type { openGraphCache } from './graph-cache.ts';
import { keepRecent } from './keep-recent.ts';

/** Maximum number of sessions whose frames are kept; the least recently requested session is dropped first. */
const MAX_SESSIONS = 128;
/** A session with more entries than this is read from its end first. */
const LONG_SESSION = 2_000;
/** The number of newest rows that a page of a long session shows first. */
export const NEWEST_ROW_COUNT = 200;

/** The most recently requested frames and graphs. */
export class FrameCache {
  readonly #allEvidence: EvidenceOfAllRepositories;
  readonly #graphOf: ReturnType<typeof openGraphCache>;
  readonly #sessions = new Map<string, Promise<CompressedViewFrames>>();

  constructor(allEvidence: EvidenceOfAllRepositories, graphOf: ReturnType<typeof openGraphCache>) {
    this.#allEvidence = allEvidence;
    this.#graphOf = graphOf;
  }

  /** The frames of a session up to this moment. @throws ApiError as `EvidenceOfAllRepositories.ownSession` */
  async of(sessionId: string): Promise<CompressedViewFrames> {
    const cached = this.#sessions.get(sessionId) ?? this.#begin(sessionId);
    const frames = await keepRecent(this.#sessions, sessionId, cached, MAX_SESSIONS);
    await frames.catchUp();
    return frames;
  }

  async #begin(sessionId: string): Promise<CompressedViewFrames> {
    const { store } = await this.#allEvidence.ownSession(sessionId);
    const pin = await this.#allEvidence.pinOf(sessionId);
    return new CompressedViewFrames(
      store,
      sessionId,
      new SessionFrames(pin, sessionId),
      await tailOf(store, pin, sessionId),
    );
  }

  /** The laid out hop graph of the spec set that a session is pinned to. */
  async graph(sessionId: string): Promise<{ readonly graph: ViewGraph; readonly specs: SpecSet }> {
    const { specs } = await this.#allEvidence.pinOf(sessionId);
    return { graph: await this.#graphOf(specs), specs };
  }
}

/** The tail of a long session; null if the session is short or altered, or no state is stored near its end. */
async function tailOf(store: EvidenceStore, pin: SessionPin, sessionId: string): Promise<NewestFrames | null> {
  const { seq } = await store.head(sessionId);
  if (seq < LONG_SESSION) return null;
  const storedState = await readStoredState(store, sessionId);
  if (storedState === null || seq - storedState.state.head.seq > LONG_SESSION) return null;
  const tables = compileSpecTables(pin.specs);
  const state = await foldToEnd(store, tables, storedState.state).catch(() => null);
  if (state === null) return null;
  const end = state.head.seq;
  const from = Math.max(0, end - NEWEST_ROW_COUNT + 1);
  const view = new SessionFrames(pin, sessionId, { state, from });
  const past: ViewFrame[] = [];
  for await (const stored of store.entries(sessionId, { from })) {
    if (stored.entry.seq > end) break;
    past.push(view.addPast(stored));
  }
  return { view, before: view.state, end, past };
}
