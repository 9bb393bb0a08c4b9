import { isObject } from '../../../base/json.ts';
import { type Body, toBody } from '../../../evidence/bodies.ts';
import { isMessageRecipient } from '../../../messages/resolve-address.ts';
import { RECEIPT_STATES } from '../../../spec/policy/receipt-states.ts';
import type { Fields, Json } from '../../../spec/types.ts';
import type { Database } from '../node-sqlite.ts';
import { type NamedStatements, prepareAtFirstUse, type SqliteRow } from '../statements.ts';

const SQL = {
  message: 'SELECT * FROM messages WHERE id = ?',
  receipt: 'SELECT sender, message, state FROM receipts WHERE nth = ?',
  all: `SELECT m.id, m.sender, m.recipient, m.state, r.nth, r.sender AS owner, r.state AS receipt
    FROM messages m LEFT JOIN receipts r ON r.message = m.id ORDER BY m.id, r.nth`,
  answers: "SELECT sender FROM messages WHERE ref = ? AND act = 'answer'",
  inboxes: 'SELECT recipient FROM messages GROUP BY recipient HAVING min(seq) <> 1 OR max(seq) <> count(*)',
  receiptsUntil: 'SELECT count(*) AS n FROM receipts WHERE sender = ? AND nth <= ?',
  strayReceipts: 'SELECT nth, message FROM receipts WHERE message NOT IN (SELECT id FROM messages)',
};

type Report = (sessionId: string | null, where: string, message: string, isGap?: boolean) => void;

const SESSION = 'session:';

/**
 * Compares the messages and receipts in the inboxes with the messages and receipts that sessions recorded, in both
 * directions: a sent message is a step of its sender, and a delivered message is an entry of its recipient. People have
 * no evidence and other machines keep their own, so their messages are compared only if a session here received them.
 */
export class CorrespondenceCheck {
  readonly #sql: NamedStatements<keyof typeof SQL>;
  readonly #report: Report;
  #session: string | null = null;
  #isImported = false;
  /** The agent of each session, by the session's address. */
  readonly #agents = new Map<string, string>();
  /** Addresses of sessions with erased entries; the texts of their messages may be erased, too. */
  readonly #erased = new Set<string>();
  /** The recorded messages that have no text in the inbox. */
  readonly #emptyTexts: { readonly sessionId: string; readonly seq: number; readonly parties: readonly string[] }[] =
    [];
  /** The ids of the messages that their senders recorded. */
  readonly #sent = new Set<string>();
  /** By session: the number of the recorded receipts, and the position of the last one. */
  readonly #receipts = new Map<string, { count: number; nth: number }>();
  readonly #received = new Set<string>();
  /** The ids of the received messages that were delivered. The answer to a whistle is received without a delivery. */
  readonly #delivered = new Set<string>();

  constructor(db: Database, report: Report) {
    this.#sql = prepareAtFirstUse(db, SQL);
    this.#report = report;
  }

  /** Adds an entry of a session; call it session by session, in order of `seq`. */
  add(sessionId: string, seq: number, body: Json, erased: boolean): void {
    const address = `${SESSION}${sessionId}`;
    const recorded = toBody(body);
    if (sessionId !== this.#session) {
      this.#session = sessionId;
      this.#isImported = seq === 0 && recorded !== null && recorded.event !== 'session-open';
    }
    // The messages of an imported session are in the inboxes of another store.
    if (this.#isImported) return;
    if (erased) this.#erased.add(address);
    if (recorded?.event === 'session-open') {
      this.#agents.set(address, recorded.agent);
      this.#receipts.set(address, { count: 0, nth: 0 });
    }
    if (recorded?.event === 'message') {
      const { from, sentAt, event: _, ...same } = recorded;
      const isAnswer = this.#received.has(recorded.id);
      this.#received.add(recorded.id);
      if (!isAnswer) this.#delivered.add(recorded.id);
      this.#compare(sessionId, seq, { ...same, recipient: address, sender: from, sent_at: sentAt });
    }
    if (recorded?.event === 'receipt' && recorded.nth !== null) {
      const { count = 0, nth = 0 } = this.#receipts.get(address) ?? {};
      this.#receipts.set(address, { count: count + 1, nth: Math.max(nth, recorded.nth) });
      const row = this.#sql.receipt.get(recorded.nth);
      if (row?.['sender'] !== address || row['message'] !== recorded.message || row['state'] !== recorded.state)
        this.#report(
          sessionId,
          `receipts at ${seq}`,
          `receipt ${recorded.nth} of the inbox differs from the recorded one`,
        );
    }
    if (recorded?.event === 'step') this.#step(sessionId, seq, recorded);
  }

  /** Adds a step that sent a bell or a whistle, and the answer that the whistle waited for. */
  #step(sessionId: string, seq: number, { tool, args, outcome }: Extract<Body, { event: 'step' }>): void {
    if ((tool !== 'bell' && tool !== 'whistle') || outcome.status !== 'ok' || !isObject(outcome.result)) return;
    const { message: id, to, seq: recordedSeq, act, sentAt, answer } = outcome.result as Fields;
    if (typeof id !== 'string' || typeof sentAt !== 'string') return;
    const address = `${SESSION}${sessionId}`;
    this.#sent.add(id);
    const agent = this.#agents.get(address);
    this.#compare(sessionId, seq, {
      id,
      recipient: to,
      seq: recordedSeq,
      kind: tool,
      act,
      sender: address,
      sent_at: sentAt,
      ref: args['ref'] ?? null,
      ...(agent === undefined ? {} : { author: agent }),
      ...(typeof args['text'] === 'string' ? { text: args['text'].toWellFormed() } : {}),
    });
    if (!isObject(answer)) return;
    const { id: answered, from, text, ...rest } = answer;
    this.#received.add(String(answered));
    const answerText = typeof text === 'string' ? { text } : {};
    this.#compare(sessionId, seq, { id: answered, ...rest, ...answerText, sender: from, recipient: address, ref: id });
  }

  #compare(sessionId: string, seq: number, expected: SqliteRow): void {
    const row = this.#sql.message.get(String(expected['id']));
    if (row === undefined) return this.#report(sessionId, `messages at ${seq}`, `message ${expected['id']} is missing`);
    for (const [column, value] of Object.entries(expected)) {
      if (row[column] === value) continue;
      const found = `it is ${JSON.stringify(row[column])}, not ${JSON.stringify(value)}`;
      if (column === 'text' && row[column] === '')
        this.#emptyTexts.push({ sessionId, seq, parties: [String(row['sender']), String(row['recipient'])] });
      else this.#report(sessionId, `messages.${column} at ${seq}`, found);
    }
  }

  /** Compares each message with its receipts and with the evidence of both sides; call it after the last entry. */
  finish(): void {
    for (const { sessionId, seq, parties } of this.#emptyTexts)
      if (!parties.some((address) => this.#erased.has(address)))
        this.#report(
          sessionId,
          `messages.text at ${seq}`,
          'the text is missing, and neither side of the message was erased',
        );
    for (const { recipient } of this.#sql.inboxes.all())
      this.#report(null, 'messages.seq', `the messages of ${recipient} are not numbered from 1 on without gaps`);
    for (const [sender, { count, nth }] of this.#receipts)
      if (!this.#erased.has(sender) && Number(this.#sql.receiptsUntil.get(sender, nth)?.['n']) > count)
        this.#report(
          sender.slice(SESSION.length),
          'receipts.nth',
          `the session's evidence lacks a receipt at or before ${nth}`,
        );
    for (const { nth, message } of this.#sql.strayReceipts.all())
      this.#report(null, `receipts.message of ${nth}`, `there is no message ${message}`);
    let last: SqliteRow | null = null;
    let rank = -1;
    let isConfirmed = false;
    for (const row of this.#sql.all.iterate() as Iterable<SqliteRow>) {
      if (last !== null && row['id'] !== last['id']) this.#finishMessage(last, rank, isConfirmed);
      if (row['id'] !== last?.['id']) [rank, isConfirmed] = [-1, false];
      last = row;
      if (row['nth'] === null) continue;
      const next = (RECEIPT_STATES as readonly unknown[]).indexOf(row['receipt']);
      const follows = Number(row['nth']) > 0 && (rank === -1 ? next === 0 : next > rank);
      if (!follows || row['owner'] !== row['sender'])
        this.#report(null, `receipts of ${row['id']}`, `receipt ${row['nth']} does not follow the receipt before it`);
      rank = Math.max(next, rank);
      isConfirmed ||= row['receipt'] === 'delivered';
    }
    if (last !== null) this.#finishMessage(last, rank, isConfirmed);
  }

  /**
   * @param rank the index of the message's last receipt in {@link RECEIPT_STATES}; -1 without a receipt
   * @param isConfirmed true if one of the message's receipts says that the message was delivered
   */
  #finishMessage(row: SqliteRow, rank: number, isConfirmed: boolean): void {
    const [id, sender, recipient] = [String(row['id']), String(row['sender']), String(row['recipient'])];
    const state = RECEIPT_STATES[rank];
    const where = `messages.state of ${id}`;
    if (state !== row['state'])
      this.#report(
        null,
        where,
        `the state is ${JSON.stringify(row['state'])}, and the last receipt is ${state ?? 'missing'}`,
      );
    const answers = state === 'answered' ? this.#sql.answers.all(id) : null;
    if (answers?.some(({ sender }) => isMessageRecipient(String(sender), recipient)) === false)
      this.#report(null, where, 'the state is "answered", and the recipient sent no answer');
    const idOf = (address: string) => (address.startsWith(SESSION) ? address.slice(SESSION.length) : null);
    const isUnknown = (address: string) =>
      idOf(address) !== null && !address.includes('@') && !this.#erased.has(address);
    if (rank > 0 && isUnknown(recipient) && !this.#received.has(id))
      this.#report(
        idOf(recipient),
        where,
        `the state is "${state}", and the evidence of the recipient has no entry about the message`,
        true,
      );
    if (rank > 0 && this.#delivered.has(id) && !isConfirmed)
      this.#report(
        idOf(recipient),
        where,
        'the evidence of the recipient has an entry about the message, and no receipt says that it was delivered',
        true,
      );
    if (isUnknown(sender) && !this.#sent.has(id)) {
      const isOpen = this.#agents.has(sender);
      this.#report(
        isOpen ? idOf(sender) : null,
        `messages of ${id}`,
        isOpen
          ? 'the evidence of its sender has no step that sent it'
          : `its sender ${sender} is not a session of this store`,
        isOpen,
      );
    }
  }
}
