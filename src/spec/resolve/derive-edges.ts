import { getOrInsert } from '../../base/get-or-insert.ts';
import { mapValues } from '../../base/map-values.ts';
import { getOwn, targetOfHopExit } from '../names.ts';
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
 * Derives the destinations of exits in sets that name none: `hop-x` opens x; `user-request` opens every target whose
 * entry names the source, `from-any` or `user-request`; any other exit opens every target whose entry names the source
 * or `from-any`. Only `hop-x` opens its own peripheral. Such a set also gets `hop-x` for each x whose entry names
 * `agent-request`.
 */
export function bindUnboundExits(peripherals: Peripherals): Peripherals {
  const all = Object.values(peripherals);
  const onRequest = all.filter((target) => namesSource(target, ['agent-request']));
  const bindExit = (source: PeripheralSpec, exit: Exit): Exit => {
    if (exit.bound) return exit;
    const hop = targetOfHopExit(exit.name);
    const sources = exit.name === USER_REQUEST ? ['from', 'from-any', USER_REQUEST] : ['from', 'from-any'];
    const targets =
      hop === null
        ? all.filter((target) => target.id !== source.id && admitsFrom(target, source.id, sources))
        : [getOwn(peripherals, hop)].filter((target) => target !== undefined);
    const opens = targets.map(({ id }) => ({ to: id, when: null })).sort((a, b) => compare(a.to, b.to));
    return { ...exit, opens };
  };
  const requestedExits = ({ id, exits }: PeripheralSpec): Exit[] => {
    if (exits.every(({ bound }) => bound)) return [];
    const missing = onRequest.filter((to) => to.id !== id && exits.every(({ name }) => name !== `hop-${to.id}`));
    const isOpen = (to: PeripheralSpec) => admitsFrom(to, id, ['from', 'from-any']);
    return missing
      .filter((to) => !isOpen(to))
      .map((to) => ({ name: `hop-${to.id}`, opens: [], implies: null, bound: false }));
  };
  return mapValues(peripherals, (source) => ({
    ...source,
    exits: [...source.exits, ...requestedExits(source)].map((exit) => bindExit(source, exit)),
  }));
}

const USER_REQUEST = 'user-request';

const namesSource = ({ entry }: PeripheralSpec, sources: readonly string[]): boolean =>
  entry.sources.some(({ kind }) => sources.includes(kind));

const admitsFrom = (target: PeripheralSpec, from: string, sources: readonly string[]): boolean =>
  admittingSources(target, from).some(({ kind }) => sources.includes(kind));

/**
 * Every allowed hop. Pure. An edge exists if and only if the source's exit names the target and the target's entry
 * admits the source; `default` and `session-close` admit no hop.
 * @returns sorted by from, exit, to
 */
export function deriveEdges(peripherals: Peripherals): Edge[] {
  const edges: Edge[] = [];
  const gatesTo = gatesByTarget(peripherals);
  for (const source of Object.values(peripherals)) {
    for (const exit of source.exits) {
      for (const { to, when } of exit.opens) {
        const target = getOwn(peripherals, to);
        const sources = target ? admittingSources(target, source.id) : [];
        if (!target || sources.length === 0) continue;
        const { conditions } = target.entry;
        const gates = gatesOn(to, source, gatesTo);
        edges.push({ from: source.id, exit: exit.name, to, when, sources, conditions, gates, implies: exit.implies });
      }
    }
  }
  return edges.sort((a, b) => compare(a.from, b.from) || compare(a.exit, b.exit) || compare(a.to, b.to));
}

/**
 * The start of a sub-agent as an edge: a hop's entry rules and gates, without an exit. `sources` is empty if the target
 * does not admit `from`. undefined if one of the peripherals does not exist.
 */
export function findDelegationEdge(peripherals: Peripherals, from: string, to: string): Edge | undefined {
  const [source, target] = [getOwn(peripherals, from), getOwn(peripherals, to)];
  if (!source || !target) return undefined;
  const { conditions } = target.entry;
  const gates = gatesOn(to, source, gatesByTarget(peripherals));
  const sources = admittingSources(target, from);
  return { from, exit: 'delegate', to, when: null, sources, conditions, gates, implies: null };
}

type GatesByTarget = ReadonlyMap<string, readonly PeripheralSpec[]>;

const gatesOfSets = new WeakMap<Peripherals, GatesByTarget>();

const gatesByTarget = (peripherals: Peripherals): GatesByTarget =>
  getOrInsert(gatesOfSets, peripherals, () => {
    const sorted = Object.values(peripherals).sort((a, b) => compare(a.id, b.id));
    const pairs = sorted.flatMap((spec) => Object.keys(spec.gates).map((to) => [to, spec] as const));
    return new Map([...Map.groupBy(pairs, ([to]) => to)].map(([to, found]) => [to, found.map(([, spec]) => spec)]));
  });

/** A gate on a destination applies to every exit that opens it, whichever file defines the gate. */
function gatesOn(to: string, source: PeripheralSpec, gatesTo: GatesByTarget): GateRule[] {
  const others = (gatesTo.get(to) ?? []).filter(({ id }) => id !== source.id);
  const rules = [source, ...others].flatMap(({ gates }) => getOwn(gates, to) ?? []);
  const distinct = new Map(rules.map((rule) => [JSON.stringify(rule), rule]));
  return [...distinct.values()];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
