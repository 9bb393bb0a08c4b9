import { getOrInsert } from '../base/get-or-insert.ts';
import { resultWithin } from '../base/limited-wait.ts';
import { openEvidence } from '../open-evidence.ts';
import type { OpenOptions } from '../open-options.ts';
import { openSession, randomIds } from '../open-session.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { Session } from '../session/session.ts';
import { isLockError } from '../stores/sqlite/node-sqlite.ts';
import type { SessionHostOptions } from './conversations/session-host-options.ts';

/** Interval of attempts for a session that another process writes, in milliseconds. */
const RETRY_MS = 20;

type OpenSessionsOptions = Omit<SessionHostOptions, 'waitMs' | 'runCommand'>;

export type SessionOpeningOptions = Omit<OpenOptions, 'store' | 'backends' | 'telemetry'>;
type NamedOpeningOptions = SessionOpeningOptions & { readonly session: string };

interface HeldSession {
  readonly session: Promise<Session>;
  readonly root: string;
  users: number;
  queue: Promise<unknown>;
  /** The current work and its start time, for the error message of callers that wait too long. */
  busy: { readonly what: string; readonly since: number } | null;
  idle: NodeJS.Timeout | null;
}

/** Thrown if the session was busy with other work until the deadline. */
export class SessionBusyError extends Error {
  override readonly name = 'SessionBusyError';
}

/** The open sessions of all roots. Each is opened on demand and released when idle. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #held = new Map<string, HeldSession>();
  readonly #stores = new Map<string, EvidenceStore>();
  /** The id of the lease holder of each open session. */
  readonly #writers = new Map<string, string>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
  }

  store(root: string): EvidenceStore {
    const { env, checkpointPages } = this.#options;
    return getOrInsert(this.#stores, root, () =>
      openEvidence(root, env, 'create', checkpointPages === undefined ? {} : { checkpointPages }),
    );
  }

  /** Opens a new session and keeps it open as {@link OpenSessions.use} does. If `begin` fails, it is closed. */
  async open(opening: SessionOpeningOptions, begin: (session: Session) => Promise<void>): Promise<Session> {
    const session = await this.#open(opening);
    try {
      await begin(session);
    } catch (error) {
      await session.close('its first visit could not begin');
      await session.detach();
      throw error;
    }
    this.#held.set(session.id, this.#heldSession(Promise.resolve(session), opening.root));
    await this.#afterUse(session.id);
    return session;
  }

  /**
   * Calls `work` with a session whose lease is held; one caller at a time.
   * @param what describes the work in the error of callers that wait for it
   * @param deadline epoch milliseconds. @throws SessionBusyError if other work has not finished by then
   */
  async use<T>(
    opening: NamedOpeningOptions,
    { what, deadline }: { readonly what: string; readonly deadline: number },
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    return this.#whileHeld(opening, async (held) => {
      const turn = held.queue.then(
        () => true,
        () => true,
      );
      let endTurn = () => {};
      held.queue = turn.then(() => new Promise<void>((resolve) => (endTurn = resolve)));
      if (!(await resultWithin(deadline - Date.now(), turn, false))) {
        void turn.then(() => endTurn());
        throw busyError(held);
      }
      held.busy = { what, since: Date.now() };
      try {
        const session = await held.session;
        await this.#attach(session, deadline);
        return await work(session);
      } finally {
        held.busy = null;
        endTurn();
      }
    });
  }

  /** Calls `work` with a session at once, even if other work uses it. Its tool calls then wait, but reads do not. */
  async join<T>(opening: NamedOpeningOptions, deadline: number, work: (session: Session) => Promise<T>): Promise<T> {
    return this.#whileHeld(opening, async (held) => {
      const session = await held.session;
      if (!held.busy) await this.#attach(session, deadline);
      return work(session);
    });
  }

  /** Sessions that are open now, by id. */
  get held(): readonly { readonly id: string; readonly root: string; readonly busy: string | null }[] {
    return [...this.#held].map(([id, { root, busy }]) => ({ id, root, busy: busy?.what ?? null }));
  }

  /** Waits for running work, then releases the sessions. Leaves the stores open; only for a process that exits next. */
  async releaseAll(): Promise<void> {
    for (const id of [...this.#held.keys()]) await this.#release(id);
  }

  /** Waits for running work, then closes sessions and stores. */
  async close(): Promise<void> {
    await this.releaseAll();
    for (const store of this.#stores.values()) await store.close();
    this.#stores.clear();
  }

  async #open(opening: SessionOpeningOptions): Promise<Session> {
    const { telemetry = false } = this.#options;
    const writer = this.#writers.get(opening.session ?? '') ?? randomIds.next('writer');
    const session = await openSession({
      ...opening,
      store: this.store(opening.root),
      ids: { next: (kind) => (kind === 'writer' ? writer : (opening.ids ?? randomIds).next(kind)) },
      telemetry,
    });
    this.#writers.set(session.id, writer);
    return session;
  }

  /** Calls `work` with an open session, which stays open until `work` ends. */
  async #whileHeld<T>(opening: NamedOpeningOptions, work: (held: HeldSession) => Promise<T>): Promise<T> {
    const held = this.#beginUse(opening);
    try {
      return await work(held);
    } catch (error) {
      this.#dropFailedStore(opening.root, error);
      throw error;
    } finally {
      held.users--;
      await this.#afterUse(opening.session);
    }
  }

  #beginUse(opening: NamedOpeningOptions): HeldSession {
    const held = getOrInsert(this.#held, opening.session, () => this.#heldSession(this.#open(opening), opening.root));
    held.session.catch(() => this.#held.delete(opening.session));
    if (held.idle) clearTimeout(held.idle);
    held.idle = null;
    held.users++;
    return held;
  }

  /** Takes the lease, with retries until the deadline. After the deadline, the session refuses the work as busy. */
  async #attach(session: Session, deadline: number): Promise<void> {
    for (;;) {
      const attached = await session.attach();
      if (attached.ok || attached.denial.code !== 'session-busy' || Date.now() >= deadline) return;
      await this.#options.onHeldElsewhere?.();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #heldSession(session: Promise<Session>, root: string): HeldSession {
    return { session, root, users: 0, queue: Promise.resolve(), busy: null, idle: null };
  }

  async #afterUse(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (!held || held.users > 0) return;
    const { keepOpenMs } = this.#options;
    // A closed session has released its lease; later requests open it again.
    const closed = await held.session.then(
      ({ state }) => state.closed,
      () => true,
    );
    if (held.users > 0 || this.#held.get(id) !== held) return;
    if (keepOpenMs === 0 || closed) return this.#release(id);
    if (held.idle) clearTimeout(held.idle);
    held.idle = setTimeout(() => void this.#releaseIdle(id, held).catch(() => {}), keepOpenMs);
    held.idle.unref();
  }

  /** Releases a session that was not used, unless a command runs in its background. */
  async #releaseIdle(id: string, { session }: HeldSession): Promise<void> {
    return (await session).runsInBackground ? this.#afterUse(id) : this.#release(id);
  }

  /**
   * Drops a store that has failed, for example on a full disk, because it accepts no more entries. The next call opens
   * its sessions again with the same lease holder, because the lease could not be released.
   */
  #dropFailedStore(root: string, error: unknown): void {
    if (!(error instanceof StoreError) || error.code !== 'store-failed' || isLockError(error.cause)) return;
    const store = this.#stores.get(root);
    this.#stores.delete(root);
    const sessions = [...this.#held].filter(([, held]) => held.root === root);
    for (const [id, { idle }] of sessions) {
      this.#held.delete(id);
      if (idle) clearTimeout(idle);
    }
    const detached = sessions.map(([, { session }]) => session.then((each) => each.detach()));
    void Promise.allSettled(detached).then(() => store?.close().catch(() => {}));
  }

  async #release(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    // A session that is opened again meanwhile gets another lease holder, so that this release cannot end its lease.
    this.#writers.delete(id);
    if (held.idle) clearTimeout(held.idle);
    await held.queue.catch(() => {});
    const session = await held.session.catch(() => null);
    await session?.detach();
  }
}

function busyError({ busy }: HeldSession): SessionBusyError {
  const since = busy ? Math.max(1, Math.round((Date.now() - busy.since) / 1000)) : 0;
  const what = busy ? `${busy.what} has been running in this session for ${since} s` : 'this session is busy';
  return new SessionBusyError(`${what}; wait until that has finished, then make the call again`);
}
