import { assertArgument } from '../../base/assert-argument.ts';
import { fieldsOf, isObject } from '../../base/json.ts';
import { assertSpecSet } from '../../spec/assert-spec-set.ts';
import type { AuditedPin } from '../rules/audit-state.ts';
import type { AuditResult } from './audit-result.ts';
import { type EntryOrStoredEntry, SessionAudit } from './session-audit.ts';

/**
 * The round trip (the ← operator): compares a session's evidence and its observed effects with its pinned spec. It is a
 * second judgement, which uses nothing of the gate. It streams the entries, and bad evidence never makes it throw.
 *
 * It judges the contents of the entries. `hopgate verify` also checks the chain and seals, which show their integrity.
 * @throws TypeError if `pinned` is not the specs and config of a session, or `entries` is not a sequence
 * @example
 * const { ok, violations, gaps } = await verifyConstraints({ specs, config }, store.entries(sessionId));
 */
export async function verifyConstraints(
  pinned: AuditedPin,
  entries: AsyncIterable<EntryOrStoredEntry> | Iterable<EntryOrStoredEntry>,
): Promise<AuditResult> {
  assertSpecSet(fieldsOf(pinned)['specs'], 'verifyConstraints: pinned.specs');
  assertArgument(
    isObject(pinned.config),
    'verifyConstraints: pinned.config',
    'the config of the session',
    pinned.config,
  );
  const isSequence = isObject(entries) || Array.isArray(entries);
  assertArgument(isSequence, 'verifyConstraints: entries', 'what store.entries(id) returns, or a list', entries);
  const audit = new SessionAudit(pinned);
  let at = 0;
  for await (const item of entries) {
    const given = isObject(item) && 'entry' in item ? item.entry : item;
    assertArgument(isObject(given), `verifyConstraints: entries[${at++}]`, 'an entry or a stored entry', given);
    if ('entry' in item) audit.add(item.entry, item.body === null);
    else audit.add(item);
  }
  return audit.result();
}
