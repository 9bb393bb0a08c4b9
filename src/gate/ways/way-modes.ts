import { type ModeLeg, modeWay } from '../../spec/mode-way.ts';
import type { Mode, SpecSet } from '../../spec/types.ts';
import type { ModeStep } from '../denial.ts';
import { describeRequirement } from '../requirements/requirement.ts';
import { transitionRequirements } from '../requirements/requirements.ts';
import type { SessionView } from '../view.ts';

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

/** True if a mode admits hops to a peripheral. Without a mode gate everything is admitted. */
export const admits = ({ modeGate }: SpecSet, mode: Mode | null, to: string): boolean =>
  mode === null || (modeGate?.peripherals[mode]?.includes(to) ?? true);

/** The fewest changes of mode before a peripheral is admitted; empty if it is, or if no reachable mode admits it. */
export function modesAdmitting(specs: SpecSet, mode: Mode | null, to: string): readonly ModeStep[] {
  const way = mode === null ? null : modeWay(specs, mode, (other) => admits(specs, other, to));
  return (way ?? []).map((leg) => modeStep(specs, leg));
}

/** One change of mode with its needs in words. */
export const modeStep = ({ modeGate }: SpecSet, leg: ModeLeg): ModeStep => ({
  to: leg.to,
  needs: (modeGate?.transitions ?? [])
    .filter(({ from, to }) => from === leg.from && to === leg.to)
    .flatMap((transition) => transitionRequirements(transition).map(describeRequirement)),
});
