import type { SpecSet } from '../spec/types.ts';
import { builtWhenAsked, once } from './built-when-asked.ts';
import { guards, type MachineEvent } from './guards.ts';
import { compileHopGraph } from './hop-graph.ts';
import { compileLifecycle } from './lifecycle.ts';
import { type MachineJson, machineProblems } from './machine-json.ts';
import { compileModeGate } from './mode-gate.ts';

/** A spec set and its machines as tables: what moves a session. Each is made when it is first asked for. */
export interface SpecTables {
  readonly specs: SpecSet;
  /** null: the spec set has no mode gate. */
  readonly modeGate: MachineJson | null;
  readonly hopGraph: MachineJson;
  /** By peripheral. */
  readonly lifecycle: { readonly [peripheral: string]: MachineJson };
}

/** A trusted spec set's tables. Reading one throws if a guard or a target is missing, which a checked spec set cannot cause. */
export function compileTables(specs: SpecSet): SpecTables {
  const { gate } = specs;
  const modeGate = gate && once(() => whole(compileModeGate(gate)));
  const hopGraph = once(() => whole(compileHopGraph(specs)));
  return {
    specs,
    get modeGate() {
      return modeGate ? modeGate() : null;
    },
    get hopGraph() {
      return hopGraph();
    },
    lifecycle: builtWhenAsked(specs.peripherals, (peripheral) => whole(compileLifecycle(peripheral))),
  };
}

/** A config that is proven whole. Throws with every problem at once: a config comes from a checked spec, so a problem is a bug. */
export function whole(config: MachineJson): MachineJson {
  const problems = machineProblems(config, Object.keys(guards));
  if (problems.length > 0) throw new Error(`cannot build ${config.id}:\n${problems.join('\n')}`);
  return config;
}

/**
 * The state that an event leads to; null where no transition is open. Pure. Our machines are flat, without context and actions, so a look into
 * the table is all that xstate's `transition` comes to: a test holds it to that, for every machine, state and event.
 */
export function stateAfter({ states }: MachineJson, state: string, event: MachineEvent): string | null {
  const on = Object.hasOwn(states, state) ? states[state]?.on : undefined;
  const transition = on && Object.hasOwn(on, event.type) ? on[event.type] : undefined;
  if (!transition) return null;
  const { guard, target } = transition;
  return !guard || guards[guard.type]({ event }, guard.params) ? target : null;
}
