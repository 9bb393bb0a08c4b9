import type { Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { Session } from '../../session/session.ts';
import type { Fields, Json } from '../../spec/types.ts';
import type { RecordedTranscriptItem } from './transcript/transcript-items.ts';

/** A conversation in a client program with hooks, as the client names it. A sub-agent has its own conversation. */
export interface ClientConversation {
  /** `claude-code`, `codex`, … */
  readonly client: string;
  /** The client's own id; sub-agents share their parent's. */
  readonly id: string;
  /** null for the main agent. */
  readonly agentId: string | null;
  /** The client's name for a sub-agent's type; it may be the name of a peripheral. Absent for a main agent. */
  readonly agentType?: string;
  /** Absolute real path of the repository. */
  readonly root: string;
}

/** The facts about a conversation that are not in its session's evidence. Stored in the state folder. */
export interface ConversationRecord {
  readonly conversation: ClientConversation;
  readonly sessionId: string;
  /** The id of the parent's session, whose envelope also limits this session; null for a main agent. */
  readonly parent: string | null;
  /** The last 50 hook events, newest last. They show which hooks the client has not installed. */
  readonly events: readonly { readonly name: string; readonly at: string; readonly toolUseId: string | null }[];
  /** Values that the adapter keeps for this conversation, such as the place that it described last. */
  readonly notes: Fields;
}

/** The services that a hook handler may use. The daemon provides them, or the hook process if no daemon runs. */
export interface HookContext {
  /** The name under which client programs start hopgate's MCP server; no other server has it. */
  readonly server: string;
  /**
   * The record of a conversation. The first call opens its session; the session of a sub-agent is limited by the
   * envelope of its parent.
   */
  conversation(conversation: ClientConversation): Promise<ConversationRecord>;
  /** Adds an event to the record, and replaces the notes if they are passed. Returns the new record. */
  recordEvent(
    record: ConversationRecord,
    event: ConversationRecord['events'][number],
    notes?: ConversationRecord['notes'],
  ): Promise<ConversationRecord>;
  /** Runs `work` with the session while its lease is held; one at a time per session. */
  withSession<T>(record: ConversationRecord, work: (session: Session) => Promise<T>): Promise<T>;
  /** The refusal of a sub-agent's call by its parent's session now; null if allowed, or if there is no parent. */
  denialByParent(
    record: ConversationRecord,
    call: { readonly tool: string; readonly args: Json },
  ): Promise<Denial | null>;
  /** Stores a value from one event of a call to the next, such as an admitted ticket under the client's tool-use id. */
  storeForCall(record: ConversationRecord, key: string, value: Json): Promise<void>;
  /**
   * Reports a masked file that the client would show its model through an instruction file of the repository; null if
   * there is none.
   * @param near a root-relative path; only its folders are searched
   */
  instructionProblem(
    record: ConversationRecord,
    client: 'claude-code' | 'codex',
    near?: string,
  ): Promise<{ readonly message: string; readonly remedy: string } | null>;
  /**
   * Explains why Claude Code may not load a skill; completes "the skill …". null if it may.
   * @param userSettings the folder of the user's own settings and skills
   */
  skillProblem(
    record: ConversationRecord,
    call: { readonly skill: string; readonly args: string },
    userSettings: string,
  ): Promise<string | null>;
  /** True if the operator approved this request in advance, so that no person is asked. */
  isApproved(record: ConversationRecord, request: ApprovalRequest): boolean;
  /** Returns a stored value and removes it; null if there is none. */
  takeForCall(record: ConversationRecord, key: string): Promise<Json>;
  /**
   * A shell command line for the client to run instead of the agent's own. It runs this tool call in the session and
   * reproduces the standard output, the standard error and the exit status of the agent's command. It works once.
   */
  commandFor(record: ConversationRecord, call: CallRunByHopgate): Promise<string>;
  /** Cancels a command line that `commandFor` returned, also one inside a longer command line; false if it has run. */
  revokeCommand(command: string): Promise<boolean>;
  /** Adds events to the transcript of the conversation's session. Appends lines to a file, and never throws. */
  recordTranscript(record: ConversationRecord, ...items: readonly RecordedTranscriptItem[]): void;
  /** Gives the next call like this one over the parent's connection to the session of the sub-agent in the record. */
  expectSubAgentCall(record: ConversationRecord, call: { readonly tool: string; readonly args: Json }): void;
}

export interface CallRunByHopgate {
  readonly tool: string;
  readonly args: Json;
  /** The client's id of the call; the transcript records the result under it. */
  readonly callId: string;
}

/** The output and the exit code of a hook process. */
export interface HookAnswer {
  readonly exit: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
  /** Called once if the client received the answer in time. Records what the model saw in the transcript. */
  readonly onDelivered?: () => Promise<unknown>;
}
