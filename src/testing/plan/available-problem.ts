import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import type { Available, Denial } from '../../gate/denial.ts';
import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import { getOwn } from '../../spec/names.ts';
import { peripheralsWithTool } from '../../spec/peripherals-with.ts';
import type { Edge, SpecSet, ToolEffect } from '../../spec/types.ts';

/** The actions that a denial should offer, computed from the spec without the gate. */
interface ExpectedActions {
  readonly peripheral: string | null;
  readonly mode: string | null;
  readonly tools: readonly string[];
  /**
   * The possible hops as `from exit to`; outside of any peripheral, the names of the peripherals that can be started.
   */
  readonly hops: readonly string[];
  readonly modes: readonly string[];
}

/** Computes the available actions of a state from its peripheral, its mode and the status of its visit. Pure. */
function expectedActions({ specs }: AuditedPin, { agent, visit, visits, mode, closed }: AuditState): ExpectedActions {
  const spec = visit ? specs.peripherals[visit.peripheral] : undefined;
  const { modeGate } = specs;
  const allowed = modeGate && mode ? (modeGate.effects[mode] ?? []) : null;
  const isAdmitted = (id: string) => specs.peripherals[id]?.agents?.includes(agent) ?? true;
  const startable = () => {
    const source = Object.keys(visits).length === 0 ? 'default' : 'session-close';
    return Object.values(specs.peripherals).filter(
      ({ id, entry }) => isAdmitted(id) && entry.sources.some(({ kind }) => kind === source),
    );
  };
  const forward = modeGate && mode ? modeGate.transitions.filter(({ from }) => from === mode).map(({ to }) => to) : [];
  const back = modeGate && mode && mode !== modeGate.reset && !forward.includes(modeGate.reset) ? [modeGate.reset] : [];
  return {
    peripheral: visit?.peripheral ?? null,
    mode,
    tools:
      !visit || !spec || closed || visit.expired || visit.steps >= (spec.limits.steps ?? Infinity)
        ? []
        : spec.tools.filter((id) => allowed === null || allowed.includes(specs.tools[id]!.effect)),
    hops: closed
      ? []
      : visit
        ? edgesFromPeripheral(specs, visit.peripheral)
            .filter(({ to }) => isAdmitted(to))
            .map(({ from, exit, to }) => `${from} ${exit} ${to}`)
        : startable().map(({ id }) => id),
    modes: closed ? [] : [...forward, ...back],
  };
}

const expectedForm = ({ peripheral, mode, tools, hops, modes }: Available): ExpectedActions => ({
  peripheral,
  mode,
  tools,
  hops: hops.map(({ from, exit, to }) => (from === null ? to : `${from} ${exit} ${to}`)),
  modes: modes.map(({ to }) => to),
});

const sortedText = (offer: ExpectedActions): string =>
  JSON.stringify(Object.values(offer).map((value) => (Array.isArray(value) ? value.toSorted() : value)));

/** The first fault of a refusal's suggestions: other actions than the spec allows, or a wrong path; null if none. */
export function findAvailableProblem(
  pinned: AuditedPin,
  state: AuditState,
  request: AuditRequest,
  denial: Denial,
): string | null {
  const expected = sortedText(expectedActions(pinned, state));
  const actual = sortedText(expectedForm(denial.available));
  if (actual !== expected) return `it offers ${actual}, but the spec has ${expected}`;
  return pathProblem(pinned, state, request, denial);
}

function pathProblem(
  { specs }: AuditedPin,
  state: AuditState,
  request: AuditRequest,
  { code, way }: Denial,
): string | null {
  const here = state.visit?.peripheral ?? null;
  const target = goal(specs, request);
  if (here === null || target === null || (code !== 'tool-not-allowed' && code !== 'hop-not-allowed')) return null;
  const shortest = hopsTo(specs, here, state, target);
  const open = hopsTo(specs, here, state, target, (edge) => needsNothing(specs, edge));
  if (way === null) return open === null ? null : `it names no path, but ${open} hops lead there`;
  let at: string = here;
  for (const { from, exit, to } of way) {
    if (from !== at || !edgesFromPeripheral(specs, at).some((edge) => edge.exit === exit && edge.to === to))
      return `its path takes ${from} ─${exit}→ ${to}, which is not an edge from ${at}`;
    at = to;
  }
  if (!target.peripherals.has(at)) return `the suggested path ends in ${at}`;
  if (shortest === null || way.length < shortest)
    return `its path has ${way.length} hops, but ${shortest} are necessary`;
  // If modes admit only some peripherals, a path with more hops can need fewer changes of mode.
  const isRestricted = Object.values(specs.modeGate?.peripherals ?? {}).some((admitted) => admitted !== null);
  return open === null || way.length <= open || isRestricted
    ? null
    : `its path has ${way.length} hops, but ${open} suffice`;
}

/** True for an edge without requirements. A path over any other edge may be longer. */
function needsNothing({ peripherals }: SpecSet, { to, implies, when, conditions, gates }: Edge): boolean {
  const { context = {}, entry } = getOwn(peripherals, to) ?? {};
  return (
    implies === null &&
    when === null &&
    conditions.length + gates.length === 0 &&
    !entry?.sources.some(({ kind }) => kind === 'agent-request') &&
    Object.entries(context).every(([field, { optional }]) => optional || field === 'session-id')
  );
}

/** The peripherals that would allow a refused request, and the effect that the mode must allow, if any. */
interface Goal {
  readonly peripherals: ReadonlySet<string>;
  readonly effect: ToolEffect | null;
}

/** null if the request names no known peripheral. */
function goal(specs: SpecSet, request: AuditRequest): Goal | null {
  if (request.kind === 'step')
    return { peripherals: peripheralsWithTool(specs, request.tool), effect: specs.tools[request.tool]?.effect ?? null };
  if (request.kind === 'hop' && Object.hasOwn(specs.peripherals, request.to))
    return { peripherals: new Set([request.to]), effect: null };
  return null;
}

/** The number of hops to the nearest goal, at least one, with changes of mode on the way; null if none is reachable. */
function hopsTo(
  specs: SpecSet,
  from: string,
  { mode, agent }: AuditState,
  { peripherals, effect }: Goal,
  isOpen: (edge: Edge) => boolean = () => true,
): number | null {
  if (peripherals.size === (peripherals.has(from) ? 1 : 0)) return null;
  const { modeGate } = specs;
  const isAllowed = (at: string | null) =>
    !modeGate || at === null || effect === null || !!modeGate.effects[at]?.includes(effect);
  const seen = new Set<string>();
  let frontier = [{ peripheral: from, mode }];
  for (let hops = 0; frontier.length > 0; hops++) {
    const layer: typeof frontier = [];
    for (const at of frontier) {
      const key = `${at.peripheral} ${at.mode}`;
      if (seen.has(key)) continue;
      seen.add(key);
      layer.push(at);
      if (!modeGate || at.mode === null) continue;
      const next = modeGate.transitions.filter((leg) => leg.from === at.mode).map(({ to }) => to);
      for (const to of [...next, modeGate.reset]) frontier.push({ peripheral: at.peripheral, mode: to });
    }
    if (hops > 0 && layer.some((at) => at.peripheral !== from && peripherals.has(at.peripheral) && isAllowed(at.mode)))
      return hops;
    frontier = layer.flatMap((at) => {
      const admitted = modeGate && at.mode !== null ? modeGate.peripherals[at.mode] : null;
      const reached = edgesFromPeripheral(specs, at.peripheral).filter(
        (edge) =>
          isOpen(edge) &&
          (admitted?.includes(edge.to) ?? true) &&
          (specs.peripherals[edge.to]?.agents?.includes(agent) ?? true),
      );
      return reached.map(({ to }) => ({ peripheral: to, mode: at.mode }));
    });
  }
  return null;
}
