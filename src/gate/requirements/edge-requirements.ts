import { formatEntrySource, getOwn } from '../../spec/names.ts';
import {
  type Edge,
  type ModeTransition,
  type PeripheralSpec,
  type SpecSet,
  TESTS_PASSED_CONDITION,
} from '../../spec/types.ts';
import type { Requirement } from './requirement.ts';

/** The exit that only the operator can use. */
const USER_REQUEST = 'user-request';

/**
 * The requirement of a natural close, if the peripheral's entry names `agent-request`; only requests of an agent need
 * it.
 */
const naturalCloseOf = (peripheral: PeripheralSpec): Requirement[] =>
  peripheral.entry.sources.some(({ kind }) => kind === 'agent-request') ? [{ kind: 'natural-close' }] : [];

const agentsOf = (peripheral: PeripheralSpec): Requirement[] =>
  peripheral.agents === null ? [] : [{ kind: 'agent', any: peripheral.agents }];

/** The requirements of an exit, the same for all its destinations: the fruit that it implies, and the principal. */
export const exitRequirements = (exit: string, implies: Edge['implies']): readonly Requirement[] => [
  ...(implies ? [{ kind: 'fruit' as const, ...implies }] : []),
  ...(exit === USER_REQUEST ? [{ kind: 'principal' as const, is: 'operator' as const }] : []),
];

/** The requirements of an edge, in the order in which the gate judges a hop. */
interface EdgeRequirements {
  readonly exit: readonly Requirement[];
  readonly entry: readonly Requirement[];
  readonly gates: readonly Requirement[];
}

export function edgeRequirements(specs: SpecSet, edge: Edge): EdgeRequirements {
  const target = specs.peripherals[edge.to];
  return {
    exit: [
      ...exitRequirements(edge.exit, edge.implies),
      ...(edge.when === null ? [] : [{ kind: 'when' as const, cel: edge.when }]),
    ],
    entry: [
      ...(target ? agentsOf(target) : []),
      { kind: 'source', any: edge.sources.map(formatEntrySource) },
      ...(target ? naturalCloseOf(target) : []),
      ...edge.conditions.map((name) => ({ kind: 'condition' as const, name })),
    ],
    gates: edge.gates.map(gateRequirement),
  };
}

/** All requirements of an edge in one list, as the guard of the edge checks them. */
export function requirementsOfEdge(specs: SpecSet, edge: Edge): Requirement[] {
  const { exit, entry, gates } = edgeRequirements(specs, edge);
  return [...exit, ...entry, ...gates];
}

export function gateRequirement(gate: Edge['gates'][number]): Requirement {
  if (gate.kind === 'approval') return { kind: 'approval', by: gate.by, action: 'hop' };
  if (gate.kind === 'when') return { kind: 'when', cel: gate.cel };
  return { kind: 'pattern', pattern: gate.pattern, is: gate.is };
}

/** True if a hop or start depends on the working tree: its tests must pass, or a person approves shipping it. */
export function dependsOnTree(specs: SpecSet, requirements: readonly Requirement[], to: string): boolean {
  const ships = getOwn(specs.peripherals, to)?.scope.rule.command === 'deploy';
  return requirements.some((requirement) => {
    if (requirement.kind === 'approval') return ships;
    if (requirement.kind === 'when') return MENTIONS_TESTS.test(requirement.cel);
    if (requirement.kind !== 'condition') return false;
    return requirement.name === TESTS_PASSED_CONDITION || MENTIONS_TESTS.test(specs.conditions[requirement.name] ?? '');
  });
}

/** Matches a CEL rule that may depend on test results. If the rule does not, the tree is only observed needlessly. */
const MENTIONS_TESTS = /\btests\b/;

export function startRequirements(specs: SpecSet, to: string): Requirement[] {
  const target = getOwn(specs.peripherals, to);
  if (!target) return [];
  return [
    ...agentsOf(target),
    { kind: 'source', any: target.entry.sources.map(formatEntrySource) },
    ...target.entry.conditions.map((name) => ({ kind: 'condition' as const, name })),
  ];
}

export function transitionRequirements(transition: ModeTransition): Requirement[] {
  return [
    ...(transition.approval === null
      ? []
      : [{ kind: 'approval' as const, by: transition.approval, action: 'mode' as const }]),
    ...(transition.summary ? [{ kind: 'summary' as const }] : []),
  ];
}
