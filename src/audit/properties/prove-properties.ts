import type { SpecWarning } from '../../spec/check/spec-problem.ts';
import { targetOfHopExit } from '../../spec/names.ts';
import {
  type Edge,
  type PeripheralOrMode,
  type PeripheralSpec,
  type PropertyCondition,
  type SpecProperty,
  type SpecSet,
  TESTS_PASSED_CONDITION,
} from '../../spec/types.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';
import { type AbstractMove, type AbstractState, canChangeFiles, canShipChanges } from './abstract-session.ts';
import { findGraphWarnings } from './graph-warnings.ts';
import {
  abstractStateKey,
  exploreStateSpacesOf,
  type GetStateSpace,
  moveNamesToState,
  type ReachableState,
  type StateSpace,
} from './state-space.ts';

export interface PropertyProof {
  /** `reachable`, `way-back`, `bound`, `apart`, or the property as its author wrote it. */
  readonly property: string;
  readonly holds: boolean;
  readonly message: string | null;
  /** A shortest sequence of moves that breaks the property; null if no sequence does. */
  readonly path: readonly string[] | null;
}

const succeeded = (property: string): PropertyProof => ({ property, holds: true, message: null, path: null });
const failed = (property: string, message: string, path: readonly string[] | null = null): PropertyProof => ({
  property,
  holds: false,
  message,
  path,
});

/** Proves the built-in and the stated properties of a spec set; each false one has a shortest counterexample. Pure. */
export const proveProperties = (specs: SpecSet): readonly PropertyProof[] => proveAndFindWarnings(specs).proofs;

/** Proves the properties, and adds the warnings of {@link findGraphWarnings}. Pure. */
export function proveAndFindWarnings(specs: SpecSet): {
  readonly proofs: readonly PropertyProof[];
  readonly notes: readonly SpecWarning[];
} {
  const spaceFor = exploreStateSpacesOf(specs);
  const space = spaceFor([]);
  const proofs = [
    ...proveReachable(specs, space),
    ...proveWayBack(specs, space),
    ...proveBound(specs),
    ...proveApart(specs),
    ...(specs.properties ?? []).map((property) => proveStated(specs, spaceFor, property)),
  ];
  return { proofs, notes: findGraphWarnings(specs, space) };
}

/** Proves that a session or a sub-agent can enter every peripheral. */
function proveReachable(specs: SpecSet, space: StateSpace): PropertyProof[] {
  const peripherals = new Set(
    space.nodes.flatMap(({ state }) => [
      state.peripheral,
      ...space.sessions.delegations(state).map(({ to }) => to.peripheral),
    ]),
  );
  const unreached = Object.keys(specs.peripherals).filter((id) => !peripherals.has(id));
  return unreached.length === 0
    ? [succeeded('reachable')]
    : unreached.map((id) =>
        failed(
          'reachable',
          `no session can reach ${id}${
            blockedEdges(
              space,
              specs.edges.filter(({ to }) => to === id),
            ) || ': nothing leads there'
          }`,
        ),
      );
}

const MAX_LISTED_EDGES = 3;

/**
 * Lists the edges that can never be taken, or never by this agent, with reasons after ": "; empty if there are none.
 */
function blockedEdges(space: StateSpace, edges: readonly Edge[], agent?: string): string {
  const blocked = edges.flatMap((edge) => {
    const why = space.blockedBy(edge, agent);
    return why === null ? [] : [`${edge.from} ─${edge.exit}→ ${edge.to} never opens (${why})`];
  });
  const more = blocked.length > MAX_LISTED_EDGES ? `, and ${blocked.length - MAX_LISTED_EDGES} more` : '';
  return `${blocked.length > 0 ? ': ' : ''}${blocked.slice(0, MAX_LISTED_EDGES).join(', ')}${more}`;
}

/**
 * Proves that a reflecting peripheral stays reachable from everywhere. In a spec set without a reflecting peripheral,
 * proves that every peripheral can be left. A set of one peripheral passes, because it has no hops.
 */
function proveWayBack(specs: SpecSet, space: StateSpace): PropertyProof[] {
  const peripherals = Object.values(specs.peripherals);
  if (peripherals.length === 1) return [succeeded('way-back')];
  const reflecting = peripherals.filter(isReflectingPeripheral);
  if (reflecting.length > 0) {
    const names = reflecting.map(({ id }) => id);
    const stuck = space.firstUnableToReach(({ peripheral }) => peripheral !== null && names.includes(peripheral));
    return [stuck ? cannotReach('way-back', specs, space, stuck, names) : succeeded('way-back')];
  }
  const dead = space.nodes.find(({ state }) => state.peripheral !== null && !canLeave(space, state));
  if (!dead) return [succeeded('way-back')];
  const { peripheral, agent } = dead.state;
  const edges = specs.edges.filter(({ from }) => from === peripheral);
  const message = `${peripheral} is a dead end: no hop out of it can ever be taken${blockedEdges(space, edges, agent)}`;
  return [failed('way-back', message, moveNamesToState(dead))];
}

/** True if a hop out of the state's peripheral can be taken, perhaps after steps and changes of mode. */
function canLeave(space: StateSpace, from: AbstractState): boolean {
  const states = [from];
  const seen = new Set([abstractStateKey(from)]);
  for (const state of states) {
    for (const { kind, to } of space.moves(state)) {
      if (kind === 'hop' && to.peripheral !== from.peripheral) return true;
      if (kind !== 'step' && kind !== 'mode') continue;
      if (seen.has(abstractStateKey(to))) continue;
      seen.add(abstractStateKey(to));
      states.push(to);
    }
  }
  return false;
}

function cannotReach(
  property: string,
  { edges }: SpecSet,
  space: StateSpace,
  stuck: ReachableState,
  targets: readonly string[],
): PropertyProof {
  const { agent, peripheral } = stuck.state;
  const lastEdges = edges.filter(({ to }) => targets.includes(to));
  const message = `from ${peripheral} no hops lead to ${targets.join(' or ')}${blockedEdges(space, lastEdges, agent)}`;
  return failed(property, message, moveNamesToState(stuck));
}

/** Proves that every exit is bound to a destination. */
function proveBound({ peripherals }: SpecSet): PropertyProof[] {
  const open = Object.values(peripherals).flatMap(({ id, exits }) =>
    exits.filter((exit) => !exit.bound && targetOfHopExit(exit.name) === null).map(({ name }) => `${id}.${name}`),
  );
  return open.length === 0
    ? [succeeded('bound')]
    : open.map((exit) => failed('bound', `the exit ${exit} is bound to no destination`));
}

/** Proves that no peripheral both changes files and ships them. */
function proveApart(specs: SpecSet): PropertyProof[] {
  const hasShippingTool = ({ tools }: PeripheralSpec) => tools.some((id) => ['bash-git', 'bash-deploy'].includes(id));
  const found = Object.values(specs.peripherals).filter(
    (spec) => canChangeFiles(specs, spec) && (canShipChanges(specs, spec) || hasShippingTool(spec)),
  );
  return found.length === 0
    ? [succeeded('apart')]
    : found.map(({ id }) => failed('apart', `${id} both changes code and ships it`));
}

function proveStated(specs: SpecSet, spaceFor: GetStateSpace, property: SpecProperty): PropertyProof {
  const { text } = property;
  const space = spaceFor([]);
  switch (property.kind) {
    case 'never-enter':
      return proveNeverEnter(spaceFor, property);
    case 'never-can': {
      const { what, peripheral } = property;
      const spec = specs.peripherals[peripheral]!;
      const can = what === 'change' ? canChangeFiles(specs, spec) : canShipChanges(specs, spec);
      const tools = spec.tools.filter((id) => specs.tools[id]?.effect === 'act').join(', ');
      const worker = spec.delegates?.find(({ to, within }) => {
        const target = specs.peripherals[to];
        return within === 'own' && target && (what === 'change' ? canChangeFiles : canShipChanges)(specs, target);
      });
      if (!can && worker)
        return failed(text, `${peripheral} can ${what}: it starts sub-agents in ${worker.to}, within their own limits`);
      return can
        ? failed(text, `${peripheral} can ${what}: it has ${tools}, and the scope ${spec.scope.name}`)
        : succeeded(text);
    }
    case 'eventually': {
      const stuck = space.firstUnableToReach(({ peripheral }) => peripheral === property.peripheral);
      const to = [property.peripheral];
      return stuck ? cannotReach(text, specs, space, stuck, to) : succeeded(text);
    }
    case 'before': {
      const { first, then } = property;
      const without = space.explore((_, { to }) => !isInTarget(first, to));
      const message = `${targetName(then)} can be reached without ${targetName(first)} before`;
      const node = without.find(({ state }) => isInTarget(then, state) && !isInTarget(first, state));
      if (node) return failed(text, message, moveNamesToState(node));
      for (const each of without) {
        if (isInTarget(first, each.state)) continue;
        const started = space.sessions
          .delegations(each.state)
          .find(({ to }) => then.kind === 'peripheral' && isInTarget(then, to));
        if (started) return failed(text, message, moveNamesToState(each, started));
      }
      return succeeded(text);
    }
    case 'exclusive':
      return proveExclusive(specs, space, property);
    default:
      return property satisfies never;
  }
}

const isInTarget = (where: PeripheralOrMode, { peripheral, mode }: AbstractState): boolean =>
  where.kind === 'mode' ? mode === where.mode : peripheral === where.peripheral;

const targetName = (where: PeripheralOrMode): string => (where.kind === 'mode' ? where.mode : where.peripheral);

function proveNeverEnter(
  spaceFor: GetStateSpace,
  property: Extract<SpecProperty, { kind: 'never-enter' }>,
): PropertyProof {
  const { target, without, text } = property;
  const enters = ({ kind, to }: AbstractMove) =>
    target.kind === 'mode'
      ? kind === 'mode' && to.mode === target.mode
      : (kind === 'hop' || kind === 'start') && to.peripheral === target.peripheral;
  for (const atom of without) {
    const space = spaceFor(atom.kind === 'result' ? [atom.peripheral] : []);
    // Only a path that avoids the required peripheral can break the property.
    const nodes =
      atom.kind === 'visited' ? space.explore((_, { to }) => to.peripheral !== atom.peripheral) : space.nodes;
    for (const node of nodes) {
      for (const move of [...space.moves(node.state), ...space.sessions.delegations(node.state)]) {
        if (!enters(move) || atomHolds(atom, node.state, move)) continue;
        return failed(
          text,
          `${targetName(target)} can be entered without ${atomName(atom)}`,
          moveNamesToState(node, move),
        );
      }
    }
  }
  return succeeded(text);
}

function atomHolds(atom: PropertyCondition, state: AbstractState, move: AbstractMove): boolean {
  if (atom.kind === 'approval') return move.approved;
  if (atom.kind === 'mode') return state.mode === atom.mode;
  if (atom.kind === 'condition')
    return move.conditions.includes(atom.name) || (atom.name === TESTS_PASSED_CONDITION && state.passed);
  if (atom.kind === 'result') return state.results[atom.peripheral] === atom.value;
  atom.kind satisfies 'visited';
  return false;
}

function atomName(atom: PropertyCondition): string {
  if (atom.kind === 'approval') return 'an approval';
  if (atom.kind === 'mode') return `mode ${atom.mode}`;
  if (atom.kind === 'condition') return atom.name;
  if (atom.kind === 'result') return `${atom.peripheral}.${atom.value}`;
  atom.kind satisfies 'visited';
  return `a visit to ${atom.peripheral}`;
}

function proveExclusive(
  specs: SpecSet,
  space: StateSpace,
  { of, names, text }: Extract<SpecProperty, { kind: 'exclusive' }>,
): PropertyProof {
  if (of === 'tools') {
    const both = Object.values(specs.peripherals).find(
      ({ tools }) => names.filter((name) => tools.includes(name)).length > 1,
    );
    return both
      ? failed(text, `${both.id} has ${names.filter((name) => both.tools.includes(name)).join(' and ')}`)
      : succeeded(text);
  }
  for (const node of space.nodes) {
    const { peripheral } = node.state;
    if (peripheral === null || !names.includes(peripheral)) continue;
    for (const move of space.moves(node.state)) {
      if (move.kind !== 'hop' || move.to.peripheral === peripheral || !names.includes(move.to.peripheral ?? ''))
        continue;
      return failed(text, `a hop leads from ${peripheral} to ${move.to.peripheral}`, moveNamesToState(node, move));
    }
  }
  return succeeded(text);
}
