import type { ClientConversation, ConversationRecord } from '../../adapters/core/hook-context.ts';
import { StoreError } from '../../ports/evidence-store.ts';
import type { IdGenerator } from '../../ports/ids.ts';
import { readSessionOpenBody } from '../../session/pin.ts';
import type { Session } from '../../session/session.ts';
import { chooseFirstPeripheral } from '../../spec/first-peripheral.ts';
import type { Fields, SpecSet } from '../../spec/types.ts';
import { ConversationFiles, type SessionOwner } from '../conversation-files.ts';
import { makeDaemonApprover } from '../daemon-approver.ts';
import { withFileLock } from '../file-lock.ts';
import {
  identifyThisProcess,
  isProcessRunning,
  isSameProcess,
  type ProcessIdentity,
  readProcessEnvironment,
} from '../hook/client-process.ts';
import { type OpenSessions, SessionBusyError, type SessionOpeningOptions } from '../open-sessions.ts';
import type { CallingProcess, SessionHostOptions } from './session-host-options.ts';

/** How long a hook waits for a session, in milliseconds; shorter than the hook's deadline. */
const WAIT_MS = 6_000;

/** Opens sessions for client programs, and records the program that owns each of them. */
export class OwnedSessions {
  readonly #options: SessionHostOptions;
  readonly #sessions: OpenSessions;

  constructor(options: SessionHostOptions, sessions: OpenSessions) {
    this.#options = options;
    this.#sessions = sessions;
  }

  /** Opens a session for a program that has no client, and returns its id. */
  async open(root: string, agent: string, ids?: IdGenerator): Promise<string> {
    const files = this.files(root);
    const approver = makeDaemonApprover(files, root, this.#options.env);
    const opening = { root, agent, approver, ...(ids ? { ids } : {}) };
    return (await this.#open(files, opening, null, async () => {})).sessionId;
  }

  /** Calls `work` with a session at once, even if other work uses it. Its tool calls then wait, but reads do not. */
  async join<T>(root: string, sessionId: string, work: (session: Session) => Promise<T>, waitMs?: number): Promise<T> {
    return this.#sessions.join(await this.#opening(root, sessionId), this.deadline(waitMs), work);
  }

  /**
   * Calls `work` with a session whose lease is held, one caller at a time. `what` names the work to waiting callers.
   */
  async use<T>(
    root: string,
    sessionId: string,
    what: string,
    work: (session: Session) => Promise<T>,
    waitMs?: number,
  ): Promise<T> {
    return this.#sessions.use(await this.#opening(root, sessionId), { what, deadline: this.deadline(waitMs) }, work);
  }

  async #opening(root: string, sessionId: string) {
    const files = this.files(root);
    const { agent } = await this.owner(files, root, sessionId);
    const env = () => this.#environment(files, sessionId);
    return { root, session: sessionId, agent, approver: makeDaemonApprover(files, root, this.#options.env), env };
  }

  /** The client program's environment, because the daemon may have been started from another terminal. */
  #environment(files: ConversationFiles, sessionId: string): NodeJS.ProcessEnv {
    const owner = files.owner(sessionId);
    if (owner?.parent) return this.#environment(files, owner.parent);
    for (const process of [owner?.program, owner?.client]) {
      const env = process && readProcessEnvironment(process);
      if (env) return env;
    }
    return process.env;
  }

  /** Opens the session of a client program's main agent, and starts its first visit. */
  async openMain(
    files: ConversationFiles,
    root: string,
    agent: string,
    client: ProcessIdentity | null,
    { env, observe = false }: Pick<CallingProcess, 'env' | 'observe'>,
  ): Promise<SessionOwner> {
    const opening = { root, agent, observe, approver: makeDaemonApprover(files, root, this.#options.env) };
    return this.#open(files, opening, client, (session) =>
      start(session, entryPeripheral(session.specs, env['HOPGATE_PERIPHERAL'])),
    );
  }

  async #open(
    files: ConversationFiles,
    opening: Omit<SessionOpeningOptions, 'env'>,
    client: ProcessIdentity | null,
    begin: (session: Session) => Promise<void>,
    limits: Pick<SessionOwner, 'within'> = {},
  ): Promise<SessionOwner> {
    let id: string | null = null;
    const env = () => (id === null ? process.env : this.#environment(files, id));
    const session = await this.#sessions.open({ ...opening, env }, begin);
    id = session.id;
    const parent = opening.parent ?? null;
    const owner = { sessionId: id, agent: opening.agent, parent, approve: [], client, ...limits };
    files.setOwner(owner);
    return owner;
  }

  /**
   * Opens a sub-agent's session for the newest unused delegation to the sub-agent's type. Without such a delegation,
   * the parent's envelope limits the session.
   */
  async openSubAgent(
    files: ConversationFiles,
    { root, agentId, agentType }: ClientConversation,
    parent: ConversationRecord,
  ): Promise<SessionOwner> {
    const { describeNewSubAgent } = await import('../../session/sub-agent.ts');
    const { pin, agent, peripheral, delegation } = await this.join(root, parent.sessionId, async (session) => ({
      ...describeNewSubAgent(session, agentType ?? '', (id) => files.owner(id) !== null),
      agent: `${session.state.agent}/${agentId}`,
    }));
    const opening = {
      root,
      agent,
      parent: parent.sessionId,
      ...pin,
      trustConfig: true,
      ...(delegation ? { delegation: { entry: delegation.id, session: delegation.session } } : {}),
    };
    return this.#open(
      files,
      opening,
      null,
      async (session) => {
        if (peripheral !== null) await start(session, peripheral, delegation?.context);
      },
      delegation?.within === 'own' ? { within: 'own' } : {},
    );
  }

  /** The owner of an existing session. For a session of another program, it is made from the evidence. */
  async owner(files: ConversationFiles, root: string, sessionId: string): Promise<SessionOwner> {
    const known = files.owner(sessionId);
    if (known) return known;
    const opened = await readSessionOpenBody(this.#sessions.store(root), sessionId);
    if (opened === null)
      throw new StoreError(
        'session-not-found',
        `there is no session "${sessionId}" of ${root}; unset HOPGATE_SESSION, or name one of "hopgate sessions"`,
      );
    const owner = { sessionId, agent: opened.agent, parent: null, approve: [], client: null };
    files.setOwner(owner);
    return owner;
  }

  /**
   * Records the client program of a session that another program opened, unless the session has a client program that
   * still runs.
   */
  async recordClient(files: ConversationFiles, root: string, sessionId: string, client: ProcessIdentity | null) {
    const known = await this.owner(files, root, sessionId);
    const isThere = [known.program, known.client].some((process) => process && isProcessRunning(process));
    if (client === null || isThere) return known;
    const owner = { ...known, client };
    files.setOwner(owner);
    return owner;
  }

  /**
   * Records that this program works in a session, and the destinations and modes that the operator approved in advance.
   * @throws SessionBusyError if another program has claimed the session and still runs
   */
  async claim(root: string, sessionId: string, { approve }: Pick<SessionOwner, 'approve'>): Promise<void> {
    const files = this.files(root);
    await withFileLock(files.lock, this.deadline(), async () => {
      const owner = await this.owner(files, root, sessionId);
      const [other, program] = [owner.program ?? null, identifyThisProcess()];
      if (other !== null && !isSameProcess(other, program) && isProcessRunning(other))
        throw new SessionBusyError(`process ${other.pid} already works in session ${sessionId}`);
      files.setOwner({ ...owner, approve, program });
    });
  }

  /** Records that this program has left a session; see {@link OwnedSessions.claim}. */
  async release(root: string, sessionId: string): Promise<void> {
    const files = this.files(root);
    await withFileLock(files.lock, this.deadline(), async () => {
      const owner = files.owner(sessionId);
      if (owner && isSameProcess(owner.program ?? null, identifyThisProcess()))
        files.setOwner({ ...owner, program: null });
    });
  }

  files(root: string): ConversationFiles {
    return new ConversationFiles(root, this.#options.env);
  }

  /** The time until which a call waits, in epoch milliseconds. */
  deadline(waitMs = this.#options.waitMs ?? WAIT_MS): number {
    return Date.now() + waitMs;
  }
}

async function start(session: Session, peripheral: string, context?: StartContext): Promise<void> {
  const started = await session.start(peripheral, context ? { context } : {});
  if (!started.ok) throw new Error(`${started.denial.message}; ${started.denial.remedy}`);
}

type StartContext = Fields;

/**
 * The first peripheral of a conversation: `peripheral` if it is named, otherwise a peripheral in which a session may
 * start.
 */
function entryPeripheral(specs: SpecSet, peripheral: string | undefined): string {
  const all = Object.values(specs.peripherals);
  const isDefault = all.find(({ entry }) => entry.sources.some(({ kind }) => kind === 'default'));
  const first = peripheral || (chooseFirstPeripheral(specs) ?? isDefault?.id ?? all[0]?.id);
  if (!first) throw new Error('the spec set has no peripherals');
  return first;
}
