import { type AuditedPin, type AuditState, initialAuditState } from '../audit/rules/audit-state.ts';
import type { Mode } from '../spec/types.ts';
import { joinCelRules } from './model/cel-rules-text.ts';
import { excludeItems, makeHopModel, makeModeModel } from './model/session-model.ts';
import { type FiniteModel, type ModelRoute, shortestRoutes } from './model/shortest-routes.ts';
import type { Move } from './plan/move.ts';
import { movesToTryIn } from './plan/moves.ts';
import { lacksOnlyApproval, planRefusalCases } from './plan/plan-refusals.ts';
import { planVisitCases } from './plan/plan-visits.ts';
import { planWalkCases } from './plan/plan-walks.ts';
import { describeModelRoute, itemsCoveredByMove, type PlannedCase, peripheralNameOf } from './plan/planned-case.ts';
import { routesToAllStates, searchModelRoute } from './plan/search-route.ts';
import { routesAlongWalks, routesToShutGates } from './plan/states-along-walks.ts';

interface TestPlan {
  readonly cases: readonly PlannedCase[];
  /** All items that can be covered: `edge edit hop-test test`, `state edit`, `start explore`, `mode a b`. */
  readonly reachable: ReadonlySet<string>;
  /** True if the spec set is too large for a shortest route to each transition, so that the plan has long walks. */
  readonly large: boolean;
}

/** A spec set with more edges or more states gets long walks instead of a shortest route to each transition. */
const LARGE_EDGES = 150;
const LARGE_STATES = 250;
/**
 * Plans the cases that test sessions of a spec set against it. Pure.
 * @param excluded items that no case may cover: `edge edit hop-test test`
 */
export function planCases(pinned: AuditedPin, agent: string, excluded: ReadonlySet<string> = new Set()): TestPlan {
  const opening: AuditState = initialAuditState(pinned, { agent, sessionId: 'planned' });
  const modeModel = excludeItems(makeModeModel(pinned, opening), excluded);
  const toWidest = routeToWidestMode(pinned, opening, modeModel);
  const widest = toWidest.states.at(-1)!;
  const { specs } = pinned;
  const restricted =
    specs.modeGate !== null &&
    (Object.values(specs.modeGate.peripherals).some((allowed) => allowed !== null) ||
      /\bsession\.mode\b/.test(joinCelRules(specs)));
  const model = excludeItems(makeHopModel(pinned, restricted ? opening : widest, restricted), excluded);
  const prefix = restricted ? [] : toWidest.moves;
  const modes = modeCases(pinned, modeModel);
  const states = specs.edges.length > LARGE_EDGES ? null : routesToAllStates(model, LARGE_STATES);
  const rest = states
    ? smallPlan(pinned, model, prefix, states)
    : walkedPlan(pinned, model, prefix, planWalkCases(model, prefix, specs, modes.reachable));
  const outside = modes.cases.map((planned): PlannedCase => (states ? planned : { ...planned, provoke: 'all' }));
  return {
    cases: [...outside, ...rest.cases],
    reachable: new Set(['state outside', ...modes.reachable, ...rest.reachable]),
    large: states === null,
  };
}

/** The route to the mode that allows the most, with the fewest transitions. */
function routeToWidestMode(
  pinned: AuditedPin,
  opening: AuditState,
  modeModel: FiniteModel<AuditState, Move>,
): ModelRoute<AuditState, Move> {
  const nothing: ModelRoute<AuditState, Move> = { moves: [], states: [opening] };
  const { modeGate } = pinned.specs;
  if (!modeGate) return nothing;
  const power = (mode: Mode | null) => (mode ? (modeGate.effects[mode]?.length ?? 0) : 0);
  const routes = routesToAllStates(modeModel, 10) ?? [nothing];
  return routes.toSorted((a, b) => power(b.states.at(-1)!.mode) - power(a.states.at(-1)!.mode))[0] ?? nothing;
}

function modeCases(
  pinned: AuditedPin,
  modeModel: FiniteModel<AuditState, Move>,
): { cases: PlannedCase[]; reachable: Set<string> } {
  const { modeGate } = pinned.specs;
  const provoked: PlannedCase = {
    group: 'refusals',
    name: 'outside, before anything happened: everything forbidden is refused',
    moves: [],
    provoke: 'end',
  };
  if (!modeGate) return { cases: [provoked], reachable: new Set() };
  const routes = shortestRoutes(modeModel);
  const reachable = new Set(
    routes.flatMap(({ moves, states }) => moves.flatMap((move, i) => itemsCoveredByMove(states[i]!, move))),
  );
  const name = ({ moves }: ModelRoute<AuditState, Move>) =>
    [modeGate.initial, ...moves.map((move) => move.name.replace('to.', '→ '))].join(' ');
  const paths = routes.map((route): PlannedCase => {
    const at = route.states.at(-1)!;
    const forges = movesToTryIn(pinned, at).filter((move) => move.asked.kind === 'mode' && lacksOnlyApproval(at, move));
    return {
      group: 'modes',
      name: name(route),
      moves: route.moves,
      provoke: 'end',
      ...(forges.length === 0 ? {} : { forges }),
    };
  });
  return { cases: [provoked, ...paths], reachable };
}

function smallPlan(
  pinned: AuditedPin,
  model: FiniteModel<AuditState, Move>,
  prefix: readonly Move[],
  states: readonly ModelRoute<AuditState, Move>[],
): { cases: PlannedCase[]; reachable: Set<string> } {
  const cases: PlannedCase[] = [];
  const reachable = new Set<string>();
  const hops = new Map<string, ModelRoute<AuditState, Move>>();
  for (const route of shortestRoutes(model)) {
    route.moves.forEach((move, index) => {
      for (const item of itemsCoveredByMove(route.states[index]!, move)) reachable.add(item);
      const [item] = itemsCoveredByMove(route.states[index]!, move);
      const { kind } = move.asked;
      if (item === undefined || (kind !== 'hop' && kind !== 'start')) return;
      const known = hops.get(item);
      if (known && known.moves.length <= index + 1) return;
      hops.set(item, { moves: route.moves.slice(0, index + 1), states: route.states.slice(0, index + 2) });
    });
  }
  for (const [item, route] of [...hops].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const path = describeModelRoute(route);
    cases.push({ group: 'hops', name: `${item}: ${path}`, moves: [...prefix, ...route.moves] });
    const back = item.startsWith('edge ') ? roundTrip(model, route) : null;
    if (back) {
      const kind = isReframe(pinned, route) ? 'reframe' : 'round trip';
      cases.push({
        group: 'round trips',
        name: `${kind}: ${describeModelRoute(back)}`,
        moves: [...prefix, ...back.moves],
      });
    }
  }
  cases.push(...planRefusalCases(pinned, prefix, states), ...planVisitCases(pinned, model, prefix, states));
  return { cases, reachable };
}

/** Adds the refusals and limits of each peripheral to the walks of a set whose rules distinguish many states. */
function walkedPlan(
  pinned: AuditedPin,
  model: FiniteModel<AuditState, Move>,
  prefix: readonly Move[],
  { cases: walks, reachable }: Pick<TestPlan, 'cases' | 'reachable'>,
): Pick<TestPlan, 'cases' | 'reachable'> {
  if (pinned.specs.edges.length > LARGE_EDGES) return { cases: walks, reachable };
  const routes = routesAlongWalks(model, prefix, walks);
  const all = [...routes, ...routesToShutGates(pinned, model, routes)];
  const more = [...planRefusalCases(pinned, prefix, all), ...planVisitCases(pinned, model, prefix, all)];
  return { cases: [...walks, ...more], reachable };
}

/** Extends a route by the shortest route back to the source of its last hop. */
function roundTrip(
  model: FiniteModel<AuditState, Move>,
  route: ModelRoute<AuditState, Move>,
): ModelRoute<AuditState, Move> | null {
  const from = peripheralNameOf(route.states.at(-2)!);
  const back = searchModelRoute(
    model,
    route.states.at(-1)!,
    (_, move) => move.asked.kind === 'hop' && move.asked.to === from,
    2000,
  );
  return back && { moves: [...route.moves, ...back.moves], states: [...route.states, ...back.states.slice(1)] };
}

/** True if the last hop goes back because an expectation failed. */
function isReframe({ specs }: AuditedPin, { moves, states }: ModelRoute<AuditState, Move>): boolean {
  const last = moves.at(-1)!.asked;
  const from = states.at(-2)!;
  if (last.kind !== 'hop') return false;
  const exits = specs.peripherals[peripheralNameOf(from)]?.exits ?? [];
  const hoped = exits.find(({ implies }) => implies !== null);
  const exit = exits.find(({ name }) => name === last.exit);
  const wasThere = states.slice(0, -2).some((state) => peripheralNameOf(state) === last.to);
  return hoped !== undefined && exit?.implies !== null && exit !== hoped && wasThere;
}
