import type { MessageBody } from '../evidence/bodies.ts';
import type { RECEIPT_STATES } from '../spec/policy/receipt-states.ts';

/** The kinds of speech act that a message declares. */
export type SpeechAct =
  | 'query'
  | 'answer'
  | 'assert'
  | 'challenge'
  | 'agree'
  | 'define'
  | 'retract'
  | 'suggest'
  | 'request';

/** Nobody waits for the answer to a `bell`. The sender of a `whistle` waits for its answer, for a limited time. */
export type MessageKind = 'bell' | 'whistle';

/**
 * A message and its envelope. Addresses are `session:<id>` and `person:<name>`; addresses on another machine end with
 * the machine's name: `session:<id>@<node>`, `agent:<id>@<node>`. hopgate writes the envelope; the text is the
 * sender's.
 */
export interface Message extends Omit<MessageBody, 'event'> {
  readonly kind: MessageKind;
  readonly act: SpeechAct;
  readonly to: string;
  readonly state: ReceiptState;
}

export type MessageDraft = Omit<Message, 'seq' | 'sentAt' | 'state'>;

/**
 * A message is `sent` when it is stored in the inbox, `delivered` when it is recorded in the recipient's session,
 * `read` when the recipient's model gets it or a person acknowledges it, `answered` when an answer refers to it.
 */
export type ReceiptState = (typeof RECEIPT_STATES)[number];

/** A change of a message's state. */
export interface Receipt {
  /** The position among the receipts of the store: later ones have higher numbers. */
  readonly nth: number;
  readonly message: string;
  readonly state: ReceiptState;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Positions in the messages and the receipts of a store, each from 0. */
export interface MailPosition {
  readonly message: number;
  readonly receipt: number;
}

/** The messages and receipts that another machine must get. */
interface Mail {
  readonly messages: readonly Message[];
  readonly receipts: readonly Receipt[];
  /** The positions after these messages and receipts, to continue from. */
  readonly positions: MailPosition;
}

/** A sender that waits for the answer to its whistle, at most until a time in epoch milliseconds. */
export interface BlockedSender {
  readonly id: string;
  readonly waiter: string;
  readonly target: string;
  readonly until: number;
}

/**
 * Port of inboxes: durable messages per session and person. `stores/sqlite/sqlite-messages.ts` is the reference;
 * every implementation must pass `test/contracts/message-store.ts`.
 */
export interface MessageStore {
  /** Puts a message into the recipient's inbox. If a message with the same id exists, returns that message. */
  send(message: MessageDraft): Promise<Message>;
  /** The messages of an inbox in order of `seq`: all, only unread ones, or only those after a seq. */
  inbox(
    address: string,
    options?: { readonly after?: number; readonly unread?: boolean; readonly limit?: number },
  ): Promise<readonly Message[]>;
  /** The number of messages of an inbox that were not read. Reads none of them. */
  countUnread(address: string): Promise<number>;
  find(id: string): Promise<Message | null>;
  /** The first answer to a message; null if there is none yet. */
  answerTo(id: string): Promise<Message | null>;
  /** Records a receipt. Returns false, and records nothing, if the message has this state or a later one. */
  mark(id: string, state: ReceiptState): Promise<boolean>;
  /**
   * The receipts of the messages that an address sent, or of one of them; `after` is the position of the last receipt
   * that is known.
   */
  receipts(sender: string, after: number, message?: string): Promise<readonly Receipt[]>;
  /** True if `inbox` or `receipts` would return anything after these positions. Fast: each step calls it. */
  hasNews(address: string, after: { readonly seq: number; readonly receipt: number }): Promise<boolean>;
  /** Blocks a waiter, unless that would close a wait cycle: then returns the cycle and blocks nobody. Atomic. */
  wait(wait: BlockedSender): Promise<readonly string[] | null>;
  endWait(id: string): Promise<void>;
  /** The waits that end after `now` (epoch milliseconds), except the waits of processes that have ended. */
  waits(now: number): Promise<readonly BlockedSender[]>;
  /** Replaces the waits of another machine's senders. The ids of these waits end with `@` and the machine's name. */
  putWaits(node: string, waits: readonly BlockedSender[]): Promise<void>;
  /** The names of the machines that exchange messages with this one. */
  nodes(): Promise<readonly string[]>;
  /** Adds a machine. Idempotent. */
  addNode(name: string): Promise<void>;
  /**
   * The messages to a machine, and the receipts of the messages that it sent, after a position; at most `limit` of
   * each. A message that was delivered, or that the machine refused by an answer from `node:<name>`, is left out.
   */
  mailFor(node: string, after: MailPosition, limit: number): Promise<Mail>;
  /** The people with an inbox, `operator` among them. */
  people(): Promise<readonly string[]>;
  /** Opens an inbox for a person. Idempotent. */
  addPerson(name: string): Promise<void>;
  /** Erases the texts of the messages that a session sent or got. */
  eraseTexts(address: string): Promise<void>;
}
