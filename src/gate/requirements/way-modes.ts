import { effectsIn, type ModeLeg, modeWay } from '../../spec/mode-way.ts';
import type { Mode, SpecSet, ToolEffect } from '../../spec/types.ts';
import type { ModeStep, WayLeg } from '../denial.ts';
import type { SessionView } from '../view.ts';
import { describeRequirement } from './requirement.ts';
import { transitionRequirements } from './requirements.ts';

/**
 * The modes on the shortest way to one that `wanted` accepts, and what each change needs, as data of a refusal; empty
 * if there is no way. Pure: the needs are named, not judged.
 */
export function modesTo(
  { specs, view }: { readonly specs: SpecSet; readonly view: SessionView },
  wanted: (mode: Mode) => boolean,
): { readonly modes?: readonly string[]; readonly needs?: readonly string[] } {
  const way = view.mode && modeWay(specs, view.mode, wanted);
  if (!way || way.length === 0) return {};
  const steps = way.map((leg) => modeStep(specs, leg));
  return { modes: steps.map(({ to }) => to), needs: steps.flatMap(({ needs }) => needs) };
}

/**
 * The way with the changes of mode that its legs need, as few as possible: each leg's target is admitted by the mode,
 * and the last mode allows `effect`. null if no order of changes does that. Pure.
 */
export function withModes(
  specs: SpecSet,
  mode: Mode | null,
  way: readonly WayLeg[],
  effect: ToolEffect | null,
): readonly WayLeg[] | null {
  const { modeGate: gate } = specs;
  if (!gate || mode === null || !Object.hasOwn(gate.effects, mode)) return way;
  interface Walk {
    /** The number of legs taken, and the mode after them. */
    readonly taken: number;
    readonly mode: Mode;
    /** The changes before each leg; the last ones come after all of them. */
    readonly changes: readonly (readonly ModeStep[])[];
  }
  const admitted = ({ taken, mode: now }: Walk): boolean => {
    const leg = way[taken];
    return leg ? (gate.peripherals[now]?.includes(leg.to) ?? true) : false;
  };
  const walks: Walk[] = [{ taken: 0, mode, changes: [[]] }];
  const seen = new Set<string>();
  for (let walk = walks.shift(); walk; walk = walks.shift()) {
    // Taking a leg costs no change, so that it is always done at once.
    while (admitted(walk)) walk = { ...walk, taken: walk.taken + 1, changes: [...walk.changes, []] };
    const { taken, mode: now, changes } = walk;
    if (taken === way.length && (effect === null || effectsIn(gate, now).includes(effect))) return early(changes);
    const key = `${taken} ${now}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const leg of gate.transitions.filter(({ from }) => from === now))
      walks.push({
        taken,
        mode: leg.to,
        changes: [...changes.slice(0, -1), [...(changes.at(-1) ?? []), modeStep(specs, leg)]],
      });
  }
  return null;

  /** The legs with their changes; those after the last leg come first if the modes admit each leg all the same. */
  function early(changes: readonly (readonly ModeStep[])[]): readonly WayLeg[] {
    const after = changes.at(-1) ?? [];
    const last = after.at(-1)?.to;
    const only = changes.slice(0, -1).every((before) => before.length === 0);
    const first = only && last !== undefined && way.every(({ to }) => gate?.peripherals[last]?.includes(to) ?? true);
    return way.map((leg, index) => {
      const before = first && index === 0 ? after : (changes[index] ?? []);
      return {
        ...leg,
        ...(before.length > 0 ? { modes: before } : {}),
        ...(!first && after.length > 0 && index === way.length - 1 ? { modesAfter: after } : {}),
      };
    });
  }
}

/** One change of mode with its needs in words. */
const modeStep = ({ modeGate }: SpecSet, leg: ModeLeg): ModeStep => ({
  to: leg.to,
  needs: (modeGate?.transitions ?? [])
    .filter(({ from, to }) => from === leg.from && to === leg.to)
    .flatMap((transition) => transitionRequirements(transition).map(describeRequirement)),
});
