import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ofParent } from '../adapters/core/calls/of-parent.ts';
import type { ContainedCall, Conversation, ConversationRecord, HookContext } from '../adapters/core/hook-context.ts';
import { sessionOpened } from '../adapters/core/transcript/transcript-items.ts';
import { type Env, stateHome } from '../base/state-home.ts';
import { bodyOf } from '../evidence/bodies.ts';
import type { Denial } from '../gate/denial.ts';
import type { OpenOptions } from '../open-session.ts';
import { StoreError } from '../ports/evidence-store.ts';
import type { Session } from '../session/session.ts';
import { firstPeripheral } from '../spec/first-peripheral.ts';
import type { Json, SpecSet } from '../spec/types.ts';
import { instructionProblem } from '../tools/instruction-imports.ts';
import type { LineStatus } from '../view/status-line.ts';
import { ConversationFiles, type SessionOwner, type StoredConversation, withEvent } from './conversation-files.ts';
import { exclusively } from './exclusive.ts';
import {
  ancestry,
  clientOf,
  environmentOf,
  isRunning,
  type ProcessMark,
  sameProcess,
  thisProcess,
} from './hook/client-process.ts';
import { type Opening, OpenSessions, SessionBusy } from './open-sessions.ts';
import { operatorOf } from './operator-of.ts';
import { ensurePrivateDir } from './places.ts';
import { takeRecord, writeRecord } from './record-file.ts';
import { serverName } from './server-name.ts';
import type { StatusQuery, StatusReader } from './status-line.ts';
import { subAgentSpecs } from './sub-agent-spec.ts';
import { type SessionTranscript, Transcripts } from './transcripts.ts';

/** How long a hook waits for a session, in milliseconds: shorter than its own deadline. */
const WAIT_MS = 6_000;
/** How long the folder of a root's conversations is not checked again, in milliseconds. */
const RECENT_MS = 1_000;

export interface HostOptions {
  /** The variables that locate the state: `XDG_STATE_HOME`, `HOME`. */
  readonly env: Env;
  /** How long a session stays open and leased after its last use, in milliseconds; 0 closes it at once. */
  readonly keepOpenMs: number;
  /** How long a call waits for a busy session, in milliseconds. Default 6000. */
  readonly waitMs?: number;
  /** The command line that runs a ticket, up to the ticket itself. */
  readonly runCommand?: string;
  readonly backends?: OpenOptions['backends'];
  /** Spans of every session; see `OpenOptions`. */
  readonly telemetry?: OpenOptions['telemetry'];
  /** See `sqliteStore`. */
  readonly checkpointPages?: number;
}

/** The calling process, such as a hook or an MCP server: its environment and process id. */
export interface Caller {
  /** `HOPGATE_SESSION` names the session to join, `HOPGATE_PERIPHERAL` the first peripheral of a new one. */
  readonly env: Env;
  /** null: not known. */
  readonly pid: number | null;
  /** A new session only observes. It is never read from the environment, which a repository's settings can change. */
  readonly observe?: boolean;
}

/** A decided call that a command line runs later, once. */
interface RunTicket {
  readonly conversation: Conversation;
  readonly call: ContainedCall;
}

/** The sessions of client programs and their conversations, in the daemon or in a hook process without it. */
export class SessionHost {
  readonly #options: HostOptions;
  readonly #sessions: OpenSessions;
  readonly #transcripts: Transcripts;
  #statuses: StatusReader | null = null;
  readonly #recent = new Map<string, ConversationFiles>();
  #serverName: string | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
    const { env, keepOpenMs, backends, checkpointPages, telemetry = false } = options;
    this.#transcripts = new Transcripts(env);
    this.#sessions = new OpenSessions({
      env,
      keepOpenMs,
      telemetry,
      ...(backends ? { backends } : {}),
      ...(checkpointPages === undefined ? {} : { checkpointPages }),
    });
  }

  /** The services for hook handlers, for one caller. */
  hookContext(caller: Caller): HookContext {
    const files = (record: ConversationRecord) => this.#files(record.conversation.root);
    return {
      server: this.#server(),
      conversation: (conversation) => this.#record(conversation, caller),
      recordEvent: (record, event, notes) => this.#remember(record, event, notes),
      withSession: (record, work) =>
        this.#use(record.conversation.root, record.sessionId, `a hook of ${record.conversation.client}`, work),
      withParentSession: async (record, work) =>
        record.parent === null ? null : this.join(record.conversation.root, record.parent, work),
      storeForCall: async (record, key, value) => files(record).keep(record, key, value),
      instructionProblem: (record, client, near) =>
        this.join(record.conversation.root, record.sessionId, async (session) =>
          instructionProblem(session, client, near),
        ),
      skillProblem: (record, call) =>
        this.join(record.conversation.root, record.sessionId, async (session) => {
          const { skillProblem } = await import('../tools/skill-files.ts');
          return skillProblem(session, call, caller.env['CLAUDE_CONFIG_DIR']);
        }),
      takeForCall: async (record, key) => files(record).take(record, key),
      commandFor: async (record, call) => this.#keepRun({ conversation: record.conversation, call }),
      revokeCommand: async (command) => this.takeRun(/[0-9a-f]{32}/.exec(command)?.[0] ?? '') !== null,
      recordTranscript: (record, ...items) => this.transcript(record.conversation.root, record.sessionId).add(...items),
      expectSubAgentCall: ({ conversation, parent, sessionId }, call) => {
        if (parent !== null) this.#files(conversation.root).expect(parent, call, sessionId);
      },
    };
  }

  #server(): string {
    this.#serverName ??= serverName(this.#options.env);
    return this.#serverName;
  }

  /** False in a process that answers one request: there a command in the background would end with the answer. */
  get isResident(): boolean {
    return this.#options.keepOpenMs > 0;
  }

  /** Takes a run ticket; null if there is none, or it was used. */
  takeRun(ticket: string): RunTicket | null {
    return /^[0-9a-f]{32}$/.test(ticket) ? takeRecord(join(this.#runs(), `${ticket}.json`)) : null;
  }

  /** The transcript of a session. */
  transcript(root: string, sessionId: string): SessionTranscript {
    return this.#transcripts.of(root, sessionId);
  }

  /** The session that a call over this connection works in: its own, or that of a sub-agent that announced it. */
  async worksIn(
    root: string,
    sessionId: string,
    call: { readonly tool: string; readonly args: Json },
  ): Promise<string> {
    const other = this.#files(root).takeExpected(sessionId, call);
    if (other === null || (await this.join(root, other, async ({ state }) => state.closed))) return sessionId;
    return other;
  }

  /** The refusal of a sub-agent's call by the parent's current envelope; null if there is none, or no parent. */
  async refusedAbove(
    root: string,
    sessionId: string,
    call: { readonly tool: string; readonly args: Json },
  ): Promise<Denial | null> {
    const parent = this.#files(root).owner(sessionId)?.parent ?? null;
    const denial = parent === null ? null : await this.join(root, parent, async (session) => session.why(call));
    return denial && ofParent(denial);
  }

  /** Gives `work` a session by its id. */
  async useSession<T>(
    root: string,
    sessionId: string,
    what: string,
    work: (session: Session) => Promise<T>,
    waitMs?: number,
  ): Promise<T> {
    return this.#use(root, sessionId, what, work, waitMs);
  }

  /** Calls `work` with a session at once, even while other work uses it here: its tool calls wait; reading does not. */
  async join<T>(root: string, sessionId: string, work: (session: Session) => Promise<T>): Promise<T> {
    return this.#sessions.join(await this.#opening(root, sessionId), this.#deadline(), work);
  }

  /** Opens a session for a program that has no client, and returns its id. */
  async open(root: string, agent: string): Promise<string> {
    const files = this.#files(root);
    const opening = { root, agent, approver: operatorOf(files, root, this.#options.env) };
    return (await this.#open(files, opening, null, async () => {})).sessionId;
  }

  /** The stored record of a conversation; null if there is none. */
  recordOf(conversation: Conversation): StoredConversation | null {
    return this.#files(conversation.root).read(conversation);
  }

  /**
   * The session that an MCP server works in: the one that the environment names, that of the hooks of the same client
   * program, or a new one, which those hooks then find.
   */
  async attach(root: string, agent: string, caller: Caller): Promise<string> {
    const files = this.#files(root);
    return exclusively(files.lock, this.#deadline(), async () => {
      const line = caller.pid === null ? [] : ancestry(caller.pid);
      const named = caller.env['HOPGATE_SESSION'];
      if (named) return (await this.#workedIn(files, root, named, clientOf(line))).sessionId;
      const found = await this.#ofClient(files, root, (client) =>
        line.slice(1).some((process) => sameProcess(process, client)),
      );
      return found ?? (await this.#openMain(files, root, agent, clientOf(line), caller)).sessionId;
    });
  }

  /**
   * Records that this program works in a session, and the destinations and modes that the operator approved in advance.
   *
   * @throws SessionBusy while another such program works in it
   */
  async claim(root: string, sessionId: string, { approve }: Pick<SessionOwner, 'approve'>): Promise<void> {
    const files = this.#files(root);
    await exclusively(files.lock, this.#deadline(), async () => {
      const owner = await this.#bound(files, root, sessionId);
      const [other, program] = [owner.program ?? null, thisProcess()];
      if (other !== null && !sameProcess(other, program) && isRunning(other))
        throw new SessionBusy(`process ${other.pid} already works in session ${sessionId}`);
      files.setOwner({ ...owner, approve, program });
    });
  }

  /** Records that this program has left a session; see {@link SessionHost.claim}. */
  async release(root: string, sessionId: string): Promise<void> {
    const files = this.#files(root);
    await exclusively(files.lock, this.#deadline(), async () => {
      const owner = files.owner(sessionId);
      if (owner && sameProcess(owner.program ?? null, thisProcess())) files.setOwner({ ...owner, program: null });
    });
  }

  /** The status of a session for a status line; null if there is none. */
  async status(query: StatusQuery): Promise<LineStatus | null> {
    const { env } = this.#options;
    const { hasEvidence, StatusReader } = await import('./status-line.ts');
    if (!hasEvidence(query.root, env)) return null;
    this.#statuses ??= new StatusReader(env);
    return this.#statuses.read(this.#sessions.store(query.root), query);
  }

  /** Sessions that are open now. */
  get held(): OpenSessions['held'] {
    return this.#sessions.held;
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  /** For a process that exits now: releases the sessions, so that others can use them. */
  releaseAll(): Promise<void> {
    return this.#sessions.releaseAll();
  }

  async #record(conversation: Conversation, caller: Caller): Promise<ConversationRecord> {
    const files = this.#files(conversation.root);
    const known = files.read(conversation);
    if (known && !isElsewhere(known, caller.env)) return this.#resumed(files, known, caller);
    // Before the lock is taken, because the parent's record is created under the same lock.
    const parent =
      conversation.agentId === null ? null : await this.#record({ ...conversation, agentId: null }, caller);
    return exclusively(files.lock, this.#deadline(), async () => {
      const meanwhile = files.read(conversation);
      if (meanwhile && !isElsewhere(meanwhile, caller.env)) return meanwhile;
      const line = caller.pid === null ? [] : ancestry(caller.pid);
      const client = clientOf(line);
      const owner = parent
        ? await this.#openSubAgent(files, conversation, parent)
        : await this.#main(files, conversation, client, caller.env);
      const record: StoredConversation = {
        conversation,
        sessionId: owner.sessionId,
        parent: owner.parent,
        events: meanwhile?.events ?? [],
        notes: meanwhile?.notes ?? (await this.#asides(conversation, caller)),
        client,
      };
      files.write(record);
      if (meanwhile?.sessionId !== record.sessionId)
        this.transcript(conversation.root, record.sessionId).add(sessionOpened(record.sessionId, 'hooks'));
      return record;
    });
  }

  /** Updates a conversation that continues in another process, started from another terminal. */
  async #resumed(files: ConversationFiles, known: StoredConversation, { pid }: Caller): Promise<ConversationRecord> {
    if (pid === null || known.parent !== null || (known.client && isRunning(known.client))) return known;
    const client = clientOf(ancestry(pid));
    if (client === null) return known;
    return exclusively(files.lock, this.#deadline(), async () => {
      const record = { ...(files.read(known.conversation) ?? known), client };
      files.write(record);
      await this.#workedIn(files, record.conversation.root, record.sessionId, client);
      return record;
    });
  }

  /** Records the client program of a session that another program opened. */
  async #workedIn(files: ConversationFiles, root: string, sessionId: string, client: ProcessMark | null) {
    const known = await this.#bound(files, root, sessionId);
    const isThere = [known.program, known.client].some((process) => process && isRunning(process));
    if (client === null || isThere) return known;
    const owner = { ...known, client };
    files.setOwner(owner);
    return owner;
  }

  /** Messages for the user at the start of a conversation; empty if the caller named the session and showed them. */
  async #asides({ root, agentId }: Conversation, { env }: Caller): Promise<ConversationRecord['notes']> {
    if (agentId !== null || env['HOPGATE_SESSION']) return {};
    const unshown = (await import('../project/trust-record.ts')).untrustedConfig(root, this.#options.env);
    return unshown === null ? {} : { unshown };
  }

  async #main(files: ConversationFiles, { root, client: name }: Conversation, client: ProcessMark | null, env: Env) {
    const named = env['HOPGATE_SESSION'];
    if (named) return this.#workedIn(files, root, named, client);
    const found = client && (await this.#ofClient(files, root, (other) => sameProcess(other, client)));
    return found ? this.#bound(files, root, found) : this.#openMain(files, root, name, client, { env });
  }

  /** The session that the hooks or the MCP server of a client program already use: one per program. */
  async #ofClient(
    files: ConversationFiles,
    root: string,
    isOurs: (client: ProcessMark | null) => boolean,
  ): Promise<string | null> {
    const ours = ({ parent, client }: StoredConversation | SessionOwner) => parent === null && isOurs(client);
    const known = new Set(
      [...files.all().filter(ours), ...files.owners().filter(ours)].map(({ sessionId }) => sessionId),
    );
    for (const id of known) if (!(await this.join(root, id, async ({ state }) => state.closed))) return id;
    return null;
  }

  async #openMain(
    files: ConversationFiles,
    root: string,
    agent: string,
    client: ProcessMark | null,
    { env, observe = false }: Pick<Caller, 'env' | 'observe'>,
  ): Promise<SessionOwner> {
    const opening = { root, agent, observe, approver: operatorOf(files, root, this.#options.env) };
    return this.#open(files, opening, client, (session) =>
      start(session, entrance(session.specs, env['HOPGATE_PERIPHERAL'])),
    );
  }

  /** Opens a session, and records its owner. */
  async #open(
    files: ConversationFiles,
    opening: Omit<Opening, 'env'>,
    client: ProcessMark | null,
    begin: (session: Session) => Promise<void>,
  ): Promise<SessionOwner> {
    let id: string | null = null;
    const env = () => (id === null ? process.env : this.#environment(files, id));
    const session = await this.#sessions.open({ ...opening, env }, begin);
    id = session.id;
    const owner = { sessionId: id, agent: opening.agent, parent: opening.parent ?? null, approve: [], client };
    files.setOwner(owner);
    return owner;
  }

  async #openSubAgent(
    files: ConversationFiles,
    { root, agentId }: Conversation,
    parent: ConversationRecord,
  ): Promise<SessionOwner> {
    const { specs, config, agent, peripheral } = await this.join(root, parent.sessionId, async (session) => ({
      specs: subAgentSpecs(session),
      config: session.config,
      agent: `${session.state.agent}/${agentId}`,
      peripheral: session.state.peripheral,
    }));
    const above = { parent: parent.sessionId, specs, config, trustConfig: true };
    return this.#open(files, { root, agent, ...above }, null, async (session) => {
      if (peripheral !== null) await start(session, peripheral);
    });
  }

  /** The facts about an existing session; for one opened elsewhere they are read from its evidence. */
  async #bound(files: ConversationFiles, root: string, sessionId: string): Promise<SessionOwner> {
    const known = files.owner(sessionId);
    if (known) return known;
    for await (const { entry } of this.#sessions.store(root).entries(sessionId)) {
      const body = bodyOf(entry.body);
      if (body?.event !== 'session-open') break;
      const owner = { sessionId, agent: body.agent, parent: null, approve: [], client: null };
      files.setOwner(owner);
      return owner;
    }
    throw new StoreError(
      'session-not-found',
      `there is no session "${sessionId}" of ${root}; HOPGATE_SESSION names it`,
    );
  }

  async #remember(
    record: ConversationRecord,
    event: ConversationRecord['events'][number],
    notes?: ConversationRecord['notes'],
  ): Promise<ConversationRecord> {
    const files = this.#files(record.conversation.root);
    return exclusively(files.lock, this.#deadline(), async () => {
      const now = files.read(record.conversation);
      if (!now) throw new Error(`the record of conversation ${record.conversation.id} was removed`);
      const next = withEvent(now, event, notes);
      files.write(next);
      return next;
    });
  }

  async #use<T>(
    root: string,
    sessionId: string,
    what: string,
    work: (session: Session) => Promise<T>,
    waitMs?: number,
  ): Promise<T> {
    return this.#sessions.use(await this.#opening(root, sessionId), { what, deadline: this.#deadline(waitMs) }, work);
  }

  async #opening(root: string, sessionId: string) {
    const files = this.#files(root);
    const { agent } = await this.#bound(files, root, sessionId);
    const env = () => this.#environment(files, sessionId);
    return { root, session: sessionId, agent, approver: operatorOf(files, root, this.#options.env), env };
  }

  /** The environment of the terminal in which the client program runs; the daemon's may be that of another terminal. */
  #environment(files: ConversationFiles, sessionId: string): NodeJS.ProcessEnv {
    const owner = files.owner(sessionId);
    if (owner?.parent) return this.#environment(files, owner.parent);
    for (const process of [owner?.program, owner?.client]) {
      const env = process && environmentOf(process);
      if (env) return env;
    }
    return process.env;
  }

  #keepRun(ticket: RunTicket): string {
    const id = randomBytes(16).toString('hex');
    writeRecord(join(this.#runs(), `${id}.json`), ticket);
    return `${this.#options.runCommand ?? 'hopgate hook run'} ${id}`;
  }

  /** The conversation files of a root. The folder's existence and permissions are checked once per event. */
  #files(root: string): ConversationFiles {
    const known = this.#recent.get(root);
    if (known) return known;
    const files = new ConversationFiles(root, this.#options.env);
    this.#recent.set(root, files);
    setTimeout(() => this.#recent.delete(root), RECENT_MS).unref();
    return files;
  }

  #runs(): string {
    return ensurePrivateDir(join(stateHome(this.#options.env), 'runs'));
  }

  #deadline(waitMs = this.#options.waitMs ?? WAIT_MS): number {
    return Date.now() + waitMs;
  }
}

/** True if the environment names a session other than the main agent's current one. */
const isElsewhere = ({ conversation, sessionId }: ConversationRecord, env: Env): boolean =>
  conversation.agentId === null && !!env['HOPGATE_SESSION'] && env['HOPGATE_SESSION'] !== sessionId;

async function start(session: Session, peripheral: string): Promise<void> {
  const started = await session.start(peripheral);
  if (!started.ok) throw new Error(`${started.denial.message}; ${started.denial.remedy}`);
}

/** The first peripheral of a conversation; one without tools if no other may be the first. */
function entrance(specs: SpecSet, asked: string | undefined): string {
  const all = Object.values(specs.peripherals);
  const isDefault = all.find(({ entry }) => entry.sources.some(({ kind }) => kind === 'default'));
  const first = asked || (firstPeripheral(specs) ?? isDefault?.id ?? all[0]?.id);
  if (!first) throw new Error('the spec set has no peripherals');
  return first;
}
