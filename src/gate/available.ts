import { edgesFrom } from '../spec/edges-from.ts';
import { effectsIn } from '../spec/mode-way.ts';
import { own } from '../spec/names.ts';
import type { Edge, Mode, SpecSet, ToolEffect } from '../spec/types.ts';
import { transferContext } from './context.ts';
import type { Available, WayLeg } from './denial.ts';
import { describeRequirement, type Requirement } from './requirements/requirement.ts';
import { requirementsOf, startRequirements, transitionRequirements } from './requirements/requirements.ts';
import { withModes } from './requirements/way-modes.ts';
import type { SessionView } from './view.ts';

const ASKED_BY_OPERATOR: Requirement = { kind: 'principal', is: 'operator' };

const legOf = (specs: SpecSet, view: SessionView, edge: Edge): WayLeg => ({
  from: edge.from,
  exit: edge.exit,
  to: edge.to,
  needs: [...wordsOf(specs, edge), ...contextNeeds(specs, view, edge)],
});

const words = new WeakMap<SpecSet, Map<Edge, readonly string[]>>();

/** The needs of an edge in words; they depend on the spec set alone, so they are computed once. */
function wordsOf(specs: SpecSet, edge: Edge): readonly string[] {
  const ofSet = words.get(specs) ?? new Map<Edge, readonly string[]>();
  const known = ofSet.get(edge) ?? needsOf(specs, edge).map((need) => needInWords(specs, need));
  words.set(specs, ofSet.set(edge, known));
  return known;
}

/** The context fields that an agent must still state before an edge can be taken. */
function contextNeeds({ peripherals }: SpecSet, view: SessionView, { from, to }: Edge): readonly string[] {
  const target = peripherals[to];
  if (!target) return [];
  return transferContext(target, view).missing.flatMap(({ field }) =>
    own(peripherals[from]?.fruit ?? {}, field)?.kind === 'observed' ? [] : [field],
  );
}

/** A need in words. A condition of the spec set shows its rule: `ready (fruit.count > 2)`. */
export function needInWords({ conditions }: SpecSet, need: Requirement): string {
  const rule = need.kind === 'condition' ? own(conditions, need.name) : undefined;
  return rule === undefined ? describeRequirement(need) : `${describeRequirement(need)} (${rule})`;
}

/** The needs of an edge that are still open. The source's holds, unless the operator must request it. */
function needsOf(specs: SpecSet, edge: Edge): Requirement[] {
  const others = requirementsOf(specs, edge).filter(({ kind }) => kind !== 'source');
  const asked = edge.sources.every(({ kind }) => kind === 'user-request');
  return asked && !others.some(({ kind }) => kind === 'principal') ? [ASKED_BY_OPERATOR, ...others] : others;
}

const startLeg = (specs: SpecSet, to: string): WayLeg => ({
  from: null,
  exit: null,
  to,
  needs: startRequirements(specs, to)
    .filter((requirement) => requirement.kind !== 'source')
    .map((need) => needInWords(specs, need)),
});

/** The peripherals that the agent may start from outside. */
function startable(specs: SpecSet, view: SessionView): string[] {
  const source = view.steps === 0 && Object.keys(view.visits).length === 0 ? 'default' : 'session-close';
  return Object.values(specs.peripherals)
    .filter((peripheral) => peripheral.entry.sources.some(({ kind }) => kind === source))
    .map(({ id }) => id);
}

/** A leg from here with the changes of mode that it needs; unchanged if no reachable mode admits its target. */
const inMode = (specs: SpecSet, { mode }: SessionView, leg: WayLeg): WayLeg =>
  withModes(specs, mode, [leg], null)?.[0] ?? leg;

const effectAllowed = (specs: SpecSet, mode: Mode | null, tool: string): boolean => {
  const effect = specs.tools[tool]?.effect;
  return effect !== undefined && (!specs.modeGate || !mode || effectsIn(specs.modeGate, mode).includes(effect));
};

/** True if a backend serves the tool in this session. */
export const isServed = ({ unserved }: SessionView, tool: string): boolean => !unserved?.has(tool);

/** The tools, hops and mode changes available in the session's current state. */
export function available(specs: SpecSet, view: SessionView): Available {
  const peripheral = view.visit?.peripheral ?? null;
  const spec = peripheral === null ? undefined : specs.peripherals[peripheral];
  const idle = view.closed || view.visit?.status === 'expired';
  return {
    peripheral,
    mode: view.mode,
    tools:
      idle || !spec
        ? []
        : (view.observeOnly ? Object.keys(specs.tools) : spec.tools).filter(
            (tool) => isServed(view, tool) && (view.observeOnly || effectAllowed(specs, view.mode, tool)),
          ),
    hops: view.closed
      ? []
      : peripheral === null
        ? startable(specs, view).map((to) => inMode(specs, view, startLeg(specs, to)))
        : edgesFrom(specs, peripheral).map((edge) => inMode(specs, view, legOf(specs, view, edge))),
    modes: view.closed ? [] : modesFrom(specs, view.mode),
  };
}

function modesFrom(specs: SpecSet, mode: Mode | null): Available['modes'] {
  if (!specs.modeGate || mode === null) return [];
  const forward = specs.modeGate.transitions.filter(({ from }) => from === mode);
  const back =
    Object.hasOwn(specs.modeGate.effects, mode) &&
    mode !== specs.modeGate.reset &&
    !forward.some(({ to }) => to === specs.modeGate?.reset);
  return [
    ...forward.map((transition) => ({
      to: transition.to,
      needs: transitionRequirements(transition).map(describeRequirement),
    })),
    ...(back ? [{ to: specs.modeGate.reset, needs: ['a reset by operator'] }] : []),
  ];
}

/**
 * The shortest way through the hop graph from the current peripheral to one that `wanted` accepts (breadth first; among
 * equals the way with fewer needs), with the changes of mode that it needs; null if there is none. Pure: the needs
 * along the way are named, not judged.
 *
 * @param effect the effect of the tool to call at the end: the last mode allows it
 */
export function shortestWay(
  specs: SpecSet,
  view: SessionView,
  wanted: (peripheral: string) => boolean,
  effect: ToolEffect | null = null,
): readonly WayLeg[] | null {
  interface Way {
    readonly before: Way | null;
    readonly leg: WayLeg;
    readonly needs: number;
  }
  const here = view.visit?.peripheral ?? null;
  const first = here === null ? startable(specs, view) : edgesFrom(specs, here).map(({ to }) => to);
  const levels = levelsTo(specs, here, first, wanted);
  if (levels.length === 0) return null;
  const legs = (from: string | null, level: ReadonlySet<string>): WayLeg[] =>
    from === null
      ? first.filter((to) => level.has(to)).map((to) => startLeg(specs, to))
      : edgesFrom(specs, from)
          .filter(({ to }) => level.has(to))
          .map((edge) => legOf(specs, view, edge));
  let best = new Map<string | null, Way | null>([[here, null]]);
  for (const level of levels) {
    const ways = [...best].flatMap(([at, before]) =>
      legs(at, level).map((leg): Way => ({ before, leg, needs: (before?.needs ?? 0) + leg.needs.length })),
    );
    best = new Map();
    for (const way of ways.sort((a, b) => a.needs - b.needs)) if (!best.has(way.leg.to)) best.set(way.leg.to, way);
  }
  const [way] = best.values();
  return way ? withModes(specs, view.mode, legsOf(way), effect) : null;

  function legsOf(end: Way): WayLeg[] {
    const legs: WayLeg[] = [];
    for (let way: Way | null = end; way; way = way.before) legs.unshift(way.leg);
    return legs;
  }
}

/** The peripherals after 1, 2, … hops that lie on a shortest way to a wanted one; empty if there is none. */
function levelsTo(
  specs: SpecSet,
  here: string | null,
  first: readonly string[],
  wanted: (peripheral: string) => boolean,
): readonly ReadonlySet<string>[] {
  const seen = new Set(here === null ? [] : [here]);
  const levels: ReadonlySet<string>[] = [];
  let level = new Set(first.filter((id) => !seen.has(id)));
  for (;;) {
    if (level.size === 0) return [];
    const ends = [...level].filter(wanted);
    if (ends.length > 0) {
      let kept: ReadonlySet<string> = new Set(ends);
      const back = levels.toReversed().map((ids) => {
        kept = new Set([...ids].filter((id) => edgesFrom(specs, id).some(({ to }) => kept.has(to))));
        return kept;
      });
      return [...back.toReversed(), new Set(ends)];
    }
    levels.push(level);
    const next = new Set<string>();
    for (const id of level) seen.add(id);
    for (const id of level) for (const { to } of edgesFrom(specs, id)) if (!seen.has(to)) next.add(to);
    level = next;
  }
}
