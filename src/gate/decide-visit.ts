import { excerpt, isBlank } from '../base/text.ts';
import { edgesFrom } from '../spec/edges-from.ts';
import { APPROVAL_VIEW } from '../spec/policy/closed-lists.ts';
import { reportedFields } from '../spec/reported-fields.ts';
import { delegationEdge } from '../spec/resolve/derive-edges.ts';
import { isTestFile } from '../spec/test-files.ts';
import type { Edge, Json, PeripheralSpec } from '../spec/types.ts';
import type { ApprovalAction, ApprovalGrant } from './approval.ts';
import { checkApproval } from './check-approval.ts';
import { transferContext } from './context.ts';
import { deny } from './deny.ts';
import { type Fruit, prospectiveFruit } from './fruit.ts';
import {
  conditionFailed,
  exitNotMet,
  exitProblem,
  exitRemedy,
  firstUnmetEntry,
  missingContext,
  modeForbids,
  treeUnknown,
  unknownPeripheral,
} from './refuse-visit.ts';
import type {
  CloseRequest,
  Decision,
  DelegateRequest,
  GateContext,
  HopRequest,
  Refusal,
  StartRequest,
  StopRequest,
} from './request.ts';
import { requirementFacts } from './requirements/facts.ts';
import { type RequirementFacts, unmet } from './requirements/requirement.ts';
import { dependsOnTree, edgeRequirements, requirementsOf, startRequirements } from './requirements/requirements.ts';
import type { TreeNow, TreeToShip } from './scope/tree.ts';
import { shortestWay } from './ways/shortest-way.ts';

export interface StartPlan {
  readonly peripheral: PeripheralSpec;
  readonly context: { readonly [field: string]: Json };
  /** The tree that the decision rests on; absent if it does not depend on the tree. */
  readonly tree?: TreeToShip;
  /** The hop graph's event, with its facts. */
  readonly event: { readonly type: string; readonly facts: RequirementFacts };
}
export interface StopPlan {
  readonly peripheral: PeripheralSpec;
  readonly fruit: Fruit;
}
export interface HopPlan extends StartPlan {
  readonly edge: Edge;
  readonly fruit: Fruit;
  readonly reason: string;
  /** The approval that this hop uses up; null if it needs none. */
  readonly approval: ApprovalGrant | null;
}

const stopPlan = (context: GateContext, stated: Fruit | undefined): Decision<StopPlan> => {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  const peripheral = view.visit ? specs.peripherals[view.visit.peripheral] : undefined;
  if (!view.visit || !peripheral) return deny(context, 'no-peripheral', {});
  const { fruit, problems } = prospectiveFruit(peripheral, view.visit.observed, stated ?? {});
  if (problems.length === 0) return { ok: true, plan: { peripheral, fruit } };
  return deny(context, 'invalid-fruit', {
    peripheral: peripheral.id,
    problems: problems.map(({ field, problem }) => `${excerpt(field, 100)}: ${problem}`),
  });
};

/** Decides whether a visit may end, and with which fruit. Stopping is refused only for an invalid stated fruit. */
export function decideStop(context: GateContext, { fruit }: StopRequest): Decision<StopPlan> {
  return stopPlan(context, fruit);
}

/** Decides whether the session may be closed: not twice, and not in the middle of a visit. */
export function decideClose(context: GateContext, _request: CloseRequest): Decision<null> {
  const { view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });
  return { ok: true, plan: null };
}

/** Decides whether a peripheral may be started from outside: first `default`, later `session-close`, `user-request`. */
export function decideStart(context: GateContext, request: StartRequest): Decision<StartPlan> {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });
  const target = peripheralOf(context, request.peripheral);
  if (!target) return unknownPeripheral(context, request.peripheral);
  const requirements = startRequirements(specs, target.id);
  const facts = requirementFacts(specs, view, requirements, { by: request.by });
  const closed = modeForbids(context, target) ?? firstUnmetEntry(context, target, unmet(requirements, facts));
  if (closed) return closed;
  const { context: carried, missing } = transferContext(target, view, withoutState(context, request.context));
  if (missing.length > 0) return missingContext(context, target, missing);
  const event = { type: `start.${target.id}`, facts };
  return { ok: true, plan: { peripheral: target, context: carried, ...knownTree(context), event } };
}

/** The context that a caller gives, without session state: only the tools that declare it set it. */
function withoutState({ specs }: GateContext, given: StartRequest['context'] = {}): { readonly [field: string]: Json } {
  const { state } = reportedFields(specs);
  return Object.fromEntries(Object.entries(given).filter(([field]) => !Object.hasOwn(state, field)));
}

/**
 * Decides a hop before anything changes: prospective fruit → exit → entry → gates → context → approval. If only the
 * approval is missing, the decision names it.
 */
export function decideHop(context: GateContext, request: HopRequest): Decision<HopPlan> {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (!view.visit) return deny(context, 'no-peripheral', {});
  const from = view.visit.peripheral;
  const target = peripheralOf(context, request.to);
  if (!target) return unknownPeripheral(context, request.to);

  const stop = stopPlan(context, request.fruit);
  if (!stop.ok) return stop;
  const { fruit } = stop.plan;

  const edge = edgeOf(context, request, from, fruit);
  if ('denial' in edge) return edge;
  if (edge.implies === null && !isText(request.reason)) {
    return exitNotMet(context, edge, 'an exit that the agent states needs a reason', 'state the reason in "reason"');
  }
  const { exit, entry, gates } = edgeRequirements(specs, edge);
  const all = requirementsOf(specs, edge);
  const options = { by: request.by, fruit };
  const before = requirementFacts(specs, view, all, options);

  const [notLeft] = unmet(exit, before);
  if (notLeft) return exitNotMet(context, edge, exitProblem(notLeft, fruit), exitRemedy(context, notLeft, options));
  const closed = modeForbids(context, target) ?? firstUnmetEntry(context, target, unmet(entry, before));
  if (closed) return closed;
  const [shut] = unmet(gates, before).filter(({ kind }) => kind !== 'approval');
  if (shut) return conditionFailed(context, target, shut);

  const carried = transferContext(target, {
    ...view,
    fruits: { ...view.fruits, [from]: fruit },
    backpack: { ...view.backpack, ...backpackOf(fruit) },
  });
  if (carried.missing.length > 0) return missingContext(context, target, carried.missing);
  const needsApproval = gates.some(({ kind }) => kind === 'approval');
  if (needsApproval) {
    const action: ApprovalAction = { kind: 'hop', from, exit: edge.exit, to: target.id };
    const tree = view.tree && shownTree(context, view.tree);
    if (tree === null) return treeUnknown(context, target);
    const approvalView = {
      [APPROVAL_VIEW.fruit]: { ...fruit },
      [APPROVAL_VIEW.context]: { ...carried.context },
      [APPROVAL_VIEW.changes]: { ...view.changes },
      ...findingsShown(view),
      ...tree,
    };
    const checked = checkApproval(context, action, request, approvalView);
    if (checked) return checked;
  }
  const facts = requirementFacts(specs, view, all, { ...options, approved: needsApproval });
  return {
    ok: true,
    plan: {
      peripheral: target,
      context: carried.context,
      ...knownTree(context),
      event: { type: `${edge.exit}.${edge.to}`, facts },
      edge,
      fruit,
      reason: request.reason,
      approval: needsApproval ? (request.approval ?? null) : null,
    },
  };
}

/** True if the working tree must be observed before a request is decided. */
export function needsTree({ specs, view }: GateContext, request: HopRequest | StartRequest | DelegateRequest): boolean {
  const to = request.kind === 'start' ? request.peripheral : request.to;
  const from = view.visit?.peripheral;
  if (request.kind === 'delegate') {
    const edge = delegationEdge(specs.peripherals, from ?? '', to);
    return edge !== undefined && dependsOnTree(specs, requirementsOf(specs, edge), to);
  }
  if (request.kind === 'start') return dependsOnTree(specs, startRequirements(specs, to), to);
  return (
    from !== undefined &&
    edgesFrom(specs, from).some((edge) => edge.to === to && dependsOnTree(specs, requirementsOf(specs, edge), to))
  );
}

const knownTree = ({ view: { tree } }: GateContext): { readonly tree?: TreeToShip } =>
  tree && !('problem' in tree) ? { tree } : {};

/** The part of an approval's view about the tree: the tested tree, its commands, the shipped files and the others. */
function shownTree({ config }: GateContext, tree: TreeNow): { readonly [title: string]: Json } | null {
  if ('problem' in tree) return null;
  const { kind, id, head, ships } = tree;
  const tests = config.test.map(({ run }) => run.join(' '));
  const tested = { kind, tree: id, head, tests };
  if (ships === null) return { [APPROVAL_VIEW.tested]: tested };
  const { id: shipped, commits, ...rest } = ships;
  return {
    [APPROVAL_VIEW.tested]: tested,
    [APPROVAL_VIEW.ships]: {
      tree: shipped,
      ...(rest as unknown as { [title: string]: Json }),
      commits: commits.map((one) => ({ ...one })),
    },
  };
}

/** The fields that a fruit adds to the backpack: all that are not null. */
export function backpackOf(fruit: Fruit): Fruit {
  return Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));
}

/** The findings and changed test files that a person must see apart from the other changes; empty if there are none. */
function findingsShown({ findings = {}, changes }: GateContext['view']): { readonly [title: string]: Json } {
  const tests = Object.keys(changes).filter(isTestFile);
  return {
    ...(Object.keys(findings).length === 0 ? {} : { [APPROVAL_VIEW.findings]: { ...findings } }),
    ...(tests.length === 0 ? {} : { [APPROVAL_VIEW.testFiles]: tests }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && !isBlank(value);

const peripheralOf = ({ specs }: GateContext, id: string): PeripheralSpec | undefined =>
  typeof id === 'string' && Object.hasOwn(specs.peripherals, id) ? specs.peripherals[id] : undefined;

/** Finds the edge of a hop request. Without an exit it is inferred; see {@link inferEdge}. */
function edgeOf(context: GateContext, request: HopRequest, from: string, fruit: Fruit): Edge | Refusal {
  const { specs, view } = context;
  const { to, exit } = request;
  const edges = edgesFrom(specs, from).filter((edge) => edge.to === to);
  const candidates = edges.map((edge) => edge.exit);
  const notAllowed = () =>
    deny(
      context,
      'hop-not-allowed',
      { from, to, exit: exit ?? null },
      shortestWay(specs, view, (peripheral) => peripheral === to),
    );
  if (edges.length === 0) return notAllowed();
  if (exit === undefined) {
    const inferred = inferEdge(context, request, edges, fruit);
    const why = 'several exits lead there; name one';
    return inferred ?? deny(context, 'exit-not-met', { exit: null, from, to, why, candidates });
  }
  const edge = edges.find((candidate) => candidate.exit === exit);
  if (edge) return edge;
  const known = specs.peripherals[from]?.exits.some(({ name }) => name === exit) ?? false;
  if (known) return notAllowed();
  return deny(context, 'exit-not-met', { exit, from, to, why: `${from} has no exit of this name`, candidates });
}

/**
 * Infers the exit of a hop that names none, from the exits that hold now (from all, if none holds): the one that the
 * reason names ("found target file": `found-target`), for the operator `user-request`, `hop-<target>`, the only one.
 */
function inferEdge(
  { specs, view }: GateContext,
  { to, reason, by }: HopRequest,
  edges: readonly Edge[],
  fruit: Fruit,
): Edge | undefined {
  const holding = edges.filter((edge) => {
    const { exit } = edgeRequirements(specs, edge);
    return unmet(exit, requirementFacts(specs, view, exit, { by, fruit })).length === 0;
  });
  const pool = holding.length === 0 ? edges : holding;
  const said = wordsOf(reason);
  const named = pool.filter(({ exit }) => said.includes(wordsOf(exit)));
  // "tests pass" names `tests-pass` and `pass`: the longer name counts.
  const best = named.filter(({ exit }) => named.every((other) => wordsOf(exit).includes(wordsOf(other.exit))));
  const called = (name: string) => pool.find(({ exit }) => exit === name);
  if (best.length === 1) return best[0];
  return (
    (by === 'operator' ? called('user-request') : undefined) ??
    called(`hop-${to}`) ??
    (pool.length === 1 ? pool[0] : undefined)
  );
}

/** The words of a text, each between spaces: ` found target file `. */
const wordsOf = (text: unknown): string =>
  ` ${
    isText(text)
      ? (text
          .toLowerCase()
          .match(/[a-z0-9]+/g)
          ?.join(' ') ?? '')
      : ''
  } `;
