import { type AnyActorScope, createActor, type EventObject, setup, type SnapshotFrom } from 'xstate';
import { guards, type MachineEvent } from './guards.ts';
import type { MachineJson } from './machine-json.ts';
import { checkedConfig } from './tables.ts';

const parts = setup({ types: { events: {} as MachineEvent & EventObject }, guards });

/** A compiled machine. Its `config` is the {@link MachineJson} that it was made from. */
export type Machine = ReturnType<typeof parts.createMachine>;
export type MachineSnapshot = SnapshotFrom<Machine>;

/** A stored snapshot. The machines are flat and have no context, so the state's name suffices. */
export interface PersistedSnapshot {
  readonly value: string;
}

/**
 * Builds a machine from its config and checks it. Throws with every problem at once: a config comes from a checked
 * spec, so a problem is a bug.
 */
export function buildMachine(config: MachineJson): Machine {
  const machine = parts.createMachine(checkedConfig(config) as never) as Machine;
  initialSnapshot(machine);
  return machine;
}

/** Returns a machine's initial snapshot. Pure. */
export function initialSnapshot(machine: Machine): MachineSnapshot {
  return machine.getInitialSnapshot(inertScope());
}

/**
 * What xstate's own pure `transition` makes anew for every call, at five times the cost of the call itself: a scope
 * that does nothing, around an actor that never starts. Our machines have nothing to execute, so one serves all; it is
 * made when it is first needed.
 */
let inert: AnyActorScope | undefined;
function inertScope(): AnyActorScope {
  inert ??= makeInertScope();
  return inert;
}

function makeInertScope(): AnyActorScope {
  const self = createActor(parts.createMachine({}));
  const nothing = () => {};
  return {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: nothing,
    defer: nothing,
    stopChild: nothing,
    emit: nothing,
    actionExecutor: nothing,
  };
}

/**
 * Gives a machine one event. Pure: nothing is executed. `taken` tells whether a transition was open; if none was, the
 * snapshot is the same one (xstate is silent about it: the gate refuses, in words).
 */
export function advance(
  machine: Machine,
  snapshot: MachineSnapshot,
  event: MachineEvent,
): { readonly snapshot: MachineSnapshot; readonly taken: boolean } {
  if (!snapshot.can(event)) return { snapshot, taken: false };
  return { snapshot: machine.transition(snapshot, event, inertScope()), taken: true };
}

/** A snapshot as JSON. */
export function persist(snapshot: MachineSnapshot): PersistedSnapshot {
  return { value: snapshot.value as string };
}

/** The snapshot that {@link persist} stored. Throws if the machine has no such state (its spec is another one). */
export function restore(machine: Machine, { value }: PersistedSnapshot): MachineSnapshot {
  if (typeof value !== 'string' || !Object.hasOwn(machine.states, value)) {
    throw new Error(`${machine.id} has no state ${JSON.stringify(value)}: it was stored under another spec`);
  }
  return machine.resolveState({ value, context: {} });
}
