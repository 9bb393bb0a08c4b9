import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { realpathIfAny } from '../base/files.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { openEvidence, openEvidenceFile } from '../open-evidence.ts';
import { type EvidenceStore, type SessionSummary, StoreError } from '../ports/evidence-store.ts';
import { findEvidenceIn } from '../project/state-dir.ts';
import { readSessionOpenBody, readStoredPin, type SessionPin } from '../session/pin.ts';
import { type ArrivalOrder, openArrivalOrder } from '../stores/arrival-order.ts';
import { ApiError, unknownSessionError } from './api-error.ts';
import { keepRecent } from './keep-recent.ts';

export interface RepositoryEvidence {
  /** The name of the repository's state folder: the first 16 hex digits of the sha256 of its root. */
  readonly key: string;
  readonly stateDir: string;
  /** The store. A failed write ends a store, so the next access opens it again. */
  readonly store: EvidenceStore;
  readonly arrivals: ArrivalOrder;
}

/** A session of any repository: its summary, its repository and its root. */
export interface LocatedSession {
  readonly repository: RepositoryEvidence;
  readonly summary: SessionSummary;
  /** Absolute path of the repository; null for an erased session, and for evidence that another program recorded. */
  readonly root: string | null;
}

/** How long the list of repositories is cached, in milliseconds. */
const LIST_CACHE_MS = 250;
const MAX_PINS = 50;

/** The evidence of every repository of this user, which all processes of the user write. */
export class EvidenceOfAllRepositories {
  readonly #env: Env;
  readonly #home: string;
  readonly #open = new Map<string, RepositoryEvidence>();
  readonly #repositoryBySession = new Map<string, RepositoryEvidence>();
  readonly #roots = new Map<string, string | null>();
  readonly #pins = new Map<string, Promise<SessionPin>>();
  #readAt = 0;

  constructor(env: Env) {
    this.#env = env;
    this.#home = userStateFolder(env);
  }

  /** The repositories that have evidence. New ones are found within a quarter of a second. */
  repositories(): readonly RepositoryEvidence[] {
    if (Date.now() - this.#readAt >= LIST_CACHE_MS) {
      this.#readAt = Date.now();
      const names = existsSync(this.#home) ? readdirSync(this.#home) : [];
      for (const name of names) if (/^[0-9a-f]{16}$/.test(name)) this.#add(name);
    }
    return [...this.#open.values()];
  }

  #add(key: string): void {
    const stateDir = join(this.#home, key);
    if (this.#open.has(key)) return;
    try {
      const file = findEvidenceIn(stateDir);
      if (file === null) return;
      let store = openEvidenceFile(file, 'create');
      const reopened = (): EvidenceStore => {
        try {
          const next = openEvidenceFile(file, 'create');
          void store.close();
          return next;
        } catch {
          return store; // The failed store can still be read.
        }
      };
      this.#open.set(key, {
        key,
        stateDir,
        arrivals: openArrivalOrder(file),
        get store() {
          if (store.failed) store = reopened();
          return store;
        },
      });
    } catch {
      // A damaged file, or a file of another version of hopgate, must not hide the other repositories.
    }
  }

  repositoriesOf(root: string | undefined): readonly RepositoryEvidence[] {
    const all = this.repositories();
    if (root === undefined) return all;
    const wanted = keyOf(realpathIfAny(root) ?? root); // A removed repository still has its evidence.
    return all.filter(({ key }) => key === wanted);
  }

  /** Creates the evidence of a repository that has no session yet. @throws ProjectError, StoreError */
  createRepository(root: string): RepositoryEvidence {
    void openEvidence(root, this.#env, 'create').close();
    this.#readAt = 0;
    return this.repositoriesOf(root)[0]!;
  }

  /** @throws ApiError `unknown-session` */
  async repositoryOf(sessionId: string): Promise<RepositoryEvidence> {
    const known = this.#repositoryBySession.get(sessionId);
    if (known) return known;
    this.#readAt = 0;
    for (const repository of this.repositories()) {
      if ((await repository.store.head(sessionId)).seq < 0) continue;
      this.#repositoryBySession.set(sessionId, repository);
      return repository;
    }
    throw unknownSessionError(sessionId);
  }

  /**
   * The root of a session's repository; null for an erased or unreadable session, and for a session of another program.
   */
  async rootOf(sessionId: string): Promise<string | null> {
    const known = this.#roots.get(sessionId);
    if (known !== undefined) return known;
    const { store, key } = await this.repositoryOf(sessionId);
    // A first entry that cannot be read must not hide the other sessions.
    const opened = await readSessionOpenBody(store, sessionId).catch((error: Error) => error);
    if (opened instanceof Error) return null;
    // A state folder is named after its root; evidence that names another root does not belong to it.
    const root = opened && keyOf(opened.root) === key ? opened.root : null;
    this.#roots.set(sessionId, root);
    return root;
  }

  /**
   * The root, the store and the state folder of a session that hopgate recorded.
   * @throws ApiError `unknown-session`, `erased`, `foreign-session`
   */
  async ownSession(
    sessionId: string,
  ): Promise<{ readonly root: string } & Pick<RepositoryEvidence, 'store' | 'stateDir'>> {
    const { store, stateDir } = await this.repositoryOf(sessionId);
    const root = await this.rootOf(sessionId);
    if (root !== null) return { root, store, stateDir };
    for await (const { body } of store.entries(sessionId)) {
      if (body === null)
        throw new ApiError('erased', `session ${sessionId} was erased`, 'Only its chain can still be verified.');
      break;
    }
    throw new ApiError(
      'foreign-session',
      `another program wrote session ${sessionId}, so it has no spec`,
      'Read its evidence, its thread and its activity instead.',
    );
  }

  /**
   * The pin of a session; sessions with the same pin share one value.
   * @throws ApiError as {@link EvidenceOfAllRepositories.ownSession}
   */
  async pinOf(sessionId: string): Promise<SessionPin> {
    const { store } = await this.ownSession(sessionId);
    const opened = await readSessionOpenBody(store, sessionId);
    if (opened === null) throw unknownSessionError(sessionId);
    const pin = this.#pins.get(opened.pin) ?? readStoredPin(store, opened.pin);
    return keepRecent(this.#pins, opened.pin, pin, MAX_PINS);
  }

  /** All sessions, newest first. `root` limits them to one repository. */
  async sessions(root?: string): Promise<readonly LocatedSession[]> {
    const found: LocatedSession[] = [];
    for (const repository of this.repositoriesOf(root)) {
      for (const summary of await repository.store.sessions()) {
        this.#repositoryBySession.set(summary.sessionId, repository);
        found.push({ repository, summary, root: await this.rootOf(summary.sessionId) });
      }
    }
    return found.sort((a, b) => b.summary.openedAt.localeCompare(a.summary.openedAt));
  }

  async close(): Promise<void> {
    for (const { store, arrivals } of this.#open.values()) {
      arrivals.close();
      await store.close();
    }
    this.#open.clear();
  }
}

/** Reads sessions; `unreadable` lists the sessions with an entry that cannot be read. */
export async function readEachSession<T>(
  sessions: readonly LocatedSession[],
  read: (session: LocatedSession) => Promise<T>,
): Promise<{ readonly found: readonly T[]; readonly unreadable: readonly string[] }> {
  const unreadable: string[] = [];
  const found = await Promise.all(
    sessions.map(async (session) => {
      try {
        return [await read(session)];
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        unreadable.push(session.summary.sessionId);
        return [];
      }
    }),
  );
  return { found: found.flat(), unreadable };
}

const keyOf = (root: string): string => hash('sha256', root).slice(0, 16);
