import type { Pinned } from '../rules/state.ts';
import { addEvidence, type Evidence, SessionAudit } from './session-audit.ts';
import type { AuditVerdict } from './verdict.ts';

/**
 * The round trip (the ← operator): holds a session's evidence, and what was seen to happen, against the spec it was pinned to. A second
 * judgement, from the spec's meaning; nothing of the gate is used. Streams; nothing is thrown for what the evidence says.
 *
 * It judges what the entries say. That they are the entries that were written is another question: see `verifyChain` and seals.
 *
 * @example
 * const { ok, violations, gaps } = await verifyConstraints({ specs, config }, store.entries(sessionId));
 */
export async function verifyConstraints(
  pinned: Pinned,
  entries: AsyncIterable<Evidence> | Iterable<Evidence>,
): Promise<AuditVerdict> {
  const audit = new SessionAudit(pinned);
  for await (const item of entries) addEvidence(audit, item);
  return audit.verdict();
}
