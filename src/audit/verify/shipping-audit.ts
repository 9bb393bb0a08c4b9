import { type Fields, fieldsOf, textOf } from '../../base/json.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import type { AuditedPin, AuditState } from '../rules/audit-state.ts';
import { isConfiguredBranch } from '../rules/commands/audited-branches.ts';
import { shortJson } from '../rules/compare-json.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

/** Checks that a hop that requires passed tests names the tested tree, and that the tree it names is shipped. */
export class ShippingAudit {
  readonly #report: AuditReport;
  /** The tree that the hop or start of the visit named; null if it named none. */
  #tree: Fields | null = null;

  constructor(report: AuditReport) {
    this.#report = report;
  }

  /** Judges the tree of a hop or start to a peripheral. */
  checkEntry(state: AuditState, to: string, tree: Fields | undefined): void {
    this.#tree = tree ?? null;
    const conditions = getOwn(state.pinned.specs.peripherals, to)?.entry.conditions ?? [];
    if (!tree || !conditions.includes(TESTS_PASSED_CONDITION) || textOf(tree['id']) === state.tested) return;
    const message = `the tree on entry was ${shortJson(tree['id'])}; the last test run tested ${shortJson(state.tested)}`;
    this.#report.violation('condition', `${TESTS_PASSED_CONDITION}, for the current files`, message, NEEDS_HISTORY);
  }

  /** Judges the shipped tree that a tool reports. */
  checkShipped(tool: string, result: Fields, { config: { git } }: AuditedPin): void {
    const branch = textOf(result['branch']);
    const wrong = this.#report.reporterOf('shipped');
    const allowed = [git?.branch ?? 'none'].flat().join(', ');
    if (
      tool === 'bash-git' &&
      result['pushed'] === true &&
      branch !== null &&
      !(git && isConfiguredBranch(branch, git))
    )
      wrong(`git.branch: ${allowed}`, `${branch} was pushed`, { tool });
    if (!this.#tree) return;
    const shippedId = textOf(fieldsOf(this.#tree['ships'])['id']);
    for (const did of ['committed', 'pushed'])
      if (result[did] === true && textOf(result['tree']) !== shippedId)
        wrong(`the tree ${shortJson(shippedId)}`, `${did} was ${shortJson(result['tree'])}`, { tool });
  }
}

/** The part of an approval's view that is about a tree. */
export function treeShownInApproval({ config }: AuditedPin, tree: Fields | undefined): Fields {
  if (!tree) return {};
  const { kind, id, head, ships } = tree;
  const tests = config.test.map(({ run }) => run.join(' '));
  const tested = { kind: kind ?? null, tree: id ?? null, head: head ?? null, tests };
  const { id: shipped, subAgents: _, ...rest } = fieldsOf(ships);
  const ofShips: Fields = ships ? { [APPROVAL_FIELD_TITLES.ships]: { tree: shipped ?? null, ...rest } } : {};
  return { [APPROVAL_FIELD_TITLES.tested]: tested, ...ofShips };
}
