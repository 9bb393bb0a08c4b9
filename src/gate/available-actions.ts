import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { effectsOfMode } from '../spec/mode-way.ts';
import { getOwn } from '../spec/names.ts';
import type { Edge, Mode, PeripheralSpec, SpecSet } from '../spec/types.ts';
import type { Available, WayLeg } from './denial.ts';
import { requirementsOfEdge, startRequirements } from './requirements/edge-requirements.ts';
import { describeRequirement, type Requirement } from './requirements/requirement.ts';
import { isTimeUp, type SessionView } from './session-view.ts';
import { transferContext } from './transfer-context.ts';
import { modeStepsAdmitting, operatorResetChanges, toModeStep } from './ways/way-modes.ts';

/** A hop along an edge, with its needs in words. */
export const hopToWayLeg = (specs: SpecSet, view: SessionView, edge: Edge): WayLeg => ({
  from: edge.from,
  exit: edge.exit,
  to: edge.to,
  needs: [...wordsOf(specs, edge), ...contextNeeds(specs, view, edge.to, edge.from)],
});

const needsInWords = new WeakMap<SpecSet, Map<Edge, readonly string[]>>();

/** The needs of an edge in words. They depend on the spec set alone, so they are computed once. */
function wordsOf(specs: SpecSet, edge: Edge): readonly string[] {
  const ofSet = needsInWords.get(specs) ?? new Map<Edge, readonly string[]>();
  const inWords = ofSet.get(edge) ?? needsOfEdge(specs, edge).map((need) => describeNeed(specs, need));
  needsInWords.set(specs, ofSet.set(edge, inWords));
  return inWords;
}

/** The context fields that must still be stated before `to` can be entered from `from`, or from no peripheral. */
export function contextNeeds(
  { peripherals }: SpecSet,
  view: SessionView,
  to: string,
  from?: string,
): readonly string[] {
  const target = peripherals[to];
  if (!target) return [];
  const fruit = from === undefined ? {} : (peripherals[from]?.fruit ?? {});
  return transferContext(target, view, {}, from === undefined ? {} : { [from]: {} }).missing.flatMap(({ field }) =>
    getOwn(fruit, field)?.kind === 'observed' ? [] : [field],
  );
}

/** A need of a path in words. A named condition is shown with its rule: `ready (fruit.count > 2)`. */
export function describeNeed({ conditions }: SpecSet, need: Requirement): string {
  const rule = need.kind === 'condition' ? getOwn(conditions, need.name) : undefined;
  return rule === undefined ? describeRequirement(need) : `${describeRequirement(need)} (${rule})`;
}

/**
 * The needs of an edge that admits the agent, without the requirements on the source and on the agent. If only the
 * operator can request the hop, that is a need.
 */
export function needsOfEdge(specs: SpecSet, edge: Edge): Requirement[] {
  const others = requirementsOfEdge(specs, edge).filter(({ kind }) => kind !== 'source' && kind !== 'agent');
  const byRequestOnly = edge.sources.every(({ kind }) => kind === 'user-request');
  if (!byRequestOnly || others.some(({ kind }) => kind === 'principal')) return others;
  return [{ kind: 'principal', is: 'operator' }, ...others];
}

/** The possible starts while the session is in no peripheral, with their needs in words. */
export function startWayLegs(specs: SpecSet, view: SessionView, by: 'agent' | 'operator' = 'agent'): WayLeg[] {
  const alone = Object.keys(view.visits).length === 0 ? 'default' : 'session-close';
  const source = by === 'agent' ? alone : 'user-request';
  const to = Object.values(specs.peripherals).filter(
    ({ id, entry }) => isAgentAdmitted(specs, view, id) && entry.sources.some(({ kind }) => kind === source),
  );
  return to.map(({ id }) => {
    const words = needsOfStart(specs, id, by).map((need) => describeNeed(specs, need));
    return { from: null, exit: null, to: id, needs: [...words, ...contextNeeds(specs, view, id)] };
  });
}

export const needsOfStart = (specs: SpecSet, to: string, by: 'agent' | 'operator'): Requirement[] => [
  ...(by === 'agent' ? [] : [{ kind: 'principal' as const, is: by }]),
  ...startRequirements(specs, to).filter(({ kind }) => kind !== 'source' && kind !== 'agent'),
];

/** True if the session's agent may enter a peripheral. */
export const isAgentAdmitted = ({ peripherals }: SpecSet, { agent }: SessionView, to: string): boolean =>
  peripherals[to]?.agents?.includes(agent) ?? true;

/** Adds the mode changes that the first leg of a path needs. If no reachable mode admits its target, adds none. */
function inMode(specs: SpecSet, { mode }: SessionView, leg: WayLeg): WayLeg {
  const modes = modeStepsAdmitting(specs, mode, leg.to);
  return modes.length > 0 ? { ...leg, modes } : leg;
}

const effectAllowed = (specs: SpecSet, mode: Mode | null, tool: string): boolean => {
  const effect = specs.tools[tool]?.effect;
  return effect !== undefined && (!specs.modeGate || !mode || effectsOfMode(specs.modeGate, mode).includes(effect));
};

export const isToolServed = ({ unserved }: SessionView, tool: string): boolean => !unserved?.has(tool);

/** True if no tool can be called in the visit any more. */
export const isVisitSpent = (specs: SpecSet, view: SessionView): boolean =>
  !view.observeOnly &&
  (isTimeUp(view) ||
    (view.visit?.steps ?? 0) >= (specs.peripherals[view.visit?.peripheral ?? '']?.limits.steps ?? Infinity));

/** The tools that can be called in a peripheral and a mode. */
export const toolsIn = (specs: SpecSet, view: SessionView, { tools }: PeripheralSpec, mode: Mode | null): string[] =>
  (view.observeOnly ? Object.keys(specs.tools) : tools).filter(
    (tool) => isToolServed(view, tool) && (view.observeOnly || effectAllowed(specs, mode, tool)),
  );

/** The tools, hops and mode changes available in the session's current state. */
export function availableActions(specs: SpecSet, view: SessionView): Available {
  const peripheral = view.visit?.peripheral ?? null;
  const spec = peripheral === null ? undefined : specs.peripherals[peripheral];
  return {
    peripheral,
    mode: view.mode,
    tools: view.closed || !spec || isVisitSpent(specs, view) ? [] : toolsIn(specs, view, spec, view.mode),
    hops: view.closed
      ? []
      : peripheral === null
        ? startWayLegs(specs, view).map((leg) => inMode(specs, view, leg))
        : edgesFromPeripheral(specs, peripheral)
            .filter(({ to }) => isAgentAdmitted(specs, view, to))
            .map((edge) => inMode(specs, view, hopToWayLeg(specs, view, edge))),
    modes: view.closed ? [] : modesFrom(specs, view.mode),
  };
}

function modesFrom(specs: SpecSet, mode: Mode | null): Available['modes'] {
  if (!specs.modeGate || mode === null) return [];
  const forward = specs.modeGate.transitions.filter(({ from }) => from === mode);
  const back = operatorResetChanges(specs.modeGate).filter(({ from }) => from === mode);
  return [...forward.map((leg) => toModeStep(specs, leg)), ...back.map((leg) => toModeStep(specs, leg))];
}
