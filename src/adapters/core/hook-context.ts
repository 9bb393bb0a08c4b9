import type { Session } from '../../session/session.ts';
import type { Json } from '../../spec/types.ts';
import type { Item } from './transcript/transcript-items.ts';

/** A conversation in a client program that calls hooks, as the client names it. A sub-agent's is one of its own. */
export interface Conversation {
  /** `claude-code`, `codex`, … */
  readonly client: string;
  /** The client's own id; sub-agents share their parent's. */
  readonly id: string;
  /** null: the main agent. */
  readonly agentId: string | null;
  /** Absolute real path of the repository. */
  readonly root: string;
}

/** What is known of a conversation beside its session's evidence. Kept in the state folder, so that every process sees it. */
export interface ConversationRecord {
  readonly conversation: Conversation;
  readonly sessionId: string;
  /** The session of the conversation that started this one; its envelope bounds this one's. */
  readonly parent: string | null;
  /** The hook events that came, newest last, at most 50: a hook that fell silent shows here. */
  readonly events: readonly { readonly name: string; readonly at: string; readonly toolUseId: string | null }[];
  /** What the adapter keeps for itself, such as that it has asked for the PAR. */
  readonly notes: { readonly [name: string]: Json };
}

/** What a hook handler may use of the world: handed to it by the daemon, or by a hook process that answers by itself. */
export interface HookContext {
  /** The name under which client programs start hopgate's MCP server, and no other one. */
  readonly server: string;
  /** The seat of a conversation. The first call opens a session for it (a sub-agent's under its parent's envelope). */
  conversation(conversation: Conversation): Promise<ConversationRecord>;
  /** Records that an event came, and changes the notes. */
  recordEvent(
    seat: ConversationRecord,
    event: ConversationRecord['events'][number],
    notes?: ConversationRecord['notes'],
  ): Promise<ConversationRecord>;
  /** Gives `work` the session with its lease held; one at a time per session. */
  withSession<T>(seat: ConversationRecord, work: (session: Session) => Promise<T>): Promise<T>;
  /** As `use`, for the parent's session; null where there is no parent. */
  withParentSession<T>(seat: ConversationRecord, work: (session: Session) => Promise<T>): Promise<T | null>;
  /** Keeps what belongs to a call between two events: an admitted ticket under the client's tool-use id. */
  storeForCall(seat: ConversationRecord, key: string, value: Json): Promise<void>;
  /**
   * Explains what the client would show its model past the masks, by way of an instruction file that is in the repository; null if nothing.
   *
   * @param near a root-relative path of which only the folders are searched
   */
  instructionProblem(
    seat: ConversationRecord,
    client: 'claude-code' | 'codex',
    near?: string,
  ): Promise<{ readonly message: string; readonly remedy: string } | null>;
  /** Takes it back, once; null if there is none. */
  takeForCall(seat: ConversationRecord, key: string): Promise<Json>;
  /**
   * A shell command line that, run by the client in place of the agent's own, runs this tool call in the session and prints what came of it
   * (standard output, standard error and exit status as the agent's command had them). Good for one use.
   */
  commandFor(seat: ConversationRecord, call: ContainedCall): Promise<string>;
  /** Adds to the transcript of the seat's session what its agent lived through. Costs a line in a file, and never throws. */
  recordTranscript(seat: ConversationRecord, ...items: readonly Item[]): void;
  /**
   * A sub-agent is about to call one of hopgate's own tools over its parent's connection: the next such call there is this conversation's, and
   * works in its session.
   */
  expectSubAgentCall(seat: ConversationRecord, call: { readonly tool: string; readonly args: Json }): void;
}

/** A call that hopgate runs in place of the client. */
export interface ContainedCall {
  readonly tool: string;
  readonly args: Json;
  /** The client's id of it: what came of it stands under this in the transcript. */
  readonly callId: string;
}

/** What a hook process has to print and how it has to exit. */
export interface HookAnswer {
  readonly exit: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
}
