import type { AuditedPin } from '../rules/audit-state.ts';
import type { AuditResult } from './audit-result.ts';
import { type EntryOrStoredEntry, SessionAudit } from './session-audit.ts';

/**
 * The round trip (the ← operator): compares a session's evidence and its observed effects with its pinned spec. It is a
 * second judgement, which uses nothing of the gate. It streams the entries, and bad evidence never makes it throw.
 *
 * It judges the contents of the entries. `verifyChain` and seals verify their integrity.
 *
 * @example
 * const { ok, violations, gaps } = await verifyConstraints({ specs, config }, store.entries(sessionId));
 */
export async function verifyConstraints(
  pinned: AuditedPin,
  entries: AsyncIterable<EntryOrStoredEntry> | Iterable<EntryOrStoredEntry>,
): Promise<AuditResult> {
  const audit = new SessionAudit(pinned);
  for await (const item of entries)
    if ('entry' in item) audit.add(item.entry, item.body === null);
    else audit.add(item);
  return audit.result();
}
