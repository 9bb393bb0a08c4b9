import { requirementsOfEdge, startRequirements } from '../gate/requirements/edge-requirements.ts';
import type { Requirement } from '../gate/requirements/requirement.ts';
import { edgesFromPeripheral } from '../spec/edges-from.ts';
import type { PeripheralSpec, SpecSet } from '../spec/types.ts';
import { envelopeOf } from './envelope.ts';
import { guardedTransition, tagsProperty } from './guarded-transition.ts';
import type { MachineJson, StateJson, TransitionJson } from './machine-json.ts';
import { CLOSED_STATE, OUTSIDE_STATE } from './special-states.ts';

export const HOP_GRAPH_ID = 'hop-graph';

const APPLIES_OUTSIDE: readonly string[] = ['default', 'user-request', 'session-close'];

/**
 * Compiles the hop graph. States: `outside` (in no peripheral), one per peripheral, and `closed`. Events of `outside`:
 * `start.<peripheral>` and `close`. Events of a peripheral: `<exit>.<target>` for every edge, and `stop`. The tags of a
 * peripheral are its tools, and its `meta` is its envelope. Pure; throws if the spec set was not checked.
 */
export function compileHopGraph(specs: SpecSet): MachineJson {
  const peripherals = Object.values(specs.peripherals);
  const states: { [state: string]: StateJson } = {
    [OUTSIDE_STATE]: { on: { ...starts(specs, peripherals), close: { target: CLOSED_STATE } } },
  };
  for (const peripheral of peripherals) {
    if (Object.hasOwn(states, peripheral.id) || peripheral.id === CLOSED_STATE)
      throw new Error(`a peripheral cannot be called "${peripheral.id}"`);
    states[peripheral.id] = {
      description: peripheral.purpose,
      ...tagsProperty(peripheral.tools),
      meta: envelopeOf(specs, peripheral),
      on: { ...hops(specs, peripheral), stop: { target: OUTSIDE_STATE } },
    };
  }
  states[CLOSED_STATE] = { type: 'final' };
  return { id: HOP_GRAPH_ID, initial: OUTSIDE_STATE, states };
}

function starts(specs: SpecSet, peripherals: readonly PeripheralSpec[]): { [event: string]: TransitionJson } {
  const startable = peripherals.filter(({ entry }) => entry.sources.some(({ kind }) => APPLIES_OUTSIDE.includes(kind)));
  return Object.fromEntries(
    startable.map(({ id }) => [
      `start.${id}`,
      guardedTransition(OUTSIDE_STATE, id, startRequirements(specs, id).map(withSourcesOfStarts)),
    ]),
  );
}

/** Removes from a requirement the entry sources that only hops satisfy. */
function withSourcesOfStarts(need: Requirement): Requirement {
  if (need.kind !== 'source') return need;
  return { ...need, any: need.any.filter((source) => APPLIES_OUTSIDE.includes(source)) };
}

function hops(specs: SpecSet, { id }: PeripheralSpec): { [event: string]: TransitionJson } {
  const on: { [event: string]: TransitionJson } = {};
  for (const edge of edgesFromPeripheral(specs, id)) {
    const event = `${edge.exit}.${edge.to}`;
    if (Object.hasOwn(on, event)) throw new Error(`${id} has two edges "${event}"`);
    on[event] = guardedTransition(id, edge.to, requirementsOfEdge(specs, edge));
  }
  return on;
}
