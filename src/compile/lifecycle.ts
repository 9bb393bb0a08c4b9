import { exitRequirements } from '../gate/requirements/edge-requirements.ts';
import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { recordsIntent } from '../spec/policy/tool-effects.ts';
import type { PeripheralSpec, SpecSet } from '../spec/types.ts';
import { envelopeOf } from './envelope.ts';
import { guardedTransition, tagsProperty } from './guarded-transition.ts';
import type { MachineJson, StateJson, TransitionJson } from './machine-json.ts';

/**
 * Compiles the lifecycle of one visit to a peripheral from its spec. Events: `start`; `step`, if there are tools;
 * `exit.<exit>` for each exit that opens a destination, guarded by the fruit value that the exit implies; `stop`. A
 * peripheral with limits also has the state `expired`; only an exit or a stop leaves it. A peripheral with a tool that
 * acts or simulates has the state `interrupted`, in which the outcome of a step is unknown. Each visit has its own
 * machine. Pure.
 */
export function compileLifecycle(specs: Pick<SpecSet, 'tools' | 'edges'>, peripheral: PeripheralSpec): MachineJson {
  const { id, purpose, tools, limits, exits } = peripheral;
  const opened = new Set(edgesFromPeripheral(specs, id).map(({ exit }) => exit));
  const ends: { [event: string]: TransitionJson } = {
    ...Object.fromEntries(
      exits
        .filter(({ name }) => opened.has(name))
        .map((exit) => [
          `exit.${exit.name}`,
          guardedTransition(id, 'stopped', exitRequirements(exit.name, exit.implies)),
        ]),
    ),
    stop: { target: 'stopped' },
  };
  const canExpire = limits.steps !== null || limits.minutes !== null;
  const canBeInterrupted = tools.some((tool) => recordsIntent(specs.tools[tool]));
  const active: { [event: string]: TransitionJson } = {
    ...(tools.length > 0 ? { step: { target: 'active' } } : {}),
    ...ends,
    ...(canExpire ? { expire: { target: 'expired' } } : {}),
    ...(canBeInterrupted ? { interrupt: { target: 'interrupted' } } : {}),
  };
  const states: { [state: string]: StateJson } = {
    idle: { on: { start: { target: 'active' } } },
    active: { ...tagsProperty(tools), on: active },
    ...(canExpire ? { expired: { description: limitsInWords(limits), on: ends } } : {}),
    ...(canBeInterrupted ? { interrupted: { on: { resume: { target: 'active' }, ...ends } } } : {}),
    stopped: { type: 'final' },
  };
  const meta = envelopeOf(specs, peripheral);
  return { id: `${id}-lifecycle`, description: purpose, meta, initial: 'idle', states };
}

const limitsInWords = ({ steps, minutes }: PeripheralSpec['limits']): string =>
  `after ${[...(steps === null ? [] : [`${steps} steps`]), ...(minutes === null ? [] : [`${minutes} minutes`])].join(' or ')}`;
