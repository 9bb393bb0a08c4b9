import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ApprovalBody } from '../evidence/bodies.ts';
import { type Fields, sameJson, show } from './json.ts';
import type { Ledger } from './ledger.ts';
import type { Report } from './report.ts';

/** What an approval has to be for, recomputed; a part that cannot be known is left out. */
export interface WantedApproval {
  readonly action: Fields;
  readonly reason: string;
  readonly view: Fields;
}

/** Judges the record by itself, when it appears: it has to be whole, for this session, and not be used up. */
export function judgeApprovalRecord(ledger: Ledger, { record, request }: ApprovalBody, report: Report): void {
  const breach = (constraint: string, message: string) => report.breach('approval', constraint, message);
  const { version, action, reason, view } = request;
  const versioned = version === undefined ? {} : { version };
  const bytes = canonicalize({ ...versioned, sessionId: record.sessionId, action, reason, view }) ?? '';
  if (createHash('sha256').update(bytes).digest('hex') !== record.requestHash)
    breach('requestHash is the hash of what was approved', 'the hash is of something else');
  if (record.sessionId !== ledger.sessionId) breach('for this session', `it was given for session ${record.sessionId}`);
  if (ledger.usedNonces.has(record.nonce) || ledger.usedApprovals.has(record.id))
    breach('single use', `approval ${record.id} was used before`);
  ledger.usedNonces.add(record.nonce);
}

/**
 * Judges the use of an approval by a hop or a mode change.
 * @param id the approval that the entry names
 * @param needed whether the spec demands one
 */
export function judgeApprovalUse(
  ledger: Ledger,
  at: number,
  id: string | null,
  needed: boolean,
  wanted: WantedApproval,
  report: Report,
): ApprovalBody | null {
  const given = ledger.approval;
  ledger.approval = null;
  if (id === null) {
    if (needed) report.counted('approval', 'approval: operator', 'nobody approved this');
    return null;
  }
  if (ledger.usedApprovals.has(id)) report.breach('approval', 'single use', `approval ${id} was used before`);
  ledger.usedApprovals.add(id);
  if (!given || given.body.record.id !== id) {
    report.counted('approval', 'an approval on record, directly before', `approval ${id} is not there`);
    return null;
  }
  const { record, request } = given.body;
  if (at >= Date.parse(record.expiresAt))
    report.breach('approval', `expires at ${record.expiresAt}`, `it was used at ${new Date(at).toISOString()}`);
  const says: readonly [string, unknown, unknown][] = [
    ['action', request.action, wanted.action],
    ['reason', request.reason, wanted.reason],
    ...Object.entries(wanted.view).map(([title, value]): [string, unknown, unknown] => [
      title,
      request.view[title],
      value,
    ]),
  ];
  for (const [what, approved, done] of says) {
    if (!sameJson(approved, done))
      report.counted(
        'approval',
        `${what} approved: ${show(approved as never)}`,
        `${what} done: ${show(done as never)}`,
      );
  }
  return given.body;
}
