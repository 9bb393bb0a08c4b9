import type { Signal } from '@preact/signals';
import type { MessageBody } from '../evidence/bodies.ts';
import type { Mode } from '../spec/types.ts';
import type { EntryDetail, ViewGraph } from '../view/view-state.ts';
import type { SessionStore } from './session-store.ts';

/** The summary of a request, which a person reads first. */
export interface ApprovalCardData {
  readonly message: string | null;
  /** The peripheral, mode or call that a yes allows, and its limits. */
  readonly opens: string;
  readonly tests: { readonly at: number; readonly verdict: string; readonly command: string } | null;
  readonly changed: readonly string[];
  /** The present diff of the files that a yes ships, by file; files inside the scope come first. */
  readonly files: readonly { readonly path: string; readonly inside: boolean; readonly lines: readonly string[] }[];
  readonly staysBehind: readonly string[];
}

export interface ChosenGrantLimits {
  readonly times?: number;
  readonly minutes?: number;
  readonly files?: true;
  readonly testsPass?: true;
}

export interface ValidGrant {
  readonly id: string;
  readonly session: string;
  readonly title: string;
  /** The limits as an English phrase. */
  readonly limits: string;
  readonly by: string;
  readonly used: number;
}

export interface WaitingRequest {
  readonly id: string;
  readonly sessionId: string;
  /** The sha256 of the request that the person reads. */
  readonly hash: string;
  readonly title: string;
  readonly reason: string;
  /** Title and text of each part that is approved, in order. */
  readonly rows: readonly (readonly [title: string, text: string])[];
  readonly card: ApprovalCardData;
  /** The paths that the agent may write. */
  readonly writable: readonly string[];
  /** Epoch milliseconds. */
  readonly askedAt: number;
  readonly expiresAt: number;
}

/** A message of an agent to the operator that was not read. */
export interface InboxMessage extends Pick<MessageBody, 'id' | 'act' | 'from' | 'author' | 'text' | 'sentAt'> {
  readonly kind: 'bell' | 'whistle';
  /** True while its sender waits for the answer. */
  readonly waits: boolean;
  readonly state: string;
}

export interface SessionOnPage {
  readonly id: string;
  /** The name of the repository's folder. */
  readonly folder: string;
  readonly graph: ViewGraph;
  readonly store: SessionStore;
}

/**
 * The operator's actions. Unless stated otherwise, each returns the reason why it was refused; null if it was carried
 * out.
 */
export interface OperatorActions {
  answer(request: WaitingRequest, approve: boolean, reason: string, grant?: ChosenGrantLimits): Promise<string | null>;
  revoke(grant: string): Promise<string | null>;
  hop(session: string, to: string, exit: string | null, reason: string): Promise<string | null>;
  mode(session: string, to: Mode, reason: string): Promise<string | null>;
  stop(session: string, reason: string): Promise<string | null>;
  /** Words for the agent, which reads them with its next call or turn. */
  note(session: string, text: string): Promise<string | null>;
  reply(message: InboxMessage, text: string): Promise<string | null>;
  acknowledge(message: InboxMessage): Promise<string | null>;
  /** Sends a message that the agent reads in its next turn. */
  ring(session: string, text: string): Promise<string | null>;
  /** Sends a message and waits for its answer, which it returns. @throws Error if none came in time */
  whistle(session: string, text: string): Promise<string>;
  /** The reason why a call of this tool would be refused now; null if it would be allowed. */
  why(session: string, tool: string): Promise<string | null>;
}

export interface PageData {
  readonly sessions: Signal<readonly SessionOnPage[]>;
  readonly waiting: Signal<readonly WaitingRequest[]>;
  readonly grants: Signal<readonly ValidGrant[]>;
  /** The oldest unread messages, and those whose senders wait. */
  readonly messages: Signal<readonly InboxMessage[]>;
  /** The number of all unread messages. */
  readonly unread: Signal<number>;
  readonly connection: Signal<'connecting' | 'live' | 'offline' | 'recording'>;
  /** The number of listed sessions, and true if there are older ones; null before the list was read. */
  readonly listed: Signal<{ readonly count: number; readonly more: boolean } | null>;
  /** True until each open session was read once. */
  readonly loading: Signal<boolean>;
  /** The problem that the page shows; null if there is none. */
  readonly trouble: Signal<string | null>;
  /** null if the page is read-only, as for a recording. */
  readonly acts: OperatorActions | null;
  detail(session: string, seqs: readonly number[]): Promise<readonly EntryDetail[]>;
}
