import { fieldsOf } from '../../base/json.ts';
import type { OutcomeBody, OutcomeRecord, StepBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { updateFindings } from '../../evidence/findings/findings.ts';
import { patternStatusAfter } from '../../evidence/patterns/pattern-tools.ts';
import { runningCommandsAfter } from '../../evidence/running-commands.ts';
import { stepWaitingTimeMs } from '../../evidence/waiting-time.ts';
import { addCommitToGrant, firstUncoveredFile } from '../../gate/approvals/grant.ts';
import type { TreeState } from '../../gate/scope/compare-trees.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type { SpecSet } from '../../spec/types.ts';
import { endGrants, type FactsDraft } from './facts-draft.ts';
import { addStepToObservations, changedPathsIn, readTestRuns, trustedCommandKind } from './observations.ts';

/** Applies a step, or the outcome of an acting step, to the facts. */
export function applyStep(specs: SpecSet, draft: FactsDraft, entry: Entry, body: StepBody | OutcomeBody): void {
  const { visit } = draft;
  draft.pending = null;
  // A refused call of an observing tool does not count; it is recorded only for its effects.
  const steps = body.event === 'step' && body.outcome.status === 'refused' ? 0 : 1;
  draft.steps += steps;
  if (body.outcome.status === 'ok') draft.successes += 1;
  const commandKind = trustedCommandKind(specs, visit?.peripheral, body.tool);
  const mayChange = body.event === 'outcome' || changedPathsIn(body.effects).length > 0;
  const changes = mayChange && countChanges(draft, body.effects);
  // Test results and checks may depend on a changed resource, or on files that git ignores.
  if (
    body.tool === INSTALL_TOOL_ID ||
    (body.effects !== 'unobserved' && body.effects.some(({ op }) => op === 'resource'))
  )
    draft.change += 1;
  // The effects of a deploy command are outside of the working tree.
  if (body.effects === 'unobserved' && mayChange && commandKind !== 'deploy') draft.blind = true;
  const counts = body.outcome.status === 'ok' && commandKind === 'test';
  if (counts) {
    const result = fieldsOf(body.outcome.result);
    applyTestedTree(draft, fieldsOf(result['tree']) as unknown as TreeState);
    const runs = readTestRuns(result, draft.change);
    draft.runs = [...draft.runs, ...runs];
    if (runs.some(({ verdict }) => verdict !== 'pass'))
      endGrants(draft, ({ testsPass }) => testsPass && 'a test run did not pass');
  }
  const { committed, sha } = fieldsOf(
    commandKind === 'deploy' && body.outcome.status === 'ok' ? body.outcome.result : null,
  );
  if (committed === true && typeof sha === 'string')
    draft.grants = draft.grants.map((grant) => addCommitToGrant(grant, sha));
  if (visit) {
    if (visit.deadline !== null) visit.deadline += stepWaitingTimeMs(specs.tools, body);
    visit.steps += steps;
    // The next step replies to the head of the visit. A conclusion or a reply to a selection is never the head.
    if (body.event === 'outcome' || (entry.inReplyTo === visit.headId && entry.claim !== 'conclusion'))
      visit.headId = entry.id;
    visit.background = runningCommandsAfter(visit.background, body);
    visit.observations = addStepToObservations(visit.observations, body, draft.change, commandKind);
  }
  if (changes) {
    const changed = changedPathsIn(body.effects);
    endGrants(draft, ({ files }) => {
      const outside = files && firstUncoveredFile(changed, files);
      return outside && `a file that the grant does not cover has changed: ${outside}`;
    });
  }
  applyReported(specs, draft, body);
  if (counts || mayFind(body.effects)) {
    draft.findings = { ...draft.findings };
    updateFindings(draft.findings, body.effects, counts ? body.outcome.result : undefined);
  }
  applyPattern(draft, entry.id, body.tool, body.outcome);
}

/** True if the effects of a step may add or remove a finding. */
const mayFind = (effects: StepBody['effects']): boolean =>
  effects !== 'unobserved' && effects.some(({ op, finding }) => finding !== undefined || op === 'delete');

/** Counts a change of the tree, or a possible one, which outdates earlier test results. Returns false for no change. */
function countChanges(draft: FactsDraft, effects: Parameters<typeof changedPathsIn>[0]): boolean {
  if (effects !== 'unobserved' && changedPathsIn(effects).length === 0) return false;
  draft.change += 1;
  return true;
}

/**
 * Takes over the tree of a test run. If it differs from the tree of the previous run, somebody else has changed files,
 * which counts as a change.
 */
function applyTestedTree(draft: FactsDraft, tree: TreeState): void {
  const seen = typeof tree.id === 'string' ? tree : null;
  if (draft.tested?.id !== seen?.id) draft.change += 1;
  draft.tested = seen;
}

/** Takes over the report of a backend: session state goes to the backpack, and a check counts for the present code. */
function applyReported(
  { tools }: SpecSet,
  draft: FactsDraft,
  { observed = {}, state = {} }: StepBody | OutcomeBody,
): void {
  if (Object.keys(state).length > 0) draft.backpack = { ...draft.backpack, ...state };
  if (Object.keys(observed).length === 0) return;
  for (const field of Object.values(fieldsReportedByTools({ tools }).checks))
    if (Object.hasOwn(observed, field))
      draft.checks = { ...draft.checks, [field]: { value: observed[field]!, change: draft.change } };
}

/** Takes over the status of a pattern: a PSR selects it, and a PUR records whether it held. */
function applyPattern(draft: FactsDraft, id: string, tool: string, outcome: OutcomeRecord): void {
  const after = patternStatusAfter(tool, outcome);
  if (!after) return;
  draft.patterns = { ...draft.patterns, [after.pattern]: after.status };
  if (after.selects) draft.selections = { ...draft.selections, [after.pattern]: id };
}
