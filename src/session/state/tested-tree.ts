import { type Fields, fieldsOf, type Json } from '../../base/json.ts';
import {
  type ObservedTree,
  pathsChangedSince,
  printFirstPaths,
  type TreeState,
} from '../../gate/scope/compare-trees.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';

/** The verdict of a test run that shows neither a pass nor a failure. */
const NO_VERDICT = 'error';

/**
 * Adds the tested tree to the report of a test run. A pass does not count if somebody else changed files during the
 * run. Without a sandbox the run may change files itself, so the tree after the run counts.
 */
export async function addTestedTree(
  before: ObservedTree,
  report: ToolReport<Json>,
  observe: () => Promise<ObservedTree>,
): Promise<ToolReport<Json>> {
  const { outcome } = report;
  if (outcome.status !== 'ok') return report;
  const result = fieldsOf(outcome.result);
  const now = result['verdict'] === 'pass' ? await observe() : before;
  const withFields = (more: Fields): ToolReport<Json> => ({
    ...report,
    outcome: { status: 'ok', result: { ...result, ...more } },
  });
  if ('problem' in before || 'problem' in now) {
    const { problem } = ('problem' in now ? now : before) as { readonly problem: string };
    return withFields({ treeProblem: `it is not known which files were tested: ${problem}` });
  }
  if (result['unsandboxed'] === true || before.id === now.id) return withFields({ tree: treeRecord(now) });
  const paths = pathsChangedSince(before, now);
  const what = paths === null ? 'files were changed' : `${printFirstPaths(paths)} changed`;
  return withFields({ ...withoutPass(result, `${what} while the tests ran; run them again`), tree: treeRecord(now) });
}

const treeRecord = ({ kind, id, head, changed }: TreeState): Json => ({ kind, id, head, changed });

function withoutPass(result: Fields, why: string): Fields {
  const own: { [key: string]: Json } = result['verdict'] === 'pass' ? { verdict: NO_VERDICT, reportProblem: why } : {};
  const { runs } = result;
  return Array.isArray(runs)
    ? { ...own, runs: runs.map((run) => ({ ...fieldsOf(run), ...withoutPass(fieldsOf(run), why) })) }
    : own;
}
