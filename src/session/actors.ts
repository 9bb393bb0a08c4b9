import { type Actor, createActor } from 'xstate';
import { compileSpecs, type Machine } from '../compile/index.ts';
import { toBody } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import type { RequirementFacts } from '../gate/requirements/requirement.ts';
import type { Inspector } from '../ports/inspector.ts';
import type { SpecSet } from '../spec/types.ts';
import { type EventForMachine, machineEventsOf } from './state/machine-events.ts';
import type { SessionState } from './state/session-state.ts';

export type OnDurableEntry = (before: SessionState, entry: Entry) => void;

type ReadableActor = Pick<Actor<Machine>, 'id' | 'subscribe' | 'getSnapshot'>;

/**
 * The running xstate actors of a session, to read and subscribe to. They take the event of each entry once it is
 * durable. Only the session's calls move the session.
 */
export interface SessionActors {
  /** null if the spec set has no mode gate. */
  readonly modeGate: ReadableActor | null;
  readonly hopGraph: ReadableActor;
  /** The lifecycle of the present or the last visit; null before the first visit. Each visit has its own actor. */
  readonly visit: ReadableActor | null;
}

type Actors = { -readonly [name in keyof SessionActors]: Actor<Machine> | Extract<SessionActors[name], null> };

const ACTOR_OF = { mode: 'modeGate', hopGraph: 'hopGraph', lifecycle: 'visit' } as const;

/**
 * Starts the actors of a session in its present state. The returned observer sends them the events of an entry.
 * @param inspector gets every actor, event and snapshot
 */
export function startSessionActors(
  specs: SpecSet,
  state: SessionState,
  inspector?: Inspector,
): { readonly actors: SessionActors; readonly observer: OnDurableEntry } {
  const { modeGate, hopGraph, lifecycle } = compileSpecs(specs);
  const start = (machine: Machine, value: string): Actor<Machine> => {
    inspector?.actor(machine, { value });
    return createActor(machine, { snapshot: machine.resolveState({ value, context: {} }) }).start();
  };
  const visited = state.facts.visit && lifecycle[state.facts.visit.peripheral];
  const actors: Actors = {
    modeGate: modeGate && state.mode ? start(modeGate, state.mode) : null,
    hopGraph: start(hopGraph, state.hopGraph),
    visit: visited && state.lifecycle ? start(visited, state.lifecycle) : null,
  };
  const send = ({ machine, type, facts }: EventForMachine, entry: Entry): void => {
    const actor = actors[ACTOR_OF[machine]];
    const event = { type, ...(facts ? { facts: facts as RequirementFacts } : {}), entry: entry.id };
    if (!actor) return;
    inspector?.event(actor.logic.id, event);
    actor.send(event);
    inspector?.snapshot(actor.logic.id, { value: actor.getSnapshot().value }, event);
  };
  const observer: OnDurableEntry = (before, entry) => {
    const body = toBody(entry.body);
    if (!body) return;
    const entered = body.event === 'start' ? lifecycle[body.peripheral] : undefined;
    if (entered) actors.visit = start(entered, 'idle');
    for (const move of machineEventsOf(body, before)) send(move, entry);
  };
  return { actors, observer };
}
