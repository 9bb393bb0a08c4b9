import { asJson, type Fields } from '../../base/json.ts';
import { valueOfLazy } from '../../base/lazy.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { isTestFile } from '../../spec/test-files.ts';
import type { Json } from '../../spec/types.ts';
import type { Fruit } from '../fruit.ts';
import type { GateContext } from '../request.ts';
import type { ObservedTree } from '../scope/compare-trees.ts';
import type { ApprovalSubject } from './approval.ts';
import { changedFilesInRequest } from './grant.ts';

/** The view of a hop that a person approves; null if git could not read the working tree. */
export function approvedHopView(context: GateContext, fruit: Fruit, carried: Fruit): ApprovalSubject['view'] | null {
  const { view } = context;
  const tree = view.tree && treeView(context, view.tree);
  if (tree === null) return null;
  const subAgents = view.tree && 'ships' in view.tree ? (view.tree.ships ?? view.tree).subAgents : undefined;
  const changes = { ...subAgents?.changes, ...valueOfLazy(view.changes) };
  return {
    [APPROVAL_FIELD_TITLES.fruit]: { ...fruit },
    [APPROVAL_FIELD_TITLES.context]: { ...carried },
    [APPROVAL_FIELD_TITLES.changes]: changes,
    ...findingsView({ ...view.findings, ...subAgents?.findings }, changedFilesInRequest(tree ?? {}, changes)),
    ...tree,
  };
}

/** The view of the working tree for a person: the tested tree, the test commands, and the files that will ship. */
function treeView({ config }: GateContext, tree: ObservedTree): { readonly [title: string]: Json } | null {
  if ('problem' in tree) return null;
  const { kind, id, head, ships } = tree;
  const tests = config.test.map(({ run }) => run.join(' '));
  const tested = { kind, tree: id, head, tests };
  if (ships === null) return { [APPROVAL_FIELD_TITLES.tested]: tested };
  const { id: shipped, commits, subAgents: _, ...rest } = ships;
  return {
    [APPROVAL_FIELD_TITLES.tested]: tested,
    [APPROVAL_FIELD_TITLES.ships]: {
      tree: shipped,
      ...asJson(rest),
      commits: commits.map((commit) => ({ ...commit })),
    },
  };
}

/** The findings and the changed test files, which a person must see apart from other changes; empty if none. */
function findingsView(findings: Fields, files: readonly string[]): Fields {
  const tests = files.filter(isTestFile);
  return {
    ...(Object.keys(findings).length === 0 ? {} : { [APPROVAL_FIELD_TITLES.findings]: { ...findings } }),
    ...(tests.length === 0 ? {} : { [APPROVAL_FIELD_TITLES.testFiles]: tests }),
  };
}
