import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { effectsOfMode } from '../spec/mode-way.ts';
import { getOwn } from '../spec/names.ts';
import type { Edge, Mode, SpecSet } from '../spec/types.ts';
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
  const inWords = ofSet.get(edge) ?? needsOf(specs, edge).map((need) => describeNeed(specs, need));
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
  return transferContext(target, view).missing.flatMap(({ field }) =>
    getOwn(fruit, field)?.kind === 'observed' ? [] : [field],
  );
}

/** A need of a path in words. A named condition is shown with its rule: `ready (fruit.count > 2)`. */
export function describeNeed({ conditions }: SpecSet, need: Requirement): string {
  const rule = need.kind === 'condition' ? getOwn(conditions, need.name) : undefined;
  return rule === undefined ? describeRequirement(need) : `${describeRequirement(need)} (${rule})`;
}

/** The needs of an edge that are not met yet. The source counts as met, unless the operator must request the hop. */
function needsOf(specs: SpecSet, edge: Edge): Requirement[] {
  const others = requirementsOfEdge(specs, edge).filter(({ kind }) => kind !== 'source');
  const byRequestOnly = edge.sources.every(({ kind }) => kind === 'user-request');
  if (!byRequestOnly || others.some(({ kind }) => kind === 'principal')) return others;
  return [{ kind: 'principal', is: 'operator' }, ...others];
}

/** The possible starts while the session is in no peripheral, with their needs in words. */
export function startWayLegs(specs: SpecSet, view: SessionView, by: 'agent' | 'operator' = 'agent'): WayLeg[] {
  const alone = Object.keys(view.visits).length === 0 ? 'default' : 'session-close';
  const source = by === 'agent' ? alone : 'user-request';
  const to = Object.values(specs.peripherals).filter(({ entry }) => entry.sources.some(({ kind }) => kind === source));
  return to.map(({ id }) => {
    const others = startRequirements(specs, id).filter(({ kind }) => kind !== 'source');
    const needs = [...(by === 'agent' ? [] : [{ kind: 'principal' as const, is: by }]), ...others];
    const words = [...needs.map((need) => describeNeed(specs, need)), ...contextNeeds(specs, view, id)];
    return { from: null, exit: null, to: id, needs: words };
  });
}

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

/** The tools, hops and mode changes available in the session's current state. */
export function availableActions(specs: SpecSet, view: SessionView): Available {
  const peripheral = view.visit?.peripheral ?? null;
  const spec = peripheral === null ? undefined : specs.peripherals[peripheral];
  const isFull = !view.observeOnly && (view.visit?.steps ?? 0) >= (spec?.limits.steps ?? Infinity);
  const idle = view.closed || isFull || (!view.observeOnly && isTimeUp(view));
  return {
    peripheral,
    mode: view.mode,
    tools:
      idle || !spec
        ? []
        : (view.observeOnly ? Object.keys(specs.tools) : spec.tools).filter(
            (tool) => isToolServed(view, tool) && (view.observeOnly || effectAllowed(specs, view.mode, tool)),
          ),
    hops: view.closed
      ? []
      : peripheral === null
        ? startWayLegs(specs, view).map((leg) => inMode(specs, view, leg))
        : edgesFromPeripheral(specs, peripheral).map((edge) => inMode(specs, view, hopToWayLeg(specs, view, edge))),
    modes: view.closed ? [] : modesFrom(specs, view.mode),
  };
}

function modesFrom(specs: SpecSet, mode: Mode | null): Available['modes'] {
  if (!specs.modeGate || mode === null) return [];
  const forward = specs.modeGate.transitions.filter(({ from }) => from === mode);
  const back = operatorResetChanges(specs.modeGate).filter(({ from }) => from === mode);
  return [...forward.map((leg) => toModeStep(specs, leg)), ...back.map((leg) => toModeStep(specs, leg))];
}
