import { own } from '../names.ts';
import type { Edge, EntrySource, Exit, GateRule, PeripheralSpec } from '../types.ts';

type Peripherals = { readonly [id: string]: PeripheralSpec };

/** The sources of the target's entry that admit a hop from `from`. */
function admittingSources(target: PeripheralSpec, from: string): EntrySource[] {
  return target.entry.sources.filter((source) => {
    if (source.kind === 'from') return source.peripheral === from;
    return source.kind === 'from-any' || source.kind === 'user-request' || source.kind === 'agent-request';
  });
}

/**
 * Gives the exits of plain sets their destinations: `hop-x` opens x; any other opens every target that admits the
 * source by name or by `from-any` (never itself, and never by the operator's request alone).
 */
export function openUnboundExits(peripherals: Peripherals): Peripherals {
  const bindExit = (source: PeripheralSpec, exit: Exit): Exit => {
    if (exit.bound) return exit;
    const hop = hopTarget(exit.name);
    const targets =
      hop === null
        ? Object.values(peripherals).filter((target) => target.id !== source.id && admitsByName(target, source.id))
        : [own(peripherals, hop)].filter((target) => target !== undefined);
    const opens = targets.map(({ id }) => ({ to: id, when: null })).sort((a, b) => compare(a.to, b.to));
    return { ...exit, opens };
  };
  return Object.fromEntries(
    Object.entries(peripherals).map(([id, source]) => [
      id,
      { ...source, exits: source.exits.map((exit) => bindExit(source, exit)) },
    ]),
  );
}

/** X of `hop-X`; null for any other exit. */
export function hopTarget(exit: string): string | null {
  return exit.startsWith('hop-') ? exit.slice('hop-'.length) : null;
}

function admitsByName(target: PeripheralSpec, from: string): boolean {
  return admittingSources(target, from).some(({ kind }) => kind === 'from' || kind === 'from-any');
}

/**
 * Every allowed hop. Pure. An edge exists if and only if the source's exit names the target and the target's entry
 * admits the source; `default` and `session-close` admit no hop.
 * @returns sorted by from, exit, to
 */
export function deriveEdges(peripherals: Peripherals): Edge[] {
  const edges: Edge[] = [];
  for (const source of Object.values(peripherals)) {
    for (const exit of source.exits) {
      for (const { to, when } of exit.opens) {
        const target = own(peripherals, to);
        const sources = target ? admittingSources(target, source.id) : [];
        if (!target || sources.length === 0) continue;
        const { conditions } = target.entry;
        const gates = gatesOn(to, source, peripherals);
        edges.push({ from: source.id, exit: exit.name, to, when, sources, conditions, gates, implies: exit.implies });
      }
    }
  }
  return edges.sort((a, b) => compare(a.from, b.from) || compare(a.exit, b.exit) || compare(a.to, b.to));
}

/** A gate on a destination applies to every exit that opens it, whichever peripheral's file defines the gate. */
function gatesOn(to: string, source: PeripheralSpec, peripherals: Peripherals): GateRule[] {
  const others = Object.values(peripherals)
    .filter(({ id }) => id !== source.id)
    .sort((a, b) => compare(a.id, b.id));
  const rules = [source, ...others].flatMap(({ gates }) => own(gates, to) ?? []);
  const distinct = new Map(rules.map((rule) => [JSON.stringify(rule), rule]));
  return [...distinct.values()];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
