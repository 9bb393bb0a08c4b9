import type { SpecSet } from '../spec/types.ts';
import { builtWhenAsked } from './built-when-asked.ts';
import { compileHopGraph } from './hop-graph.ts';
import { compileLifecycle } from './lifecycle.ts';
import { buildMachine, type Machine } from './machine.ts';
import type { MachineJson } from './machine-json.ts';
import { compileModeGate } from './mode-gate.ts';

/** A spec set and the machines made from it. */
export interface CompiledSpecs {
  readonly specs: SpecSet;
  /** null: the spec set has no mode gate. */
  readonly modeGate: Machine | null;
  readonly hopGraph: Machine;
  /** By peripheral; one instance lives for one visit. */
  readonly lifecycle: { readonly [peripheral: string]: Machine };
}

/** Every machine config of a spec set, in the order mode gate, hop graph, lifecycles. Pure. */
export function compileConfigs(specs: SpecSet): readonly MachineJson[] {
  return [
    ...(specs.gate ? [compileModeGate(specs.gate)] : []),
    compileHopGraph(specs),
    ...Object.values(specs.peripherals).map(compileLifecycle),
  ];
}

/**
 * A trusted spec set's machines, ready to run. Pure; nothing is cached. Throws if a guard or a target is missing, which a checked spec set
 * cannot cause.
 */
export function compileSpecs(specs: SpecSet): CompiledSpecs {
  return {
    specs,
    modeGate: specs.gate && buildMachine(compileModeGate(specs.gate)),
    hopGraph: buildMachine(compileHopGraph(specs)),
    lifecycle: builtWhenAsked(specs.peripherals, (peripheral) => buildMachine(compileLifecycle(peripheral))),
  };
}
