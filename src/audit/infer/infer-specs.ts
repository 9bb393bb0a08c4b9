import { mapValues } from '../../base/map-values.ts';
import { hashSpecs } from '../../spec/hash-specs.ts';
import { formatEntrySource } from '../../spec/names.ts';
import { isExcludingPattern } from '../../spec/path-patterns.ts';
import { makeScopeRule } from '../../spec/policy/scope-rule.ts';
import { deriveEdges } from '../../spec/resolve/derive-edges.ts';
import type {
  ContextFieldRule,
  Edge,
  EntrySource,
  Exit,
  ModeGateSpec,
  PeripheralSpec,
  SpecSet,
} from '../../spec/types.ts';
import { isWritablePath } from '../rules/audited-path.ts';
import { fitsBranchPattern } from '../rules/commands/audited-branches.ts';
import { edgeNeedsOperator, findEdgesToReview } from './edges-to-review.ts';
import { coverPaths, findCoveringGlobs } from './path-cover.ts';
import { PeripheralUsage, type RecordedUsages } from './recorded-usage.ts';

/** A permission of a spec that no session used. */
interface UnusedPermission {
  /** The peripheral that grants the permission; null if the whole spec set does. */
  readonly peripheral: string | null;
  readonly what: 'peripheral' | 'tool' | 'write' | 'read' | 'command' | 'url' | 'resource' | 'exit' | 'entry' | 'mode';
  readonly granted: string;
}

/** The recorded use of a peripheral: its number of visits, and globs and names that a spec cannot express. */
interface RecordedUse {
  readonly visits: number;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly commands: readonly string[];
  readonly hosts: readonly string[];
}

export interface InferredSpecs {
  /** The tightest spec set that admits the recorded actions, in the terms of the original set. */
  readonly specs: SpecSet;
  readonly slack: readonly UnusedPermission[];
  readonly seen: { readonly [peripheral: string]: RecordedUse };
}

/**
 * Infers the tightest spec set that admits the recorded actions of sessions. It only removes permissions from `specs`;
 * conditions, gates and fruits stay unchanged. The edges of {@link findEdgesToReview} stay too, even to peripherals
 * that no session used, because without them `hopgate check` would report a dead end.
 */
export function inferSpecs(specs: SpecSet, usage: RecordedUsages): InferredSpecs {
  const slack: UnusedPermission[] = [];
  const used = new Set(Object.keys(specs.peripherals).filter((id) => usage.peripherals.has(id)));
  const { edges: back, whole } = findEdgesToReview(specs, used);
  const ids = new Set([...used, ...back.map(({ to }) => to)]);
  for (const id of Object.keys(specs.peripherals))
    if (!ids.has(id)) slack.push({ peripheral: id, what: 'peripheral', granted: id });
  const usedPeripherals = Object.values(specs.peripherals).filter(({ id }) => ids.has(id));
  const agents = new Set([...usage.peripherals.values()].flatMap((at) => [...at.agents]));
  const peripherals = Object.fromEntries(
    usedPeripherals.map((spec) => [
      spec.id,
      tighten(spec, usage.peripherals.get(spec.id) ?? null, { ids, agents, back, whole }, slack),
    ]),
  );
  const granted = new Set(Object.values(peripherals).flatMap((spec) => spec.tools));
  const tools = Object.fromEntries(Object.entries(specs.tools).filter(([id]) => granted.has(id)));
  const named = new Set(Object.values(peripherals).flatMap(({ entry }) => entry.conditions));
  const conditions = Object.fromEntries(Object.entries(specs.conditions).filter(([name]) => named.has(name)));
  const scopes = Object.fromEntries(Object.values(peripherals).map(({ id, scope }) => [id, scope.rule]));
  const modeGate = specs.modeGate && tightenGate(specs.modeGate, usage, { ids, isWhole: whole.size > 0 }, slack);
  const tight = { modeGate, tools, scopes, conditions, peripherals, edges: deriveEdges(peripherals) };
  const seen = Object.fromEntries([...used].map((id) => [id, recordedUse(usage.at(id))]));
  return { specs: { ...tight, hash: hashSpecs(tight) }, slack, seen };
}

interface KeptPermissions {
  readonly ids: ReadonlySet<string>;
  /** The names of the agents of all observed sessions. */
  readonly agents: ReadonlySet<string>;
  readonly back: readonly Edge[];
  /** Peripherals that keep all of their tools. */
  readonly whole: ReadonlySet<string>;
}

const recordedUse = ({ visits, reads, writes, commands, hosts }: PeripheralUsage): RecordedUse => ({
  visits,
  reads: findCoveringGlobs(reads),
  writes: findCoveringGlobs(writes),
  commands: [...commands].sort(),
  hosts: [...hosts].sort(),
});

function tighten(
  spec: PeripheralSpec,
  used: PeripheralUsage | null,
  { ids, agents, back, whole }: KeptPermissions,
  slack: UnusedPermission[],
): PeripheralSpec {
  const into = back.filter(({ to }) => to === spec.id);
  const within: Partial<PeripheralSpec> = {
    context: mapValues(spec.context, (context) => takenFrom(context, ids)),
    gates: Object.fromEntries(Object.entries(spec.gates).filter(([to]) => ids.has(to))),
    agents: [...(into.length > 0 ? agents : (used?.agents ?? []))]
      .filter((agent) => spec.agents === null || spec.agents.includes(agent))
      .sort(),
    ...(spec.delegates && { delegates: spec.delegates.filter(({ to }) => ids.has(to)) }),
  };
  const unused: ReportUnused = (what, granted) => {
    slack.push({ peripheral: spec.id, what, granted });
  };
  const entryAndExits = () => ({
    entry: { ...spec.entry, sources: sourcesUsed(spec, used ?? new PeripheralUsage(), into, unused) },
    exits: exitsUsed(spec, used ?? new PeripheralUsage(), back, unused),
  });
  if (!used || whole.has(spec.id))
    return { ...spec, ...within, scope: { ...spec.scope, name: spec.id }, ...entryAndExits() };
  const tools = spec.tools.filter((tool) => used.tools.has(tool));
  for (const tool of spec.tools) if (!used.tools.has(tool)) unused('tool', tool);
  const { rule } = spec.scope;
  const write = coverPaths(used.writes);
  for (const place of rule.write)
    if (!isExcludingPattern(place) && ![...used.writes].some((path) => isWritablePath(path, [place])))
      unused('write', place);
  const reads = rule.read === 'none' || used.reads.size > 0;
  if (!reads) unused('read', rule.read);
  const runs = rule.command === 'none' || used.commands.size > 0 || RUNNERS.some((tool) => used.tools.has(tool));
  if (!runs) unused('command', rule.command);
  const fetches = rule.url === 'none' || used.hosts.size > 0;
  if (!fetches) unused('url', rule.url);
  const { resource = [] } = rule;
  for (const pattern of resource)
    if (!pattern.startsWith('!') && ![...used.resources].some((name) => fitsBranchPattern(pattern, name)))
      unused('resource', pattern);
  const scope = {
    name: spec.id,
    rule: makeScopeRule({
      read: reads ? rule.read : 'none',
      write,
      command: runs ? rule.command : 'none',
      url: fetches ? rule.url : 'none',
      resource: used.resources.size === 0 ? undefined : [...used.resources].sort(),
      agency: undefined,
    }),
  };
  const limits = { ...spec.limits, steps: Math.max(used.mostSteps, 1) };
  return { ...spec, tools, scope, limits, ...entryAndExits(), ...within };
}

/** Tools whose command argument is optional. A call without it runs a configured command. */
const RUNNERS = ['bash-test'];

type ReportUnused = (what: UnusedPermission['what'], granted: string) => void;

/** The entry sources of a peripheral that sessions used, or that an edge into it needs. */
function sourcesUsed(
  { id, entry }: PeripheralSpec,
  used: PeripheralUsage,
  into: readonly Edge[],
  unused: ReportUnused,
): readonly EntrySource[] {
  const { first, later, byOperator } = used.entered;
  const from = [...new Set([...used.from, ...into.map((edge) => edge.from)])].filter(
    (one): one is string => one !== null && one !== id,
  );
  const named = (peripheral: string) =>
    entry.sources.some((source) => source.kind === 'from' && source.peripheral === peripheral);
  const sources = entry.sources.flatMap((source): EntrySource[] => {
    switch (source.kind) {
      case 'default':
        return first ? [source] : [];
      case 'session-close':
        return later ? [source] : [];
      case 'from':
        return from.includes(source.peripheral) ? [source] : [];
      case 'from-any':
        return from.filter((one) => !named(one)).map((peripheral) => ({ kind: 'from', peripheral }));
      case 'user-request':
        return byOperator || into.some(edgeNeedsOperator) ? [source] : [];
      case 'agent-request':
        // Kept even if unused: without this source, the agent could enter before a natural close.
        return [source];
      default:
        return source satisfies never;
    }
  });
  for (const source of entry.sources)
    if (source.kind !== 'from-any' && !sources.includes(source))
      unused('entry', `${formatEntrySource(source)} → ${id}`);
  return sources.length > 0 ? sources : entry.sources;
}

function exitsUsed(
  { id, exits }: PeripheralSpec,
  used: PeripheralUsage,
  back: readonly Edge[],
  unused: ReportUnused,
): readonly Exit[] {
  const isWayBack = ({ name }: Exit, to: string) =>
    back.some((edge) => edge.from === id && edge.exit === name && edge.to === to);
  return exits.flatMap((exit) => {
    const opens = exit.opens.filter(({ to }) => used.exits.has(`${exit.name} → ${to}`) || isWayBack(exit, to));
    for (const one of exit.opens) if (!opens.includes(one)) unused('exit', `${exit.name} → ${one.to}`);
    return opens.length === 0 ? [] : [{ ...exit, opens, bound: true }];
  });
}

/** If a field's peripheral was removed, the field can come only from the backpack. */
const takenFrom = (rule: ContextFieldRule, ids: ReadonlySet<string>): ContextFieldRule =>
  rule.source.kind === 'fruit' && !ids.has(rule.source.peripheral) ? { ...rule, source: { kind: 'inherit' } } : rule;

/** @param isWhole true to keep every mode, because the hops to a review need calls that a tighter gate would forbid */
function tightenGate(
  modeGate: ModeGateSpec,
  usage: RecordedUsages,
  { ids, isWhole }: { readonly ids: ReadonlySet<string>; readonly isWhole: boolean },
  slack: UnusedPermission[],
): ModeGateSpec {
  const keepUsed = (used: boolean, granted: string): boolean => {
    if (!used && !isWhole) slack.push({ peripheral: null, what: 'mode', granted });
    return used || isWhole;
  };
  const transitions = modeGate.transitions.filter(({ from, to }) => {
    const change = `${from} → ${to}`;
    return keepUsed(usage.transitions.has(change), change);
  });
  const reached = new Set([modeGate.initial, modeGate.reset]);
  for (const mode of reached) for (const { from, to } of transitions) if (from === mode) reached.add(to);
  const modes = Object.entries(modeGate.effects).filter(([mode]) => keepUsed(reached.has(mode), mode));
  const effects = modes.map(([mode, allowed]) => {
    const used = usage.effects.get(mode) ?? new Set();
    return [mode, allowed.filter((effect) => keepUsed(used.has(effect), `${mode}: ${effect}`))] as const;
  });
  const modeNames = modes
    .map(([mode]) => [mode, modeGate.peripherals[mode]] as const)
    .map(([mode, allowed]) => [mode, allowed?.filter((id) => ids.has(id)) ?? null] as const);
  return { ...modeGate, transitions, effects: Object.fromEntries(effects), peripherals: Object.fromEntries(modeNames) };
}
