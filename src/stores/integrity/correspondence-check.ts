import { bodyOf } from '../../evidence/bodies.ts';
import type { Json } from '../../spec/types.ts';
import type { Database } from '../node-sqlite.ts';
import { type Statements, statementsOf } from '../statements.ts';

const SQL = {
  message: 'SELECT recipient, seq, kind, act, sender, author, text, ref, sent_at FROM messages WHERE id = ?',
  receipt: 'SELECT sender, message, state FROM receipts WHERE nth = ?',
};

type Report = (sessionId: string, where: string, message: string) => void;

/** Compares the inboxes with the messages and receipts that sessions recorded. */
export class CorrespondenceCheck {
  readonly #sql: Statements<keyof typeof SQL>;
  readonly #report: Report;
  /** Addresses of sessions with erased entries: the texts of their messages may be erased, too. */
  readonly #erased = new Set<string>();
  readonly #blank: { readonly sessionId: string; readonly seq: number; readonly from: string }[] = [];

  constructor(db: Database, report: Report) {
    this.#sql = statementsOf(db, SQL);
    this.#report = report;
  }

  add(sessionId: string, seq: number, body: Json, erased: boolean): void {
    if (erased) this.#erased.add(`session:${sessionId}`);
    const known = bodyOf(body);
    const address = `session:${sessionId}`;
    if (known?.event === 'message') {
      const { id, from, sentAt, event: _, ...same } = known;
      const row = this.#sql.message.get(id);
      if (row === undefined) return this.#report(sessionId, `messages at ${seq}`, `message ${id} is gone`);
      if (row['text'] === '' && same.text !== '') {
        this.#blank.push({ sessionId, seq, from });
        row['text'] = same.text;
      }
      const due = { ...same, recipient: address, sender: from, sent_at: sentAt };
      for (const [column, value] of Object.entries(due))
        if (row[column] !== value)
          this.#report(
            sessionId,
            `messages.${column} at ${seq}`,
            `it is ${JSON.stringify(row[column])}, not ${JSON.stringify(value)}`,
          );
    }
    if (known?.event === 'receipt' && known.nth !== null) {
      const row = this.#sql.receipt.get(known.nth);
      if (row?.['sender'] !== address || row['message'] !== known.message || row['state'] !== known.state)
        this.#report(sessionId, `receipts at ${seq}`, `receipt ${known.nth} is another one than was recorded`);
    }
  }

  /** A text may be missing only if its sender's session was erased. */
  finish(): void {
    for (const { sessionId, seq, from } of this.#blank)
      if (!this.#erased.has(from)) this.#report(sessionId, `messages.text at ${seq}`, 'the text is gone');
  }
}
