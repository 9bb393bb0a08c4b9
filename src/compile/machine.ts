import { type EventObject, initialTransition, type SnapshotFrom, setup } from 'xstate';
import type { EnvelopeMeta } from './envelope.ts';
import { guards, type MachineEvent } from './guards.ts';
import { listMachineNames, type MachineJson } from './machine-json.ts';
import { assertMachineConfig } from './spec-tables.ts';

const parts = (names: readonly string[]) =>
  setup({
    types: { events: {} as MachineEvent & EventObject, tags: {} as string, meta: {} as EnvelopeMeta },
    guards: guards(...names),
  });

/** A compiled machine. Its `config` is the {@link MachineJson} that it was made from. */
export type Machine = ReturnType<ReturnType<typeof parts>['createMachine']>;
export type MachineSnapshot = SnapshotFrom<Machine>;

/** Builds a machine from its config and checks it. Throws with all problems, which are bugs: the spec was checked. */
export function buildMachine(config: MachineJson): Machine {
  const { createMachine } = parts(listMachineNames(config, 'guards'));
  const machine = createMachine(assertMachineConfig(config)) as Machine;
  initialSnapshot(machine);
  return machine;
}

export const initialSnapshot = (machine: Machine): MachineSnapshot => initialTransition(machine)[0];
