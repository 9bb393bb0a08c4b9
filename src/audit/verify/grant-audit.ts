import { type Fields, fieldsOf, listOf } from '../../base/json.ts';
import type { ApprovalBody, Body, GrantBody } from '../../evidence/bodies.ts';
import { APPROVAL_FIELD_TITLES, BOUND_SHIPPING_FIELDS } from '../../spec/policy/approval-fields.ts';
import type { Json } from '../../spec/types.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { trustedReportKind } from '../rules/audited-observations.ts';
import { isWritablePath } from '../rules/audited-path.ts';
import { isSameJson, shortJson } from '../rules/compare-json.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import { testRunsOfStep } from '../rules/test-runs.ts';
import type { AuditReport, ReportViolation } from './audit-report.ts';

interface AuditedGrant extends Pick<GrantBody, 'action' | 'bound' | 'limits'> {
  used: number;
  /** The reason why the grant ended early; null if it did not. */
  ended: string | null;
}

/**
 * Judges the grants of a session: an approval under a grant must be for the grant's action and within the grant's
 * limits.
 */
export class GrantAudit {
  readonly #violation: ReportViolation;
  readonly #grants = new Map<string, AuditedGrant>();
  /** The id of the grant whose first approval must be the next entry; null if there is none. */
  #unapproved: string | null = null;
  /** The ids of the commits that the session made under approvals. */
  readonly #ownCommits: Json[] = [];
  /** True after a step that may have changed files, and whose effects nobody observed. */
  #hasUnobservedChange = false;

  constructor(report: AuditReport) {
    this.#violation = report.reporterOf('approval');
  }

  /** Adds an entry that may begin or end a grant. `state` is the state before the entry. */
  add(body: Body, state: AuditState): void {
    if (this.#unapproved !== null && body.event !== 'approval') {
      this.#violation(
        'the first approval under a grant must follow it',
        `grant ${this.#unapproved} is not followed by its first approval`,
        NEEDS_HISTORY,
      );
      this.#unapproved = null;
    }
    switch (body.event) {
      case 'grant':
        if (this.#grants.has(body.id)) this.#violation('a grant is given once', `grant ${body.id} was given again`);
        this.#grants.set(body.id, { ...body, used: 0, ended: null });
        this.#unapproved = body.id;
        return;
      case 'grant-end': {
        const grant = this.#grants.get(body.grant);
        if (!grant)
          this.#violation('only a recorded grant may end', `grant ${body.grant} is not recorded`, NEEDS_HISTORY);
        else grant.ended ??= `${body.by} ended it`;
        return;
      }
      case 'step':
      case 'outcome':
        this.#addResult(body, state);
    }
  }

  #addResult(body: Extract<Body, { event: 'step' | 'outcome' }>, { visit, pinned }: AuditState): void {
    const report = visit && trustedReportKind(visit.scope, pinned.specs, body.tool);
    if (body.event === 'outcome' && body.effects === 'unobserved' && report !== 'deploy')
      this.#hasUnobservedChange = true;
    if (body.outcome.status !== 'ok') return;
    const result = fieldsOf(body.outcome.result);
    if (report === 'deploy' && result['committed'] === true) this.#ownCommits.push(result['sha'] ?? null);
    if (report === 'test' && testRunsOfStep(result).some(({ verdict }) => verdict !== 'pass'))
      for (const grant of this.#grants.values()) if (grant.limits.testsPass) grant.ended ??= 'a test run did not pass';
  }

  /** Judges an approval. If it was given under a grant, it names the grant. */
  use({ record, request }: ApprovalBody, at: number, { changes }: AuditState): void {
    const unapproved = this.#unapproved;
    this.#unapproved = null;
    const { grant: id } = record;
    if (unapproved !== null && id !== unapproved)
      this.#violation(
        `this must be the first approval under grant ${unapproved}`,
        `the approval names grant ${id ?? 'none'}`,
      );
    if (id === undefined) {
      if (record.via === 'grant')
        this.#violation('an approval under a grant must name the grant', 'the approval names no grant');
      return;
    }
    const grant = this.#grants.get(id);
    if (!grant) {
      this.#violation('an approval needs a recorded grant', `grant ${id} is not recorded`, NEEDS_HISTORY);
      return;
    }
    const { limits } = grant;
    if (grant.ended !== null)
      this.#violation('an approval must come before the end of its grant', `grant ${id} had ended: ${grant.ended}`);
    if (at >= limits.until)
      this.#violation(
        `the grant is valid until ${shortJson(limits.until)}`,
        `grant ${id} was used at ${new Date(at).toISOString()}`,
      );
    grant.used += 1;
    if (limits.uses !== undefined && grant.used > limits.uses)
      this.#violation(`uses: ${limits.uses}`, `grant ${id} was used ${grant.used} times`);
    if (!isSameJson(grant.action, request.action))
      this.#violation(`granted: ${shortJson(grant.action)}`, `approved: ${shortJson(request.action)}`);
    this.#checkBound(id, grant.bound, request.action, request.view);
    if (limits.files) this.#checkFiles(id, limits.files, request.view, Object.keys(changes));
  }

  #checkFiles(id: string, granted: readonly string[], view: Fields, changed: readonly string[]): void {
    if (this.#hasUnobservedChange)
      this.#violation(
        'a grant that limits files needs observed changes',
        `grant ${id} was used after a change that was not observed`,
      );
    const shipped = listOf(fieldsOf(view[APPROVAL_FIELD_TITLES.ships])['files']).map(String);
    const shown = Object.keys(fieldsOf(view[APPROVAL_FIELD_TITLES.changes]));
    for (const path of new Set([...shown, ...changed, ...shipped]))
      if (!isWritablePath(path, granted))
        this.#violation(`files: ${granted.join(' ')}`, `grant ${id} was used after a change of ${path}`, NEEDS_HISTORY);
  }

  /** Checks the parts of the request that the person saw, and that later requests must repeat unchanged. */
  #checkBound(id: string, bound: Fields, action: Fields, view: Fields): void {
    const kind = action['kind'];
    const compare = (part: string, was: Json | undefined, is: Json | undefined) => {
      if (!isSameJson(was, is))
        this.#violation(`${part} granted: ${shortJson(was)}`, `${part} approved under ${id}: ${shortJson(is)}`);
    };
    if (kind === 'step' || kind === 'delegate') compare('call', bound['shown'], view);
    if (kind !== 'hop') return;
    const ships = view[APPROVAL_FIELD_TITLES.ships];
    const placed = BOUND_SHIPPING_FIELDS.map((name) => [name, fieldsOf(ships)[name] ?? null]);
    const { committer } = fieldsOf(ships);
    const place = { ...Object.fromEntries(placed), ...(committer ? { committer } : {}) };
    compare('destination', bound['place'], ships === undefined ? undefined : place);
    const seen = fieldsOf(bound['findings']);
    for (const [path, finding] of Object.entries(fieldsOf(view[APPROVAL_FIELD_TITLES.findings])))
      compare(`finding in ${path}`, seen[path], finding);
    const { commits, merges, more } = fieldsOf(ships);
    const seenCommits = [...listOf(bound['commits']), ...this.#ownCommits];
    const sent = [...listOf(commits).map((commit) => fieldsOf(commit)['sha'] ?? null), ...listOf(merges)];
    for (const commit of [...sent, ...(more ? [`${String(more)} more`] : [])])
      if (!seenCommits.includes(commit)) compare('earlier commit', undefined, commit);
    const tests = listOf(bound['tests']);
    for (const path of listOf(view[APPROVAL_FIELD_TITLES.testFiles]))
      if (!tests.includes(path)) compare('changed test file', undefined, path);
  }
}
