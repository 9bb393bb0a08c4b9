import { getOrInsert } from '../base/get-or-insert.ts';
import type { SpecSet } from './types.ts';

type Peripherals = SpecSet['peripherals'];

const indexes = new WeakMap<Peripherals, ReadonlyMap<string, ReadonlySet<string>>>();
const NOWHERE: ReadonlySet<string> = new Set();

/** The peripherals that have a tool. Cached, because each refusal of a tool needs them. */
export const peripheralsWithTool = ({ peripherals }: Pick<SpecSet, 'peripherals'>, tool: string): ReadonlySet<string> =>
  getOrInsert(indexes, peripherals, () => indexOf(peripherals)).get(tool) ?? NOWHERE;

function indexOf(peripherals: Peripherals): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const { id, tools } of Object.values(peripherals))
    for (const tool of tools) getOrInsert(index, tool, () => new Set()).add(id);
  return index;
}
