import { getOrInsert } from '../../base/get-or-insert.ts';
import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import { effectsOfMode, type ModeChange, shortestModePath } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import { CHECK_PASSED_VALUE } from '../../spec/reported-fields.ts';
import type { Edge, Mode, PeripheralSpec, SpecSet, ToolEffect } from '../../spec/types.ts';
import {
  describeNeed,
  hopToWayLeg,
  isAgentAdmitted,
  isVisitSpent,
  needsOfEdge,
  needsOfStart,
  startWayLegs,
  toolsIn,
} from '../available-actions.ts';
import type { ModeStep, WayLeg } from '../denial.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { SessionView } from '../session-view.ts';
import { canYield, contextFacts, factsOfRequirement, type WayFact, wayFactsOf } from './way-facts.ts';
import { isAdmittedByMode, operatorResetChanges, toModeStep } from './way-modes.ts';

/** A path from the present state: its last move, the path before that move, and the state after it. */
interface Way {
  readonly before: Way | null;
  readonly step: Step | null;
  readonly peripheral: PeripheralSpec | null;
  readonly mode: Mode | null;
  /** The facts that may hold at this point of the path, as bits. */
  readonly facts: bigint;
  readonly needs: number;
  readonly hops: number;
  /** The number of hops before each mode change, added up over all mode changes. 0 if all mode changes come first. */
  readonly hopsBeforeModes: number;
}
type Step = { readonly change: ModeStep } | LegStep;
interface LegStep {
  readonly leg: WayLeg;
  readonly requirements: () => readonly Requirement[];
  /** The facts that can become true in the peripheral that this leg leaves. */
  readonly gained: bigint;
}

/** The maximum number of sets of facts that a search keeps for each peripheral and mode. */
const MOST_FACT_SETS = 8;

/**
 * The shortest path from the present peripheral to another one of `targets`, by hops and mode changes; null if none is
 * found. Each need can be met where the path names it: a test run, for example, where tests can be run in that mode. An
 * approval counts as given, and a rule as met, unless it needs a field or a count that nothing on the path supplies.
 * The search keeps at most 8 sets of facts for each peripheral and mode. It may therefore miss a longer path that meets
 * several requirements. Of several paths, the first is taken by these rules, in order:
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
  const way = search(specs, view, targets, effect, legs, ['agent']);
  if (way) return way;
  const resets = specs.modeGate ? operatorResetChanges(specs.modeGate) : [];
  return search(specs, view, targets, effect, [...legs, ...resets], ['agent', 'operator']);
}

/** True for an exit that implies a failed check, such as `fail`: it opens no target that demands a passed check. */
const needsFailure = ({ implies }: Edge): boolean => implies !== null && implies.value !== CHECK_PASSED_VALUE;

/** Returns the paths that are one move longer than `way`. `isNear` is true for the peripherals that may be entered. */
type MovesFrom = (way: Way, isNear: (peripheral: string) => boolean) => readonly Way[];

function extendWay(way: Way, step: Step, state: Pick<Way, 'peripheral' | 'mode' | 'facts'>): Way {
  const isHop = 'leg' in step;
  const { needs } = isHop ? step.leg : step.change;
  return {
    ...state,
    before: way,
    step,
    needs: way.needs + needs.length,
    hops: way.hops + Number(isHop),
    hopsBeforeModes: way.hopsBeforeModes + (isHop ? 0 : way.hops),
  };
}

/** Prepares the moves of a search: computes once all that the paths share. */
function movesOfSearch(
  specs: SpecSet,
  view: SessionView,
  modeLegs: readonly ModeChange[],
  starters: readonly ('agent' | 'operator')[],
): MovesFrom {
  const index = wayFactsOf(specs);
  const startable = index.maskOf(({ atStart }) => atStart);
  const ofVisit = index.maskOf((fact) => fact.ofVisit);
  const late = index.maskOf(({ isLate }) => isLate);
  const spent = isVisitSpent(specs, view);
  const admits = (mode: Mode | null, to: string): boolean =>
    isAdmittedByMode(specs, mode, to) && isAgentAdmitted(specs, view, to);
  const hops = new Map<Edge, Omit<LegStep, 'gained'>>();
  const gains = new Map<string, bigint>();
  const gainedIn = (peripheral: PeripheralSpec, mode: Mode | null, idle: boolean): bigint =>
    getOrInsert(gains, `${mode}\n${peripheral.id}\n${idle}`, () => {
      const tools = idle ? [] : toolsIn(specs, view, peripheral, mode).map((tool) => specs.tools[tool]!);
      return index.ofVisit(peripheral, tools);
    });
  /** True if all facts of a mask hold by the next move. */
  const isMet = (mask: bigint, { facts }: Way, now: bigint): boolean => (mask & ~(now & ~(late & ~facts))) === 0n;
  const hopsFrom: MovesFrom = (way, isNear) => {
    const { peripheral, mode } = way;
    if (!peripheral) return [];
    const gained = gainedIn(peripheral, mode, spent && way.hops === 0);
    // The fruit of a visit replaces the fruit of an earlier visit.
    const facts = (way.facts & ~index.ofFruit(peripheral.id)) | gained;
    return edgesFromPeripheral(specs, peripheral.id)
      .filter((edge) => admits(mode, edge.to) && isMet(index.ofEdge(edge), way, facts) && isNear(edge.to))
      .sort((a, b) => Number(needsFailure(a)) - Number(needsFailure(b)))
      .map((edge) => {
        const make = () => ({ leg: hopToWayLeg(specs, view, edge), requirements: () => needsOfEdge(specs, edge) });
        const step = { ...getOrInsert(hops, edge, make), gained };
        return extendWay(way, step, { peripheral: specs.peripherals[edge.to]!, mode, facts: facts & ~ofVisit });
      });
  };
  const startsFrom: MovesFrom = (way, isNear) => {
    const { peripheral, mode } = way;
    if (peripheral) return [];
    const facts = way.facts | startable;
    return starters.flatMap((by) =>
      startWayLegs(specs, view, by)
        .filter(({ to }) => admits(mode, to) && isMet(index.ofStart(to), way, facts) && isNear(to))
        .map((leg) => {
          const step = { leg, requirements: () => needsOfStart(specs, leg.to, by), gained: startable };
          return extendWay(way, step, { peripheral: specs.peripherals[leg.to]!, mode, facts });
        }),
    );
  };
  return (way, isNear) => [
    ...modeLegs
      .filter(({ from }) => from === way.mode && (way.peripheral === null || isNear(way.peripheral.id)))
      .map((change) => extendWay(way, { change: toModeStep(specs, change) }, { ...way, mode: change.to })),
    ...hopsFrom(way, isNear),
    ...startsFrom(way, isNear),
  ];
}

function search(
  specs: SpecSet,
  view: SessionView,
  targets: ReadonlySet<string>,
  effect: ToolEffect | null,
  modeLegs: readonly ModeChange[],
  starters: readonly ('agent' | 'operator')[],
): readonly WayLeg[] | null {
  const here = view.visit?.peripheral ?? null;
  const { modeGate } = specs;
  const mode = modeGate ? view.mode : null;
  const spent = isVisitSpent(specs, view);
  const hopsLeft = fewestHopsTo(specs, targets);
  const hopsFewest = (peripheral: string | null): number =>
    peripheral === null ? 0 : (hopsLeft.get(peripheral) ?? Infinity);
  const allowsEffect = (of: Mode): boolean =>
    effect === null || !modeGate || effectsOfMode(modeGate, of).includes(effect);
  const isEnd = ({ peripheral, mode }: Way): boolean =>
    peripheral !== null &&
    peripheral.id !== here &&
    targets.has(peripheral.id) &&
    (mode === null || allowsEffect(mode));
  const held = wayFactsOf(specs).maskOf(({ holds }) => holds(view));
  const peripheral = here === null ? null : (specs.peripherals[here] ?? null);
  const begin: Way = { before: null, step: null, peripheral, mode, facts: held, needs: 0, hops: 0, hopsBeforeModes: 0 };
  const movesFrom = movesOfSearch(specs, view, modeLegs, starters);
  const changes = mode === null ? 0 : (shortestModePath(specs, mode, allowsEffect)?.length ?? 0);
  // Nearly always a path exists whose number of hops is the minimum. Longer paths are tried only if none exists.
  for (let most = hopsFewest(here) + changes; most < Infinity; ) {
    let longer = Infinity;
    const tried = new Map<string, bigint[]>();
    const isNew = ({ peripheral, mode, facts, hops }: Way): boolean => {
      const sets = getOrInsert(tried, `${mode}\n${peripheral?.id}\n${spent && hops === 0}`, () => []);
      if (sets.length >= MOST_FACT_SETS || sets.some((set) => (set & facts) === facts)) return false;
      return sets.push(facts) > 0;
    };
    let level: readonly Way[] = [begin];
    for (let moves = 1; level.length > 0; moves++) {
      const isNear = (peripheral: string): boolean => {
        const fewest = moves + hopsFewest(peripheral);
        if (fewest > most) longer = Math.min(longer, fewest);
        return fewest <= most;
      };
      level = level
        .filter(isNew)
        .flatMap((way) => movesFrom(way, isNear))
        .sort((a, b) => a.needs - b.needs || a.hopsBeforeModes - b.hopsBeforeModes);
      const end = level.find(isEnd);
      if (end) return nameNeedsWhereMet(specs, view, end, held);
    }
    most = Math.max(longer, 2 * most);
  }
  return null;
}

/**
 * The fewest hops from each peripheral to a target, without regard to their needs; a peripheral without a path is left
 * out.
 */
function fewestHopsTo({ edges }: SpecSet, targets: ReadonlySet<string>): ReadonlyMap<string, number> {
  const hops = new Map([...targets].map((id) => [id, 0]));
  const edgesTo = getOrInsert(edgesToPeripherals, edges, () => Map.groupBy(edges, ({ to }) => to));
  // The loop also visits the peripherals that it adds: the nearest first.
  for (const [to, count] of hops)
    for (const { from } of edgesTo.get(to) ?? []) if (!hops.has(from)) hops.set(from, count + 1);
  return hops;
}

const edgesToPeripherals = new WeakMap<readonly Edge[], ReadonlyMap<string, readonly Edge[]>>();

/** The hops and starts of a path. Each leg has the mode changes before it; the last leg also those after it. */
function legStepsOf(end: Way): readonly LegStep[] {
  const steps: LegStep[] = [];
  let after: ModeStep[] = [];
  const addModes = () => {
    if (after.length > 0) steps[0] = { ...steps[0]!, leg: { ...steps[0]!.leg, modes: after } };
    after = [];
  };
  for (let way: Way | null = end; way?.step; way = way.before) {
    if ('change' in way.step) {
      after = [way.step.change, ...after];
      continue;
    }
    const { step } = way;
    if (steps.length > 0) addModes();
    steps.unshift(after.length > 0 ? { ...step, leg: { ...step.leg, modesAfter: after } } : step);
    after = [];
  }
  addModes();
  return steps;
}

/**
 * Names each need on the leg on which it can be met: the last leg whose peripheral can make the need true, or else the
 * leg that has the need.
 */
function nameNeedsWhereMet(specs: SpecSet, view: SessionView, end: Way, held: bigint): readonly WayLeg[] {
  const index = wayFactsOf(specs);
  const steps = legStepsOf(end);
  const needs = steps.map((): string[] => []);
  for (const [own, { leg, requirements }] of steps.entries()) {
    const name = (word: string, facts: readonly WayFact[], held = 0n): void => {
      const mask = index.ofFacts(facts) & ~held;
      const late = index.ofFacts(facts.filter(({ isLate }) => isLate));
      const met = steps.findLastIndex(
        ({ gained }, at) => at <= own && (gained & (at < own ? mask : mask & ~late)) !== 0n,
      );
      const at = met < 0 ? own : met;
      const from = specs.peripherals[steps[at]!.leg.from ?? ''];
      const isObserved = from && getOwn(from.fruit, word)?.kind === 'observed' && canYield(specs, from, word, []);
      if (!isObserved && (at === own || !needs[at]!.includes(word))) needs[at]!.push(word);
    };
    for (const need of requirements()) name(describeNeed(specs, need), factsOfRequirement(specs, need), held);
    for (const [field, fact] of contextFacts(specs, specs.peripherals[leg.to]!)) {
      const isLeft = steps.some((step, at) => at <= own && step.leg.from === fact.fruitOf);
      if (!fact.holds(view) || (isLeft && fact.fruitOf !== null)) name(field, [fact]);
    }
  }
  return steps.map(({ leg }, at) => ({ ...leg, needs: needs[at]! }));
}
