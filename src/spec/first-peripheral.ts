import type { SpecSet } from './types.ts';

/**
 * The first peripheral that can start a session and does more than coordinate, else the first peripheral with tools.
 */
export function chooseFirstPeripheral({ peripherals, tools }: Pick<SpecSet, 'peripherals' | 'tools'>): string | null {
  const starts = Object.values(peripherals).filter(({ entry }) => entry.sources.some(({ kind }) => kind === 'default'));
  const works = starts.find((each) => each.tools.some((id) => tools[id]?.effect !== 'coordinate'));
  return (works ?? starts.find((each) => each.tools.length > 0))?.id ?? null;
}
