import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Fields } from '../../base/json.ts';
import type { ApprovalBody } from '../../evidence/bodies.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import type { Json } from '../../spec/types.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

/** The request that an approval must have been given for, as far as the entries show it. */
interface ApprovedRequest {
  readonly action: Fields;
  readonly reason: string;
  readonly view: { readonly [title: string]: Json | undefined };
}

/** Judges the approvals of a session: each must be for this session, and used once, by the next entry. */
export class ApprovalAudit {
  readonly #report: AuditReport;
  readonly #usedNonces = new Set<string>();
  readonly #usedIds = new Set<string>();
  /** The recorded approval that the next entry must use; null if there is none. */
  #waiting: ApprovalBody | null = null;
  /** The approval that the last hop used; null if it used none. */
  #ofHop: ApprovalBody | null = null;

  constructor(report: AuditReport) {
    this.#report = report;
  }

  /** Judges an approval's record when it appears. */
  record(body: ApprovalBody, sessionId: string): void {
    const { record, request } = body;
    const wrong = this.#report.reporterOf('approval');
    const { version, action, reason, view } = request;
    const versioned = version === undefined ? {} : { version };
    const bytes = canonicalize({ ...versioned, sessionId: record.sessionId, action, reason, view }) ?? '';
    if (createHash('sha256').update(bytes).digest('hex') !== record.requestHash)
      wrong('requestHash must be the hash of the approved request', 'requestHash does not match the recorded request');
    if (record.sessionId !== sessionId)
      wrong('an approval must be of this session', `the approval was given for session ${record.sessionId}`);
    if (this.#usedNonces.has(record.nonce) || this.#usedIds.has(record.id))
      wrong('an approval may be used only once', `approval ${record.id} was used before`);
    this.#usedNonces.add(record.nonce);
    this.#waiting = body;
  }

  /** Reports the approval that the next entry had to use and did not use. */
  drop(): void {
    if (!this.#waiting) return;
    const { id } = this.#waiting.record;
    this.#waiting = null;
    const message = `approval ${id} was not used by the next entry`;
    this.#report.violation('approval', 'the entry after an approval must use it', message, NEEDS_HISTORY);
  }

  discard(): void {
    this.#waiting = null;
    this.#ofHop = null;
  }

  useForHop(...use: Parameters<ApprovalAudit['use']>): void {
    this.#ofHop = this.use(...use);
  }

  /**
   * Compares an approval with the action that used it. The entries must confirm each title of the approval's view, with
   * two exceptions: the next start confirms the context of a hop (see {@link checkContext}), and only the gate compares
   * the lock files of an install, and the files that a call names, with the disk.
   * @param id the approval that the entry names; null if it names none
   * @param at epoch milliseconds
   * @returns the approval; null if the entry names none, or names another approval than the recorded one
   */
  use(id: string | null, at: number, done: ApprovedRequest): ApprovalBody | null {
    const approved = this.#waiting;
    this.#waiting = null;
    if (id === null) return null;
    const wrong = this.#report.reporterOf('approval');
    if (this.#usedIds.has(id)) wrong('an approval may be used only once', `approval ${id} was used before`);
    this.#usedIds.add(id);
    if (approved?.record.id !== id) {
      wrong('the approval must be recorded directly before', `approval ${id} does not exist`, NEEDS_HISTORY);
      return null;
    }
    const { record, request } = approved;
    if (at >= Date.parse(record.expiresAt))
      wrong(`the approval expires at ${record.expiresAt}`, `the approval was used at ${new Date(at).toISOString()}`);
    this.#compare('action', request.action, done.action);
    this.#compare('reason', request.reason, done.reason);
    const { locks, files, context } = APPROVAL_FIELD_TITLES;
    const unseen: readonly string[] = done.action['kind'] === 'step' ? [locks, files] : [context];
    for (const title of new Set([...Object.keys(done.view), ...Object.keys(request.view)]))
      if (title in done.view || !unseen.includes(title)) this.#compare(title, request.view[title], done.view[title]);
    return approved;
  }

  #compare(part: string, approved: Json | undefined, done: Json | undefined): void {
    this.#report.compare('approval', `"${part}" of the approved act`, approved, done, NEEDS_HISTORY);
  }

  /** The start after a hop must take the context that was approved with it. */
  checkContext(taken: Fields): void {
    if (this.#ofHop) this.#compare('context', this.#ofHop.request.view[APPROVAL_FIELD_TITLES.context], taken);
  }
}
