import { getOwn } from './names.ts';
import type { Mode, ModeGateSpec, SpecSet, ToolEffect } from './types.ts';

export interface ModeChange {
  readonly from: Mode;
  readonly to: Mode;
}

/** The modes of a gate: the initial one, then those that its transitions reach, the nearest first, then the others. */
export function listModesOfGate({ initial, transitions, effects }: ModeGateSpec): readonly Mode[] {
  const modes = Object.keys(effects).sort();
  const found = new Set([initial]);
  for (const from of found) for (const leg of transitions) if (leg.from === from) found.add(leg.to);
  return [...found, ...modes.filter((mode) => !found.has(mode))];
}

/** The mode that fits a call best: by the tool's effect, then by the peripheral, then by the number of effects. */
export function bestModeOfCall(modeGate: ModeGateSpec, peripheral: string, effect: ToolEffect | undefined): Mode {
  const rank = (mode: Mode): number => {
    const effects = effectsOfMode(modeGate, mode);
    const allows = effect !== undefined && effects.includes(effect);
    const admits = getOwn(modeGate.peripherals, mode)?.includes(peripheral) ?? true;
    return 20 * Number(allows) + 10 * Number(admits) + effects.length;
  };
  return listModesOfGate(modeGate).reduce((best, mode) => (rank(mode) > rank(best) ? mode : best));
}

export const effectsOfMode = ({ effects }: ModeGateSpec, mode: Mode): readonly ToolEffect[] =>
  getOwn(effects, mode) ?? [];

/** The shortest path of transitions from one mode to a mode that `isGoal` accepts; null if there is none. */
export function shortestModePath(
  { modeGate }: SpecSet,
  from: Mode,
  isGoal: (mode: Mode) => boolean,
): readonly ModeChange[] | null {
  const seen = new Set<Mode>([from]);
  let frontier: (readonly ModeChange[])[] = [[]];
  while (frontier.length > 0) {
    const done = frontier.find((way) => isGoal(way.at(-1)?.to ?? from));
    if (done) return done;
    frontier = frontier.flatMap((way) => {
      const at = way.at(-1)?.to ?? from;
      const next = (modeGate?.transitions ?? []).filter((leg) => leg.from === at && !seen.has(leg.to));
      for (const { to } of next) seen.add(to);
      return next.map(({ to }) => [...way, { from: at, to }]);
    });
  }
  return null;
}

/** The nearest mode that allows all of these effects; null if none does, or if there is no mode gate. */
export function nearestModeWithEffects(specs: SpecSet, from: Mode | null, effects: readonly ToolEffect[]): Mode | null {
  const { modeGate } = specs;
  if (!modeGate || from === null) return null;
  const way = shortestModePath(specs, from, (mode) =>
    effects.every((effect) => effectsOfMode(modeGate, mode).includes(effect)),
  );
  return way && (way.at(-1)?.to ?? from);
}
