import type { Body } from '../evidence/bodies.ts';
import { disciplineOf } from '../evidence/discipline.ts';
import type { Entry } from '../evidence/entry.ts';
import { authorFor, CLAIM_OF, typeFor } from './form.ts';
import type { Ledger } from './ledger.ts';
import type { Report } from './report.ts';

/** Judges what an entry says of itself: where, in which mode, what it claims, its type and author, and what it replies to. */
export function judgeForm(ledger: Ledger, entry: Entry, body: Body, report: Report): void {
  const peripheral = body.event === 'start' ? body.peripheral : (ledger.visit?.peripheral ?? null);
  if (entry.peripheral !== peripheral)
    report.counted('place', `in ${peripheral ?? 'no peripheral'}`, `the entry says ${entry.peripheral ?? 'none'}`);
  // The entry after an erased change of mode says where it led.
  if (ledger.mode === null && ledger.pinned.specs.gate) ledger.mode = entry.mode;
  if (ledger.mode !== null && entry.mode !== ledger.mode)
    report.counted('mode', `the mode is ${ledger.mode}`, `the entry says ${entry.mode}`);
  const rule = disciplineOf(body);
  const claim = rule?.claim ?? CLAIM_OF[body.event];
  if (entry.claim !== claim)
    report.breach(
      body.event === 'stop' ? 'conclusion-last' : 'claim',
      `${body.event}: ${claim}`,
      `it claims to be a ${entry.claim}`,
    );
  const type =
    rule?.type ?? typeFor(body.event, peripheral === null ? undefined : ledger.pinned.specs.peripherals[peripheral]);
  const pattern = rule?.pattern ?? null;
  if ((entry.patternId ?? null) !== pattern)
    report.counted('reply', `about pattern ${pattern ?? 'none'}`, `it names ${entry.patternId ?? 'none'}`);
  if (entry.type !== type) report.breach('evidence-type', `${body.event}: ${type}`, `its type is ${entry.type}`);
  const author = authorFor(body, ledger.agent);
  if (entry.author !== author) report.breach('author', `author: ${author}`, `the entry names ${entry.author}`);
  const parent = parentOf(ledger, body);
  if ((entry.inReplyTo ?? null) !== parent)
    report.counted('reply', `replies to ${parent ?? 'nothing'}`, `it replies to ${entry.inReplyTo ?? 'nothing'}`);
}

/** The entry that one of this kind has to reply to. */
function parentOf(ledger: Ledger, body: Body): string | null {
  const { event } = body;
  const rule = disciplineOf(body);
  const selection =
    rule?.repliesTo === 'selection' && rule.pattern !== null ? ledger.selections.get(rule.pattern) : undefined;
  if (selection !== undefined) return selection;
  const { visit, pending, hop, visited, openedId, lastId } = ledger;
  switch (event) {
    case 'session-open':
      return null;
    case 'start':
      return hop ? hop.id : visited ? lastId : openedId;
    case 'step':
    case 'intent':
    case 'stop':
      return visit ? visit.headId : lastId;
    case 'outcome':
    case 'interrupted':
      return pending ? pending.id : lastId;
    default:
      return lastId;
  }
}
