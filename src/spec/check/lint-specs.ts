import { hopTarget } from '../resolve/derive-edges.ts';
import type { PeripheralSpec, SpecSet } from '../types.ts';
import type { SpecWarning } from './issues.ts';

/** Returns warnings for the author of a spec set that loads. Pure. */
export function lintSpecs(specs: SpecSet): SpecWarning[] {
  return Object.values(specs.peripherals).flatMap((peripheral) => [
    ...lintExits(peripheral, specs),
    ...lintEntry(peripheral, specs),
  ]);
}

function lintExits({ id, exits }: PeripheralSpec, { edges }: SpecSet): SpecWarning[] {
  return exits.flatMap(({ name, bound, opens }): SpecWarning[] => {
    const path = `peripherals.${id}.exit.${name}`;
    const reached = new Set(edges.filter(({ from, exit }) => from === id && exit === name).map(({ to }) => to));
    const hop = hopTarget(name);
    if (!bound && hop !== null) {
      if (reached.size > 0) return [];
      const message = `${name} opens nothing: ${hop} does not admit ${id}`;
      return [{ code: 'hop-opens-nothing', path, message, suggestion: `add from-${id} to the entry of ${hop}` }];
    }
    if (!bound) {
      const list = [...reached].sort().join(', ');
      const message =
        reached.size === 0 ? `${name} opens nothing` : `${name} is bound to no destination; it opens ${list}`;
      const suggestion = `name its destinations: ${name}: [${list || '…'}]`;
      return [{ code: 'unbound-exit', path, message, suggestion }];
    }
    return opens
      .filter(({ to }) => !reached.has(to))
      .map(({ to }) => ({
        code: 'no-edge',
        path,
        message: `${name} names ${to}, which does not admit ${id}`,
        suggestion: `add from-${id} to the entry of ${to}, or take ${to} out of the exit`,
      }));
  });
}

function lintEntry({ id, entry }: PeripheralSpec, { edges }: SpecSet): SpecWarning[] {
  const unused = entry.sources.flatMap((source): SpecWarning[] => {
    if (source.kind !== 'from') return [];
    if (edges.some(({ from, to }) => from === source.peripheral && to === id)) return [];
    const message = `from-${source.peripheral} is never used: no exit of ${source.peripheral} opens ${id}`;
    const suggestion = `let an exit of ${source.peripheral} open ${id}, or take the source out`;
    return [{ code: 'unused-source', path: `peripherals.${id}.entry`, message, suggestion }];
  });
  const starts = entry.sources.some(({ kind }) => kind === 'default');
  if (starts || edges.some(({ from, to }) => to === id && from !== id)) return unused;
  const message = `no edge reaches ${id}`;
  const suggestion = `let an exit open ${id}, or add default to its entry`;
  return [...unused, { code: 'unreachable', path: `peripherals.${id}`, message, suggestion }];
}
