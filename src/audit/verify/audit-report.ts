import type { Entry } from '../../evidence/entry.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { isSameJson, shortJson } from '../rules/compare-json.ts';
import type { AuditRule, RuleProblemDetails } from '../rules/rule-problem.ts';
import { type EvidenceGap, MAX_LISTED_FINDINGS, type Violation } from './audit-result.ts';

export type ReportViolation = (constraint: string, message: string, about?: RuleProblemDetails) => void;

/** Collects the violations and gaps of a session, each with the entry that is being read. */
export class AuditReport {
  readonly violations: Violation[] = [];
  readonly gaps: EvidenceGap[] = [];
  #violationCount = 0;
  #gapCount = 0;
  #at: Pick<Entry, 'id' | 'seq'> = { id: '', seq: -1 };

  #history: AuditState['history'] = 'complete';

  get entryId(): string {
    return this.#at.id;
  }

  /** Numbers of all violations and gaps, including those above the limit of the lists. */
  get counts(): { readonly violations: number; readonly gaps: number } {
    return { violations: this.#violationCount, gaps: this.#gapCount };
  }

  beginEntry(entry: Entry, { history }: AuditState): void {
    this.#at = entry;
    this.#history = history;
  }

  violation(
    rule: AuditRule,
    constraint: string,
    message: string,
    { needsHistory, ...about }: RuleProblemDetails = {},
  ): void {
    if (needsHistory && this.#history === 'erased') {
      this.gap('erased', `cannot be judged after an erased body: ${message}`, about.tool);
      return;
    }
    this.#violationCount += 1;
    if (this.violations.length >= MAX_LISTED_FINDINGS) return;
    const { id, seq } = this.#at;
    this.violations.push({ rule, entryId: id, seq, ...about, constraint, message });
  }

  /** Returns a function that reports violations of one rule. */
  reporterOf(rule: AuditRule): ReportViolation {
    return (...violation) => this.violation(rule, ...violation);
  }

  /** Reports a recorded value that differs from the expected one (`due`). */
  compare(rule: AuditRule, name: string, due: unknown, recorded: unknown, about?: RuleProblemDetails): void {
    if (isSameJson(recorded, due)) return;
    this.violation(rule, `${name} must be ${shortJson(due)}`, `${name} is ${shortJson(recorded)}`, about);
  }

  gap(kind: EvidenceGap['kind'], message: string, tool?: string): void {
    this.#gapCount += 1;
    if (this.gaps.length >= MAX_LISTED_FINDINGS) return;
    const { id, seq } = this.#at;
    this.gaps.push({ kind, entryId: id, seq, ...(tool === undefined ? {} : { tool }), message });
  }
}
