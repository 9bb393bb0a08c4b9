import { asJson, type Fields } from '../../base/json.ts';
import type { SpecTables } from '../../compile/spec-tables.ts';
import type { Body } from '../../evidence/bodies.ts';
import type { HopPlan, StopPlan } from '../../gate/decide-visit.ts';
import type { TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { Edge, Principal } from '../../spec/types.ts';
import type { SessionState } from '../state/session-state.ts';
import type { GivenApproval } from './ask-approval.ts';

/** The bodies of a hop's entries, for one append: the stop of the visit, the hop, the start of the next visit. Pure. */
export function makeHopBodies(
  compiled: SpecTables,
  state: SessionState,
  { edge, fruit, context, event, reason, tree }: HopPlan,
  { by, approval, now }: { readonly by: Principal; readonly approval: GivenApproval | null; readonly now: number },
): Body[] {
  const from = compiled.specs.peripherals[edge.from];
  if (!from) throw new Error(`an edge leaves "${edge.from}", which the spec does not have`);
  return [
    makeStopBody(state, { peripheral: from, fruit }, { by, reason, exit: edge.exit }),
    {
      event: 'hop',
      from: edge.from,
      exit: edge.exit,
      to: edge.to,
      reason,
      by,
      approval: approval?.body.record.id ?? null,
      facts: event.facts,
      ...(tree ? { tree: asJson(tree) } : {}),
      ...reframe(compiled, state, edge, fruit),
    },
    makeStartBody(compiled, edge.to, { by, context, facts: null, now }),
  ];
}

/** The field `reframe` of a hop back to a visited peripheral after a failed expectation; empty for any other hop. */
function reframe(
  { specs }: SpecTables,
  { facts: { visits, visit } }: SessionState,
  edge: Edge,
  fruit: Fields,
): { reframe?: NonNullable<Extract<Body, { event: 'hop' }>['reframe']> } {
  const exits = specs.peripherals[edge.from]?.exits ?? [];
  const expected = exits.find(({ implies }) => implies !== null)?.implies;
  const actual = expected && fruit[expected.field];
  if (!visits[edge.to] || !expected || typeof actual !== 'string' || actual === expected.value) return {};
  return { reframe: { expected: expected.value, actual, shownBy: visit?.headId ?? null } };
}

/** @param at.facts the facts that the gate saw; null for the start that follows a hop */
export function makeStartBody(
  { specs }: SpecTables,
  peripheral: string,
  at: {
    readonly by: Principal;
    readonly context: Fields;
    readonly facts: Fields | null;
    readonly tree?: TreeToShip;
    readonly now: number;
  },
): Body {
  const minutes = specs.peripherals[peripheral]?.limits.minutes ?? null;
  const deadline = minutes === null ? null : at.now + minutes * 60_000;
  const tree = at.tree ? { tree: asJson(at.tree) } : {};
  return { event: 'start', peripheral, by: at.by, context: at.context, deadline, facts: at.facts, ...tree };
}

export const makeStopBody = (
  { facts: { visit } }: Pick<SessionState, 'facts'>,
  { peripheral, fruit }: StopPlan,
  how: { readonly by: Principal; readonly reason: string; readonly exit: string | null },
): Body => ({
  event: 'stop',
  peripheral: peripheral.id,
  fruit,
  ...how,
  ...(visit && visit.background.length > 0 ? { ended: visit.background } : {}),
});
