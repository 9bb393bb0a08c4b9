import { edgesFromPeripheral } from '../edges-from.ts';
import { getOwn, targetOfHopExit } from '../names.ts';
import { RESERVED_STATE_FIELDS } from '../policy/reserved-fields.ts';
import { fieldsReportedByTools } from '../reported-fields.ts';
import { findDelegationEdge } from '../resolve/derive-edges.ts';
import type { PeripheralSpec, SpecSet } from '../types.ts';
import type { SpecWarning } from './spec-problem.ts';

/** Returns warnings for the author of a spec set that loads. Pure. */
export function lintSpecs(specs: SpecSet): SpecWarning[] {
  const edgesTo = Map.groupBy(specs.edges, ({ to }) => to);
  const yieldsOf = Map.groupBy(
    Object.values(specs.peripherals).flatMap(({ fruit }) => Object.keys(fruit)),
    (field) => field,
  );
  const state = new Set([...RESERVED_STATE_FIELDS, ...Object.keys(fieldsReportedByTools(specs).state)]);
  const isOwn = (field: string) => yieldsOf.get(field)?.length === 1 && !state.has(field);
  const cameFrom = (id: string) => new Set((edgesTo.get(id) ?? []).map(({ from }) => from));
  return Object.values(specs.peripherals).flatMap((peripheral) => [
    ...lintExits(peripheral, specs),
    ...lintEntry(peripheral, specs, cameFrom(peripheral.id)),
    ...lintDelegates(peripheral, specs),
    ...lintBackpackRules(peripheral, specs, isOwn),
  ]);
}

/**
 * Warns about rules of a hop that read a field in the backpack, although only the visit that the hop ends supplies the
 * field. When the rule is judged, the backpack has the field of an earlier visit, or none.
 */
function lintBackpackRules(
  { id, fruit }: PeripheralSpec,
  specs: SpecSet,
  isOwn: (field: string) => boolean,
): SpecWarning[] {
  const own = Object.keys(fruit).filter(isOwn);
  if (own.length === 0) return [];
  return edgesFromPeripheral(specs, id).flatMap(({ exit, to, when, conditions, gates }) => {
    const rules = [
      ...(when === null ? [] : [when]),
      ...conditions.flatMap((name) => getOwn(specs.conditions, name) ?? []),
      ...gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
    ];
    return own
      .map((field) => field.replaceAll('-', '_'))
      .filter((name) => rules.some((rule) => new RegExp(`\\bbackpack\\.${name}\\b`).test(rule)))
      .map((name) => ({
        code: 'late-fruit',
        path: `peripherals.${id}.exit.${exit}`,
        message: `the hop to ${to} reads backpack.${name}, which only ${id} yields: it joins the backpack at the end of the visit, after this hop was judged`,
        suggestion: `read fruit.${name} for the visit that the hop ends`,
      }));
  });
}

function lintExits({ id, exits }: PeripheralSpec, specs: SpecSet): SpecWarning[] {
  const edges = edgesFromPeripheral(specs, id);
  return exits.flatMap(({ name, bound, opens }): SpecWarning[] => {
    const path = `peripherals.${id}.exit.${name}`;
    const reached = new Set(edges.filter(({ exit }) => exit === name).map(({ to }) => to));
    const hop = targetOfHopExit(name);
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

function lintEntry({ id, entry }: PeripheralSpec, specs: SpecSet, cameFrom: ReadonlySet<string>): SpecWarning[] {
  const { peripherals } = specs;
  const delegatesHere = (from: string) => getOwn(peripherals, from)?.delegates?.some(({ to }) => to === id) ?? false;
  const unused = entry.sources.flatMap((source): SpecWarning[] => {
    if (source.kind !== 'from') return [];
    if (cameFrom.has(source.peripheral)) return [];
    if (delegatesHere(source.peripheral)) return [];
    const message = `from-${source.peripheral} is never used: no exit of ${source.peripheral} opens ${id}`;
    const suggestion = `let an exit of ${source.peripheral} open ${id}, or take the source out`;
    return [{ code: 'unused-source', path: `peripherals.${id}.entry`, message, suggestion }];
  });
  const starts = entry.sources.some(({ kind }) => kind === 'default');
  const reaches = [...cameFrom].some((from) => from !== id) || Object.keys(peripherals).some(delegatesHere);
  if (starts || reaches) return unused;
  const message = `no edge reaches ${id}`;
  const suggestion = `let an exit of another peripheral open ${id}, or add "default" to the entry of ${id}`;
  return [...unused, { code: 'unreachable', path: `peripherals.${id}`, message, suggestion }];
}

/** Warns about delegates that no sub-agent can use, and about a `within` that is probably unintended. */
function lintDelegates(
  { id, delegates = [], ...here }: PeripheralSpec,
  { peripherals, modeGate }: SpecSet,
): SpecWarning[] {
  return delegates.flatMap(({ to, within }, index): SpecWarning[] => {
    const path = `peripherals.${id}.delegates.${index}`;
    const target = getOwn(peripherals, to);
    const warn = (message: string, suggestion: string): SpecWarning[] => [
      { code: 'useless-delegate', path, message, suggestion },
    ];
    if (!target) return [];
    const edge = findDelegationEdge(peripherals, id, to);
    if (!edge || edge.sources.length === 0)
      return warn(`no sub-agent can start in ${to}: it does not admit ${id}`, `add from-${id} to the entry of ${to}`);
    if (target.scope.rule.command === 'deploy')
      return warn(
        `a sub-agent in ${to} cannot push or deploy: approvals are bound to the session that hops to ${to}`,
        `take ${to} out, and let the agent itself hop there`,
      );
    const modes = modeGate ? Object.values(modeGate.peripherals) : [];
    if (modes.length > 0 && modes.every((allowed) => allowed !== null && !allowed.includes(to)))
      return warn(`no sub-agent can start in ${to}: no mode admits it`, `add ${to} to the peripherals of a mode`);
    if (within === 'own') return [];
    const lost = target.tools.filter((tool) => !here.tools.includes(tool));
    return lost.length === 0
      ? []
      : warn(
          `a sub-agent in ${to} has no ${lost.join(', ')}: ${id} does not have ${lost.length === 1 ? 'it' : 'them'}`,
          `write { to: ${to}, within: own } to give it all that ${to} has, or add the tools to ${id}`,
        );
  });
}
