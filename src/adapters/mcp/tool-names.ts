import { own } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { CONTROLS } from '../core/agent-session.ts';

/** Under which names clients know the tools. A call by a tool's id is understood as well. */
export interface ToolNames {
  nameOf(id: string): string;
  idOf(name: string): string;
}

/** Every tool by its id. */
export const OWN_NAMES: ToolNames = { nameOf: (id) => id, idOf: (name) => name };

/** What another server does is named as there, so that clients written for that server find it; but not where a name would mean two tools. */
export function upstreamNames({ tools }: SpecSet): ToolNames {
  const all = Object.values(tools).flatMap(({ id, upstream }) => (upstream ? [[id, upstream.tool] as const] : []));
  const isFree = (name: string): boolean =>
    own(tools, name) === undefined && !(CONTROLS as readonly string[]).includes(name);
  const only = all.filter(([, name]) => isFree(name) && all.filter(([, other]) => other === name).length === 1);
  const names = new Map(only);
  const ids = new Map(only.map(([id, name]) => [name, id]));
  return { nameOf: (id) => names.get(id) ?? id, idOf: (name) => ids.get(name) ?? name };
}
