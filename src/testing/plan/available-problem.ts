import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import type { Available, Denial } from '../../gate/denial.ts';
import { edgesFrom } from '../../spec/edges-from.ts';
import { peripheralsWith } from '../../spec/peripherals-with.ts';
import type { SpecSet } from '../../spec/types.ts';

/** The actions that a denial should offer, computed from the spec without the gate. */
interface ExpectedActions {
  readonly peripheral: string | null;
  readonly mode: string | null;
  readonly tools: readonly string[];
  /** The possible hops as `from exit to`; outside of any peripheral, the names of those that can be started. */
  readonly hops: readonly string[];
  readonly modes: readonly string[];
}

/** Computes the actions that are available in a state from its place, its mode and the status of its visit. Pure. */
function expectedActions({ specs }: AuditedPin, { visit, visits, mode, closed }: AuditState): ExpectedActions {
  const spec = visit ? specs.peripherals[visit.peripheral] : undefined;
  const { modeGate } = specs;
  const allowed = modeGate && mode ? (modeGate.effects[mode] ?? []) : null;
  const startable = () => {
    const source = Object.keys(visits).length === 0 ? 'default' : 'session-close';
    return Object.values(specs.peripherals).filter(({ entry }) => entry.sources.some(({ kind }) => kind === source));
  };
  const forward = modeGate && mode ? modeGate.transitions.filter(({ from }) => from === mode).map(({ to }) => to) : [];
  const back = modeGate && mode && mode !== modeGate.reset && !forward.includes(modeGate.reset) ? [modeGate.reset] : [];
  return {
    peripheral: visit?.peripheral ?? null,
    mode,
    tools:
      !spec || closed || visit?.expired
        ? []
        : spec.tools.filter((id) => allowed === null || allowed.includes(specs.tools[id]!.effect)),
    hops: closed
      ? []
      : visit
        ? edgesFrom(specs, visit.peripheral).map(({ from, exit, to }) => `${from} ${exit} ${to}`)
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

/** The first wrong or missing action, or impossible leg of a path, that a refusal suggests; null if all are right. */
export function availableActionsProblem(
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
  const targets = goal(specs, request);
  if (here === null || targets === null || (code !== 'tool-not-allowed' && code !== 'hop-not-allowed')) return null;
  const shortest = hopsTo(specs, here, targets);
  if (way === null) return shortest === null ? null : `it names no path, but ${shortest} hops lead there`;
  let at: string = here;
  for (const { from, exit, to } of way) {
    if (from !== at || !edgesFrom(specs, at).some((edge) => edge.exit === exit && edge.to === to))
      return `its path takes ${from} ─${exit}→ ${to}, which is not an edge from ${at}`;
    at = to;
  }
  if (!targets.has(at)) return `the suggested path ends in ${at}`;
  return way.length === shortest ? null : `its path has ${way.length} hops, but ${shortest} suffice`;
}

/** The peripherals in which a refused request would be allowed; null if it names none. */
function goal(specs: SpecSet, request: AuditRequest): ReadonlySet<string> | null {
  if (request.kind === 'step') return peripheralsWith(specs, request.tool);
  if (request.kind === 'hop' && Object.hasOwn(specs.peripherals, request.to)) return new Set([request.to]);
  return null;
}

/** The number of hops from a peripheral to the nearest target, at least one; null if no target can be reached. */
function hopsTo(specs: SpecSet, from: string, targets: ReadonlySet<string>): number | null {
  if (targets.size === (targets.has(from) ? 1 : 0)) return null;
  const seen = new Set([from]);
  let frontier = [from];
  for (let hops = 1; frontier.length > 0; hops++) {
    const next = [...new Set(frontier.flatMap((id) => edgesFrom(specs, id)).map(({ to }) => to))].filter(
      (to) => !seen.has(to),
    );
    if (next.some((to) => targets.has(to))) return hops;
    for (const to of next) seen.add(to);
    frontier = next;
  }
  return null;
}
