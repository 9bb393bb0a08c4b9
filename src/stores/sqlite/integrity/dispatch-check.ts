import { isObject, parseJson } from '../../../base/json.ts';
import type { EntryDraft } from '../../../evidence/entry.ts';
import { RECEIPT_STATES } from '../../../spec/policy/receipt-states.ts';
import type { Fields, Json } from '../../../spec/types.ts';
import { subjectIndexKey } from '../facets.ts';
import type { Database } from '../node-sqlite.ts';
import { prepareAtFirstUse } from '../statements.ts';

const SQL = {
  body: 'SELECT body FROM ephemeral WHERE id = ?',
  failure: `SELECT 1 FROM ephemeral WHERE session_id = ? AND subject = ? AND id LIKE 'failure-%'`,
  message: 'SELECT sender, recipient, kind, act, state FROM messages WHERE id = ?',
};

type Report = (sessionId: string, where: string, message: string, isGap?: boolean) => void;

/**
 * Checks the records of sent messages: each dispatch ends with an outcome or a failure under its own subject, and the
 * outcome agrees with the dispatch and with the message in the inbox.
 */
export function makeDispatchCheck(db: Database, report: Report) {
  const sql = prepareAtFirstUse(db, SQL);
  const checkOutcome = (id: string, outcome: Fields, wrong: (text: string) => void): void => {
    const text = sql.body.get(`dispatch-${id}`)?.['body'];
    if (text === undefined) return wrong('the outcome has no dispatch');
    if (text === 'null') return; // The dispatch was erased.
    const dispatch = parseJson(String(text));
    if (!isObject(dispatch)) return wrong('the dispatch cannot be read');
    const { from, to, talk } = dispatch;
    const row = sql.message.get(String(outcome['sent'] ?? id));
    if (row === undefined) return wrong(`message ${outcome['sent'] ?? id} is missing`);
    const isAction = talk === 'action';
    const sent = { sender: from, recipient: to, kind: 'bell', act: isAction ? 'request' : 'assert' };
    for (const [column, value] of Object.entries(sent))
      if (row[column] !== value)
        wrong(`the dispatch says ${column} ${JSON.stringify(value)}, and the message ${JSON.stringify(row[column])}`);
    if (outcome['valid'] !== true || outcome['type'] !== (isAction ? 'task-submission' : 'coordination-complete'))
      wrong(`the outcome of ${talk} is ${outcome['type']}`);
    const rank = (state: unknown) => (RECEIPT_STATES as readonly unknown[]).indexOf(state);
    if (rank(outcome['state']) < 0 || rank(outcome['state']) > rank(row['state']))
      wrong(`the outcome says "${outcome['state']}", and the message is "${row['state']}"`);
  };
  /** Passes an ephemeral entry to the check, in any order. Entries that do not record a dispatch are ignored. */
  return (sessionId: string, { id, subject, tags, inReplyTo }: Omit<EntryDraft, 'body'>, body: Json): void => {
    if (!tags?.includes('social') || !isObject(body)) return;
    const { event, message } = body as Fields;
    if (event !== 'dispatch' && event !== 'outcome') return;
    const wrong = (text: string, isGap = false) => report(sessionId, `ephemeral ${id}`, text, isGap);
    const parent = event === 'dispatch' ? undefined : `dispatch-${message}`;
    if (subject?.type !== 'evidence' || subject.id !== message || id !== `${event}-${message}` || inReplyTo !== parent)
      return wrong(`the subject, id or inReplyTo of the record does not name message ${message}`);
    if (event === 'outcome') return checkOutcome(String(message), body, wrong);
    if (body['from'] === 'person:clock' && body['talk'] === 'action') wrong('the clock asks for an action');
    const isOver =
      sql.body.get(`outcome-${message}`) ?? sql.failure.get(sessionId, subjectIndexKey(subject, sessionId));
    if (isOver === undefined) wrong('the dispatch has no outcome and no failure', true);
  };
}
