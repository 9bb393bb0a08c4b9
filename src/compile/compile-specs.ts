import { assertSpecSet } from '../spec/assert-spec-set.ts';
import type { SpecSet } from '../spec/types.ts';
import { buildMachine, type Machine } from './machine.ts';
import type { MachineJson } from './machine-json.ts';
import { compileEachMachine, type SpecTables } from './spec-tables.ts';

/** A spec set and the machines that were built from it. */
type CompiledSpecs = SpecTables<Machine>;

/** Returns every machine config of a spec set: mode gate, hop graph, lifecycles. Pure. */
export function compileMachineConfigs(specs: SpecSet): readonly MachineJson[] {
  const { modeGate, hopGraph, lifecycle } = compileEachMachine(specs, (config) => config);
  return [...(modeGate ? [modeGate] : []), hopGraph, ...Object.values(lifecycle)];
}

/**
 * Builds the machines of a spec set: the mode gate, the hop graph and a lifecycle for each peripheral. Pure.
 * @throws TypeError if `specs` is not a loaded spec set
 * @example
 * const { hopGraph } = compileSpecs(await loadSpecs('default'));
 * console.log(Object.keys(hopGraph.states)); // 'explore', 'edit', …
 */
export function compileSpecs(specs: SpecSet): CompiledSpecs {
  assertSpecSet(specs, 'compileSpecs: specs');
  return compileEachMachine(specs, buildMachine);
}
