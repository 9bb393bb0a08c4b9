import { compileSpecTables, type SpecTables } from '../compile/spec-tables.ts';
import { defaultBackends } from '../default-backends.ts';
import { availableActions } from '../gate/available-actions.ts';
import { decide } from '../gate/decide.ts';
import type { Available, Denial } from '../gate/denial.ts';
import { denialOf, type Request } from '../gate/request.ts';
import type { SessionView } from '../gate/session-view.ts';
import { whoRevokedGrant } from '../operator/revoked-grants.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { SessionPin } from '../session/pin.ts';
import { readResumePoint } from '../session/resume-point.ts';
import { type SessionStatus, sessionStatusOf } from '../session/session-status.ts';
import { foldToEnd } from '../session/state/fold-entries.ts';
import { initialSessionState, type SessionState } from '../session/state/session-state.ts';
import { addUnrecorded, sessionViewOf, viewOfNextCall } from '../session/state/view-of-state.ts';
import type { ToolSpec } from '../spec/types.ts';
import type { EvidenceOfAllRepositories, RepositoryEvidence } from './all-evidence.ts';
import { keepRecent } from './keep-recent.ts';

const MAX_SESSIONS = 200;

/**
 * Reads a session's state from its evidence. It takes no lease, so another process can write the session meanwhile. The
 * evidence does not say which tools the writer's own backends serve: a tool without an upstream counts as served.
 */
export class SessionReader {
  readonly pin: SessionPin;
  readonly #tables: SpecTables;
  readonly #unserved: ReadonlySet<string>;
  readonly #stateDir: string;
  #state: SessionState;

  private constructor(
    pin: SessionPin,
    stateDir: string,
    sessionId: string,
    state: SessionState | null,
    served: ReadonlySet<string>,
  ) {
    this.pin = pin;
    this.#stateDir = stateDir;
    this.#tables = compileSpecTables(pin.specs);
    this.#state = state ?? initialSessionState(this.#tables, sessionId);
    const isUnserved = ([id, { upstream }]: readonly [string, ToolSpec]): boolean => !!upstream && !served.has(id);
    this.#unserved = new Set(
      Object.entries(pin.specs.tools)
        .filter(isUnserved)
        .map(([id]) => id),
    );
  }

  /**
   * Reads a session until its newest entry.
   * @param pin the session's pin, if the caller has it
   * @throws StoreError if the session was erased; FoldError if entries were changed or removed
   */
  static async open(
    { store, stateDir }: Pick<RepositoryEvidence, 'store' | 'stateDir'>,
    sessionId: string,
    pin?: SessionPin,
  ): Promise<SessionReader> {
    const point = await readResumePoint(store, sessionId);
    const shared = pin ?? point.pin;
    const served = defaultBackends(store, { unsafeNoSandbox: false, ...shared }).flatMap(({ tools }) => tools);
    const reader = new SessionReader(shared, stateDir, sessionId, point.state, new Set(served));
    await reader.catchUp(store);
    return reader;
  }

  /** Updates the state with the entries that were stored since the last call. @throws FoldError */
  async catchUp(store: EvidenceStore): Promise<void> {
    this.#state = await foldToEnd(store, this.#tables, this.#state);
  }

  get seq(): number {
    return this.#state.head.seq;
  }

  get view(): SessionView {
    const view = sessionViewOf(this.#tables, this.#state, Date.now());
    const { config } = this.pin;
    const revokedBy = (grant: string) => whoRevokedGrant(this.#stateDir, grant);
    const seen = addUnrecorded(view, { unserved: this.#unserved, config, revokedBy });
    return viewOfNextCall(this.#tables, this.#state, seen);
  }

  get status(): SessionStatus {
    return sessionStatusOf(this.view);
  }

  get available(): Available {
    return availableActions(this.pin.specs, this.view);
  }

  /** The denial that a request would get; null if it would be allowed. A dry run: nothing is recorded. */
  why(request: Request): Denial | null {
    const { specs, config } = this.pin;
    const { unsafeNoSandbox } = this.#state.facts;
    return denialOf(decide({ specs, config, view: this.view, unsafeNoSandbox }, request));
  }
}

/** The readers of the most recently requested sessions. */
export class SessionReaders {
  readonly #allEvidence: EvidenceOfAllRepositories;
  readonly #readers = new Map<string, Promise<SessionReader>>();

  constructor(allEvidence: EvidenceOfAllRepositories) {
    this.#allEvidence = allEvidence;
  }

  /**
   * Reads a session up to its newest entry.
   * @throws ApiError `unknown-session`, `erased`, `foreign-session`. FoldError if its evidence was altered
   */
  async read(sessionId: string): Promise<SessionReader> {
    const { store } = await this.#allEvidence.ownSession(sessionId);
    const known = this.#readers.get(sessionId);
    const turn = (known ?? this.#open(sessionId)).then(async (reader) => {
      await reader.catchUp(store);
      return reader;
    });
    return keepRecent(this.#readers, sessionId, turn, MAX_SESSIONS);
  }

  async #open(sessionId: string): Promise<SessionReader> {
    const repository = await this.#allEvidence.ownSession(sessionId);
    return SessionReader.open(repository, sessionId, await this.#allEvidence.pinOf(sessionId));
  }
}
