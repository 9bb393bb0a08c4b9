import { type Actor, createActor } from 'xstate';
import { compileSpecs, type Machine } from '../compile/index.ts';
import { toBody } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import type { RequirementFacts } from '../gate/requirements/requirement.ts';
import type { Inspector } from '../ports/inspector.ts';
import type { SpecSet } from '../spec/types.ts';
import { type EventForMachine, machineEventsOf } from './state/machine-events.ts';
import type { SessionState } from './state/session-state.ts';

export type OnDurableEntry = (before: SessionState, after: SessionState, entry: Entry) => void;

/**
 * The running xstate actors of a session. They take the event of each entry once it is durable. Subscribe to them, but
 * send them nothing: a session is moved only by its calls.
 */
export interface SessionActors {
  /** null if the spec set has no mode gate. */
  readonly modeGate: Actor<Machine> | null;
  readonly hopGraph: Actor<Machine>;
  /** The lifecycle of the present visit, or of the last one; null before the first. Each visit has its own actor. */
  readonly visit: Actor<Machine> | null;
}

type Actors = { -readonly [name in keyof SessionActors]: SessionActors[name] };

const ACTOR_OF = { mode: 'modeGate', hopGraph: 'hopGraph', lifecycle: 'visit' } as const;

/**
 * Starts the actors of a session in its present state. The returned observer sends them the events of an entry. It
 * throws if an actor is then in another state than the session, which is a bug.
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
  const observer: OnDurableEntry = (before, after, entry) => {
    const body = toBody(entry.body);
    if (!body) return;
    const entered = body.event === 'start' ? lifecycle[body.peripheral] : undefined;
    if (entered) actors.visit = start(entered, 'idle');
    const moves = machineEventsOf(body, before);
    for (const move of moves) send(move, entry);
    for (const { machine } of moves) {
      const value = actors[ACTOR_OF[machine]]?.getSnapshot().value ?? after[machine];
      if (value !== after[machine])
        throw new Error(`entry ${entry.seq}: the ${machine} actor is in ${value}, the session in ${after[machine]}`);
    }
  };
  return { actors, observer };
}
