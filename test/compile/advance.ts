import { transition } from 'xstate';
import type { MachineEvent } from '../../src/compile/guards.ts';
import type { Machine, MachineSnapshot } from '../../src/compile/machine.ts';

/** The snapshot of a machine in one of its states. */
export const inState = (machine: Machine, value: string): MachineSnapshot =>
  machine.resolveState({ value, context: {} });

/** Gives a machine one event. `taken` is false, and the snapshot the same one, if no transition was open. */
export function advance(machine: Machine, snapshot: MachineSnapshot, event: MachineEvent) {
  if (!snapshot.can(event)) return { snapshot, taken: false };
  return { snapshot: transition(machine, snapshot, event)[0], taken: true };
}
