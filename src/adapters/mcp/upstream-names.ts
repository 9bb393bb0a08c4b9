import { getOwn } from '../../spec/names.ts';
import { CONTROLS } from '../../spec/policy/tool-ids.ts';
import type { SpecSet } from '../../spec/types.ts';

/** The names of the tools for clients. A call by a tool's id works as well. */
export interface ClientToolNames {
  nameOf(id: string): string;
  idOf(name: string): string;
}

/** Names the tools of other servers as those servers do, for clients written for them. Ambiguous names are not used. */
export function upstreamToolNames({ tools }: SpecSet): ClientToolNames {
  const all = Object.values(tools).flatMap(({ id, upstream }) => (upstream ? [[id, upstream.tool] as const] : []));
  const isFree = (name: string): boolean =>
    getOwn(tools, name) === undefined && !(CONTROLS as readonly string[]).includes(name);
  const unique = all.filter(([, name]) => isFree(name) && all.filter(([, other]) => other === name).length === 1);
  const names = new Map(unique);
  const ids = new Map(unique.map(([id, name]) => [name, id]));
  return { nameOf: (id) => names.get(id) ?? id, idOf: (name) => ids.get(name) ?? name };
}
