import { getOrInsert } from '../../base/get-or-insert.ts';
import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import { effectsOfMode, type ModeChange } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import { CHECK_PASSED_VALUE } from '../../spec/reported-fields.ts';
import type { Edge, Mode, SpecSet, ToolEffect } from '../../spec/types.ts';
import { contextNeeds, hopToWayLeg, startWayLegs } from '../available-actions.ts';
import type { ModeStep, WayLeg } from '../denial.ts';
import type { SessionView } from '../session-view.ts';
import { isAdmittedByMode, operatorResetChanges, toModeStep } from './way-modes.ts';

/** A peripheral (null for outside) and a mode, as one text. */
type State = string;
const stateOf = (peripheral: string | null, mode: Mode | null): State => `${mode ?? ''}\n${peripheral ?? ''}`;
const partsOf = (state: State): { readonly peripheral: string | null; readonly mode: Mode | null } => {
  const [mode, peripheral] = state.split('\n');
  return { peripheral: peripheral || null, mode: mode || null };
};

interface Move {
  readonly to: State;
  /** The last move: a mode change, a hop along an edge, or a start in a peripheral. */
  readonly by: { readonly change: ModeChange } | { readonly edge: Edge } | { readonly start: WayLeg };
}

/** A path from the present state to another one: its last move, and the path before that move. */
interface Way {
  readonly before: Way | null;
  readonly step: { readonly change: ModeStep } | { readonly leg: WayLeg };
  readonly needs: number;
  readonly hops: number;
  /** For each mode change, the number of hops before it; the sum of these. 0 if all mode changes come first. */
  readonly late: number;
}

/**
 * The shortest path from the present peripheral to another one of `targets`, by hops and mode changes; null if none
 * exists. Pure: the needs are named, not judged. Of several paths, the first is taken by these rules, in order:
 *
 * 1. the fewest moves
 * 2. the fewest needs
 * 3. changes of mode before hops
 * 4. no exit for a check that did not pass
 *
 * If there is no other path, the operator's resets and starts count too.
 * @param effect the effect of the tool to call at the end: the last mode allows it
 */
export function shortestWay(
  specs: SpecSet,
  view: SessionView,
  targets: ReadonlySet<string>,
  effect: ToolEffect | null = null,
): readonly WayLeg[] | null {
  const here = view.visit?.peripheral ?? null;
  if (targets.size === (here !== null && targets.has(here) ? 1 : 0)) return null;
  const legs = specs.modeGate?.transitions ?? [];
  const starts = here === null ? startWayLegs(specs, view) : [];
  const way = search(specs, view, targets, effect, legs, starts);
  if (way) return way;
  const resets = specs.modeGate ? operatorResetChanges(specs.modeGate) : [];
  const asked = here === null ? startWayLegs(specs, view, 'operator') : [];
  return search(specs, view, targets, effect, [...legs, ...resets], [...starts, ...asked]);
}

/** True for an exit that implies a failed check, such as `fail`: it opens no target that demands a passed one. */
const needsFailure = ({ implies }: Edge): boolean => implies !== null && implies.value !== CHECK_PASSED_VALUE;

function search(
  specs: SpecSet,
  view: SessionView,
  targets: ReadonlySet<string>,
  effect: ToolEffect | null,
  modeLegs: readonly ModeChange[],
  starts: readonly WayLeg[],
): readonly WayLeg[] | null {
  const here = view.visit?.peripheral ?? null;
  const { modeGate } = specs;
  const admits = (mode: Mode | null, to: string): boolean =>
    isAdmittedByMode(specs, mode, to) && (specs.peripherals[to]?.agents?.includes(view.agent) ?? true);
  const movesOfState = new Map<State, readonly Move[]>();
  const movesFrom = (state: State): readonly Move[] => {
    return getOrInsert(movesOfState, state, () => movesOf(partsOf(state)));
  };
  const movesOf = ({ peripheral, mode }: ReturnType<typeof partsOf>): readonly Move[] => {
    const changes = modeLegs.filter(({ from }) => from === mode);
    const edges = peripheral === null ? [] : edgesFromPeripheral(specs, peripheral);
    return [
      ...changes.map((change) => ({ to: stateOf(peripheral, change.to), by: { change } })),
      ...edges
        .filter(({ to }) => to !== here && admits(mode, to))
        .sort((a, b) => Number(needsFailure(a)) - Number(needsFailure(b)))
        .map((edge) => ({ to: stateOf(edge.to, mode), by: { edge } })),
      ...(peripheral === null ? starts : [])
        .filter(({ to }) => admits(mode, to))
        .map((start) => ({ to: stateOf(start.to, mode), by: { start } })),
    ];
  };
  const isEnd = (state: State): boolean => {
    const { peripheral, mode } = partsOf(state);
    if (peripheral === null || peripheral === here || !targets.has(peripheral)) return false;
    return effect === null || !modeGate || mode === null || effectsOfMode(modeGate, mode).includes(effect);
  };
  const stepOf = ({ by }: Move): Way['step'] => {
    if ('change' in by) return { change: toModeStep(specs, by.change) };
    return { leg: 'edge' in by ? hopToWayLeg(specs, view, by.edge) : by.start };
  };
  const begin = stateOf(here, modeGate ? view.mode : null);
  let best = new Map<State, Way | null>([[begin, null]]);
  for (const level of levelsTo(begin, movesFrom, isEnd)) {
    const ways = [...best].flatMap(([state, before]) =>
      movesFrom(state)
        .filter(({ to }) => level.has(to))
        .map((move): readonly [State, Way] => {
          const step = stepOf(move);
          const { needs: words } = 'leg' in step ? step.leg : step.change;
          const { needs = 0, hops = 0, late = 0 } = before ?? {};
          const counts = 'leg' in step ? { hops: hops + 1, late } : { hops, late: late + hops };
          return [move.to, { before, step, needs: needs + words.length, ...counts }];
        }),
    );
    best = new Map();
    for (const [to, way] of ways.sort(([, a], [, b]) => a.needs - b.needs || a.late - b.late))
      if (!best.has(to)) best.set(to, way);
  }
  const [way] = best.values();
  return way ? nameFieldsWhereStated(specs, view, legsOf(way)) : null;
}

/** The legs of a path. Each leg has the mode changes before it; the last leg also those after it. */
function legsOf(end: Way): readonly WayLeg[] {
  const legs: WayLeg[] = [];
  let after: ModeStep[] = [];
  for (let way: Way | null = end; way; way = way.before) {
    if ('change' in way.step) {
      after = [way.step.change, ...after];
      continue;
    }
    const [next] = legs;
    if (next && after.length > 0) legs[0] = { ...next, modes: after };
    legs.unshift({ ...way.step.leg, ...(!next && after.length > 0 ? { modesAfter: after } : {}) });
    after = [];
  }
  if (after.length > 0) legs[0] = { ...legs[0]!, modes: after };
  return legs;
}

/** Names each context field that a leg needs on the leg where the agent can state it: a start, or leaving a visit. */
function nameFieldsWhereStated(specs: SpecSet, view: SessionView, legs: readonly WayLeg[]): readonly WayLeg[] {
  const fields = legs.map(({ from, to }) => contextNeeds(specs, view, to, from ?? undefined));
  const needs = legs.map((leg, index) => leg.needs.slice(0, leg.needs.length - fields[index]!.length));
  for (const [index, names] of fields.entries())
    for (const name of names) {
      const source = specs.peripherals[legs[index]!.to]?.context[name]?.source;
      const kindOn = ({ from }: WayLeg) => {
        if (from === null) return 'stated';
        if (source?.kind === 'fruit' && source.peripheral !== from) return undefined;
        return getOwn(specs.peripherals[from]?.fruit ?? {}, name)?.kind;
      };
      const at = legs.slice(0, index + 1).findLastIndex((leg) => kindOn(leg) !== undefined);
      if (at >= 0 && kindOn(legs[at]!) === 'observed') continue;
      const stated = needs[at < 0 ? index : at]!;
      if (!stated.includes(name)) stated.push(name);
    }
  return legs.map((leg, index) => ({ ...leg, needs: needs[index]! }));
}

/** For each number of moves from the start, the states on a shortest path to an end; empty if there is no path. */
function levelsTo(
  begin: State,
  movesFrom: (state: State) => readonly Move[],
  isEnd: (state: State) => boolean,
): readonly ReadonlySet<State>[] {
  const seen = new Set([begin]);
  const levels: ReadonlySet<State>[] = [];
  for (let level: ReadonlySet<State> = seen; ; ) {
    const next = new Set<State>();
    for (const state of level) for (const { to } of movesFrom(state)) if (!seen.has(to)) next.add(to);
    if (next.size === 0) return [];
    const ends = [...next].filter(isEnd);
    if (ends.length > 0) {
      let reaching: ReadonlySet<State> = new Set(ends);
      const back = levels.toReversed().map((states) => {
        reaching = new Set([...states].filter((state) => movesFrom(state).some(({ to }) => reaching.has(to))));
        return reaching;
      });
      return [...back.toReversed(), new Set(ends)];
    }
    levels.push(next);
    for (const state of next) seen.add(state);
    level = next;
  }
}
