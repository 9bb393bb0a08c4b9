import { randomUUID } from 'node:crypto';
import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import type { Inspector } from '../../ports/inspector.ts';

/** Sends a message to the watchers. Must neither throw nor block. */
export type SendToInspector = (message: StatelyInspectionEvent) => void;

/** The limit of nested states in a definition. It is deeper than any machine, so that none is truncated. */
const DEPTH = 64;

/** One machine in the form of the actors of `@statelyai/inspect`. */
interface Actor {
  readonly sessionId: string;
  readonly id: string;
  readonly _parent?: Actor;
  readonly logic: { readonly config: object };
  readonly finals: readonly string[];
  getSnapshot(): undefined;
  send(): void;
  on(): never;
}

/**
 * An inspector for `openSession({ inspector })` that writes the messages of the Stately inspector with
 * `@statelyai/inspect`: the mode gate and the hop graph as actors, and each visit's lifecycle as a child of the hop
 * graph. One inspector serves one session.
 */
export function statelyInspector(send: SendToInspector): Inspector {
  const actors = new Map<string, Actor>();
  const counts = new Map<string, number>();
  let root: string | undefined;
  const inspector = createInspector(
    { send },
    {
      serializationDepthLimit: DEPTH,
      // The types of `@statelyai/inspect` require an id and a root in every message, but it leaves some of them empty.
      serialize: (message) =>
        ({
          ...message,
          id: message.id ?? randomUUID(),
          rootId: rootOf(message.sessionId) ?? root,
        }) as StatelyInspectionEvent,
    },
  );
  const rootOf = (sessionId: string): string | undefined => {
    for (const actor of actors.values())
      if (actor.sessionId === sessionId) return actor._parent?.sessionId ?? actor.sessionId;
    return undefined;
  };
  const actorOf = (machineId: string): Actor => {
    const actor = actors.get(machineId);
    if (!actor) throw new Error(`the machine ${machineId} was not introduced`);
    return actor;
  };
  return {
    actor(machine, snapshot) {
      const count = (counts.get(machine.id) ?? 0) + 1;
      counts.set(machine.id, count);
      const parent = machine.id.endsWith('-lifecycle') ? actors.get('hop-graph') : undefined;
      const actor: Actor = {
        sessionId: count === 1 ? machine.id : `${machine.id}:${count}`,
        id: machine.id,
        ...(parent ? { _parent: parent } : {}),
        logic: { config: machine.config },
        finals: finalStates(machine.config),
        getSnapshot: () => undefined,
        send() {},
        on: unreachable,
      };
      root ??= actor.sessionId;
      actors.set(machine.id, actor);
      inspector.actor(actor, toWireSnapshot(actor, snapshot));
    },
    event(machineId, event) {
      inspector.event(actorOf(machineId), event as { type: string });
    },
    snapshot(machineId, snapshot, event) {
      const actor = actorOf(machineId);
      inspector.snapshot(actor, toWireSnapshot(actor, snapshot), { event: event as { type: string } });
    },
  };
}

const unreachable = (): never => {
  throw new Error('this actor is read-only');
};

function toWireSnapshot(
  { finals }: Actor,
  snapshot: object,
): { status: 'active' | 'done'; value: unknown; context: object } {
  const { value } = snapshot as { value?: unknown };
  return { status: finals.includes(String(value)) ? 'done' : 'active', value, context: {} };
}

function finalStates(config: object): readonly string[] {
  const { states = {} } = config as { states?: { readonly [state: string]: { readonly type?: string } } };
  return Object.entries(states).flatMap(([state, { type }]) => (type === 'final' ? [state] : []));
}
