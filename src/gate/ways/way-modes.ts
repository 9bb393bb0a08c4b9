import { type ModeChange, shortestModePath } from '../../spec/mode-way.ts';
import type { Mode, ModeGateSpec, SpecSet } from '../../spec/types.ts';
import type { ModeStep } from '../denial.ts';
import { transitionRequirements } from '../requirements/edge-requirements.ts';
import { describeRequirement } from '../requirements/requirement.ts';
import type { SessionView } from '../session-view.ts';

/** The need of a mode change that only the operator can make. */
export const OPERATOR_RESET_NEED = 'a reset by operator';

/**
 * The operator's resets of the mode: one reset from each mode that has no transition to the reset's target. A path uses
 * them only if there is no other path, because an agent cannot reset the mode.
 */
export const operatorResetChanges = ({ effects, reset, transitions }: ModeGateSpec): readonly ModeChange[] =>
  Object.keys(effects)
    .filter((from) => from !== reset && !transitions.some((leg) => leg.from === from && leg.to === reset))
    .map((from) => ({ from, to: reset }));

/** The shortest path through the mode gate. It contains a reset by the operator only if there is no other path. */
function wayOfModes(specs: SpecSet, from: Mode, isGoal: (mode: Mode) => boolean): readonly ModeChange[] | null {
  const way = shortestModePath(specs, from, isGoal);
  const reset = specs.modeGate && operatorResetChanges(specs.modeGate).find((leg) => leg.from === from);
  if (way !== null || !reset) return way;
  const rest = shortestModePath(specs, reset.to, isGoal);
  return rest && [reset, ...rest];
}

/**
 * The mode changes on the shortest path to a mode that `isGoal` accepts, as details of a denial; empty if there is no
 * path. Their needs are named, not judged. Pure.
 */
export function modeStepsToGoal(
  { specs, view }: { readonly specs: SpecSet; readonly view: SessionView },
  isGoal: (mode: Mode) => boolean,
): { readonly modes?: readonly ModeStep[] } {
  const way = view.mode && wayOfModes(specs, view.mode, isGoal);
  return way && way.length > 0 ? { modes: way.map((leg) => toModeStep(specs, leg)) } : {};
}

/** True if a mode admits hops to a peripheral. Without a mode gate, every hop is admitted. */
export const isAdmittedByMode = ({ modeGate }: SpecSet, mode: Mode | null, to: string): boolean =>
  mode === null || (modeGate?.peripherals[mode]?.includes(to) ?? true);

/** The fewest mode changes to a mode that admits a peripheral; empty if none is needed or no mode admits it. */
export function modeStepsAdmitting(specs: SpecSet, mode: Mode | null, to: string): readonly ModeStep[] {
  const way = mode === null ? null : wayOfModes(specs, mode, (other) => isAdmittedByMode(specs, other, to));
  return (way ?? []).map((leg) => toModeStep(specs, leg));
}

/** A mode change with its needs in words. */
export function toModeStep({ modeGate }: SpecSet, leg: ModeChange): ModeStep {
  const transitions = modeGate?.transitions.filter(({ from, to }) => from === leg.from && to === leg.to) ?? [];
  const needs = transitions.flatMap((transition) => transitionRequirements(transition).map(describeRequirement));
  return { to: leg.to, needs: transitions.length === 0 ? [OPERATOR_RESET_NEED] : needs };
}
