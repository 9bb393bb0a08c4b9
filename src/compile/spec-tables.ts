import { getOrInsert } from '../base/get-or-insert.ts';
import { mapValues } from '../base/map-values.ts';
import type { SpecSet } from '../spec/types.ts';
import { allRequirementsHold, type MachineEvent } from './guards.ts';
import { compileHopGraph } from './hop-graph.ts';
import { compileLifecycle } from './lifecycle.ts';
import { findMachineProblems, type MachineJson } from './machine-json.ts';
import { compileModeGate } from './mode-gate.ts';

/** A spec set and the transition tables of its machines. */
export interface SpecTables<M = MachineJson> {
  readonly specs: SpecSet;
  /** null if the spec set has no mode gate. */
  readonly modeGate: M | null;
  readonly hopGraph: M;
  /** Lifecycle machine by peripheral; each visit uses a new instance. */
  readonly lifecycle: { readonly [peripheral: string]: M };
}

const tablesBySpecs = new WeakMap<SpecSet, SpecTables>();

/** Returns the tables of a trusted spec set, the same ones each time. Throws if a guard is missing. */
export const compileSpecTables = (specs: SpecSet): SpecTables =>
  getOrInsert(tablesBySpecs, specs, () => compileEachMachine(specs, assertMachineConfig));

/** Compiles each machine of a spec set, and makes an `M` of its config. */
export const compileEachMachine = <M>(specs: SpecSet, make: (config: MachineJson) => M): SpecTables<M> => ({
  specs,
  modeGate: specs.modeGate && make(compileModeGate(specs.modeGate)),
  hopGraph: make(compileHopGraph(specs)),
  lifecycle: mapValues(specs.peripherals, (peripheral) => make(compileLifecycle(specs, peripheral))),
});

/** Checks a config. Throws with every problem at once: a config comes from a checked spec, so a problem is a bug. */
export function assertMachineConfig(config: MachineJson): MachineJson {
  const problems = findMachineProblems(config);
  if (problems.length > 0) throw new Error(`cannot build ${config.id}:\n${problems.join('\n')}`);
  return config;
}

/**
 * Returns the next state of an event; null if no transition is open. Pure. The machines are flat and have no context or
 * actions, so a table lookup equals xstate's `transition`; a differential test checks this for every machine, state and
 * event.
 */
export function stateAfter({ states }: MachineJson, state: string, event: MachineEvent): string | null {
  const on = Object.hasOwn(states, state) ? states[state]?.on : undefined;
  const transition = on && Object.hasOwn(on, event.type) ? on[event.type] : undefined;
  if (!transition) return null;
  const { guard, target } = transition;
  return !guard || allRequirementsHold({ event }, guard.params) ? target : null;
}
