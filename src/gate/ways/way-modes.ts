import { type ModeLeg, shortestModePath } from '../../spec/mode-way.ts';
import type { Mode, ModeGateSpec, SpecSet } from '../../spec/types.ts';
import type { ModeStep } from '../denial.ts';
import { transitionRequirements } from '../requirements/edge-requirements.ts';
import { describeRequirement } from '../requirements/requirement.ts';
import type { SessionView } from '../session-view.ts';

/** The need of a reset: only the operator can make this mode change. */
export const OPERATOR_RESET = 'a reset by operator';

/**
 * The operator's resets of the mode, as legs from each mode that has no transition to the reset's mode. A path contains
 * a reset only if no path exists without one, because an agent cannot reset the mode.
 */
export const resetLegs = ({ effects, reset, transitions }: ModeGateSpec): readonly ModeLeg[] =>
  Object.keys(effects)
    .filter((from) => from !== reset && !transitions.some((leg) => leg.from === from && leg.to === reset))
    .map((from) => ({ from, to: reset }));

/** The shortest path through the mode gate; it includes the operator's reset only if there is no other. */
function wayOfModes(specs: SpecSet, from: Mode, isGoal: (mode: Mode) => boolean): readonly ModeLeg[] | null {
  const way = shortestModePath(specs, from, isGoal);
  const reset = specs.modeGate && resetLegs(specs.modeGate).find((leg) => leg.from === from);
  if (way !== null || !reset) return way;
  const rest = shortestModePath(specs, reset.to, isGoal);
  return rest && [reset, ...rest];
}

/**
 * The modes on the shortest path to one that `isGoal` accepts, with the needs of each change, as data of a refusal;
 * empty if there is no path. Pure: the needs are named, not judged.
 */
export function modeStepsTo(
  { specs, view }: { readonly specs: SpecSet; readonly view: SessionView },
  isGoal: (mode: Mode) => boolean,
): { readonly modes?: readonly string[]; readonly needs?: readonly string[] } {
  const way = view.mode && wayOfModes(specs, view.mode, isGoal);
  if (!way || way.length === 0) return {};
  const steps = way.map((leg) => modeStep(specs, leg));
  return { modes: steps.map(({ to }) => to), needs: steps.flatMap(({ needs }) => needs) };
}

/** True if a mode admits hops to a peripheral. Without a mode gate everything is admitted. */
export const modeAdmits = ({ modeGate }: SpecSet, mode: Mode | null, to: string): boolean =>
  mode === null || (modeGate?.peripherals[mode]?.includes(to) ?? true);

/** The fewest mode changes before a peripheral is admitted; empty if none is needed, or none helps. */
export function modeStepsAdmitting(specs: SpecSet, mode: Mode | null, to: string): readonly ModeStep[] {
  const way = mode === null ? null : wayOfModes(specs, mode, (other) => modeAdmits(specs, other, to));
  return (way ?? []).map((leg) => modeStep(specs, leg));
}

/** One mode change with its needs in words. */
export function modeStep({ modeGate }: SpecSet, leg: ModeLeg): ModeStep {
  const transitions = modeGate?.transitions.filter(({ from, to }) => from === leg.from && to === leg.to) ?? [];
  const needs = transitions.flatMap((transition) => transitionRequirements(transition).map(describeRequirement));
  return { to: leg.to, needs: transitions.length === 0 ? [OPERATOR_RESET] : needs };
}
