import type { AgentCall } from '../adapters/core/agent-session.ts';
import type { ConversationRecord, HookContext } from '../adapters/core/hook-context.ts';
import { memoise } from '../base/lazy.ts';
import type { Denial } from '../gate/denial.ts';
import { operatorTokenOrNull } from '../operator/operator-token.ts';
import { ensureStateDir } from '../project/state-dir.ts';
import type { Json } from '../spec/types.ts';
import { findInstructionProblem } from '../tools/instruction-imports.ts';
import type { StatusLineData } from '../view/status-line.ts';
import type { SessionStatusQuery, StatusReader } from './answer-status-line.ts';
import { Conversations } from './conversations/conversations.ts';
import { OwnedSessions } from './conversations/owned-sessions.ts';
import { RunTickets } from './conversations/run-tickets.ts';
import type { CallingProcess, SessionHostOptions } from './conversations/session-host-options.ts';
import { mcpServerName } from './mcp-server-name.ts';
import { OpenSessions } from './open-sessions.ts';
import { type FindTranscript, openSessionTranscripts } from './session-transcripts.ts';

/** The sessions and conversations of client programs, for the daemon or for a process that works without it. */
export class SessionHost {
  /** The sessions with the client program that owns each. */
  readonly sessions: OwnedSessions;
  readonly conversations: Conversations;
  /** Allowed calls that command lines run later. */
  readonly runTickets: RunTickets;
  readonly #options: SessionHostOptions;
  /** The sessions and stores that this process holds open now. */
  readonly openSessions: OpenSessions;
  readonly transcriptOf: FindTranscript;
  #statuses: StatusReader | null = null;
  readonly #server = memoise(() => mcpServerName(this.#options.env));

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.transcriptOf = openSessionTranscripts(options.env);
    this.openSessions = new OpenSessions(options);
    this.sessions = new OwnedSessions(options, this.openSessions);
    this.conversations = new Conversations(options.env, this.sessions, this.transcriptOf);
    this.runTickets = new RunTickets(options);
  }

  /** Runs a call under the trace context of its client, if the sessions export spans. */
  async inTrace<T>(trace: AgentCall['trace'], work: () => Promise<T>): Promise<T> {
    if (trace === undefined || !this.#options.telemetry) return work();
    const { inTrace } = await import('../telemetry/index.ts');
    return inTrace(trace, work);
  }

  hookContext(caller: CallingProcess): HookContext {
    const files = (record: ConversationRecord) => this.sessions.files(record.conversation.root);
    return {
      server: this.#server(),
      conversation: (conversation) => this.conversations.record(conversation, caller),
      recordEvent: (record, event, notes) => this.conversations.recordEvent(record, event, notes),
      withSession: (record, work) =>
        this.sessions.use(record.conversation.root, record.sessionId, `a hook of ${record.conversation.client}`, work),
      denialByParent: (record, call) => this.denialByParent(record.conversation.root, record.sessionId, call),
      storeForCall: async (record, key, value) => files(record).storeForCall(record, key, value),
      instructionProblem: (record, client, near) =>
        this.sessions.join(record.conversation.root, record.sessionId, async (session) =>
          findInstructionProblem(session, client, near),
        ),
      skillProblem: (record, call, userSettings) =>
        this.sessions.join(record.conversation.root, record.sessionId, async (session) => {
          const { skillProblem } = await import('../tools/skill-files.ts');
          const isSubAgent = record.conversation.agentId !== null;
          return skillProblem(session, { ...call, isSubAgent }, userSettings);
        }),
      isApproved: (record, { action }) => files(record).isApproved(record.sessionId, action.to),
      takeForCall: async (record, key) => files(record).takeForCall(record, key),
      commandFor: async (record, call) => this.runTickets.commandFor({ conversation: record.conversation, call }),
      revokeCommand: async (command) => this.runTickets.revoke(command),
      recordTranscript: (record, ...items) =>
        this.transcriptOf(record.conversation.root, record.sessionId).add(...items),
      expectSubAgentCall: ({ conversation, parent, sessionId }, call) => {
        if (parent !== null) this.sessions.files(conversation.root).expectCall(parent, call, sessionId);
      },
    };
  }

  /** False in a process that answers one request, because a background command would end with the answer. */
  get isResident(): boolean {
    return this.#options.keepOpenMs > 0;
  }

  /** The session of a call: the session of its connection, or the session of the sub-agent that announced the call. */
  async sessionOfCall(
    root: string,
    sessionId: string,
    call: { readonly tool: string; readonly args: Json },
  ): Promise<string> {
    const other = this.sessions.files(root).takeExpected(sessionId, call);
    if (other === null || (await this.sessions.join(root, other, async ({ state }) => state.closed))) return sessionId;
    return other;
  }

  /** True if the token is the operator's token of the repository. */
  isOperator(root: string, token: string): boolean {
    return operatorTokenOrNull(ensureStateDir(root, this.#options.env)) === token;
  }

  /** The refusal of a sub-agent's call by its parent's present envelope; null if there is no refusal, or no parent. */
  async denialByParent(
    root: string,
    sessionId: string,
    call: { readonly tool: string; readonly args: Json },
  ): Promise<Denial | null> {
    const { parent = null, within = 'parent' } = this.sessions.files(root).owner(sessionId) ?? {};
    if (parent === null) return null;
    const { denyCallByParent } = await import('../session/sub-agent.ts');
    const denial = await this.sessions.join(root, parent, async (session) => denyCallByParent(session, call, within));
    return denial && { ...denial, message: `the agent that started you may not do this: ${denial.message}` };
  }

  async status(query: SessionStatusQuery): Promise<StatusLineData | null> {
    const { env } = this.#options;
    const { hasEvidence, StatusReader } = await import('./answer-status-line.ts');
    if (!hasEvidence(query.root, env)) return null;
    this.#statuses ??= new StatusReader(env);
    return this.#statuses.read(this.openSessions.store(query.root), query);
  }

  close(): Promise<void> {
    return this.openSessions.close();
  }
}
