import { expected } from '../audit/expected.ts';
import type { Pinned } from '../audit/ledger.ts';
import { beforeAll, type Standing } from '../audit/standing.ts';
import { type Mode, MODES } from '../spec/types.ts';
import { type Model, type Route, shortestRoutes } from './model.ts';
import { imagine, isLawful, keyMaker, type Move, movesFrom } from './moves.ts';
import { everyState, searchRoute } from './search.ts';

/** A route that is executed, and what is done at its end. */
export interface PlannedCase {
  readonly group: 'hops' | 'round trips' | 'refusals' | 'modes' | 'visits' | 'walks';
  /** A sentence with the way in it. */
  readonly name: string;
  readonly moves: readonly Move[];
  /** Tried at the end of the route; each is let through or refused as the spec says. */
  readonly tries?: readonly Move[];
  /** Try everything that is not lawful at every new place on the way (`walks`), or at the end. */
  readonly provoke?: 'end' | 'all';
}

export interface Plan {
  readonly cases: readonly PlannedCase[];
  /** What can be covered at all: `edge edit hop-test test`, `state edit`, `start explore`, `mode discuss diagnose`. */
  readonly reachable: ReadonlySet<string>;
  /** The spec set is too large for shortest routes to everything: it is walked. */
  readonly large: boolean;
}

/** More than this, and shortest routes to every transition would take longer than people wait. */
const LARGE_EDGES = 150;
const LARGE_STATES = 250;
/** Hops of one walk: a session that goes on for longer shows nothing new. */
const WALK = 60;

export const place = ({ visit }: Standing): string => visit?.peripheral ?? 'outside';

/** What a move covers, by its name in a coverage table. */
export function coveredBy(before: Standing, { asked }: Move): readonly string[] {
  switch (asked.kind) {
    case 'hop':
      return [`edge ${place(before)} ${asked.exit} ${asked.to}`, `state ${asked.to}`];
    case 'start':
      return [`start ${asked.peripheral}`, `state ${asked.peripheral}`];
    case 'mode':
      return [asked.reset ? `mode ${before.mode} reset` : `mode ${before.mode} ${asked.to}`];
    default:
      return [];
  }
}

/** The model of sessions in the mode that allows the most: hops and starts with the facts that they need. */
function hopModel(pinned: Pinned, initial: Standing, withModes: boolean): Model<Standing, Move> {
  const lawful = new WeakMap<Standing, readonly Move[]>();
  return {
    initial,
    key: keyMaker(pinned),
    next: (standing, move) => imagine(pinned, standing, move),
    moves: (standing) => {
      const known = lawful.get(standing);
      if (known) return known;
      const moves = movesFrom(pinned, standing).filter(
        (move) => (withModes || move.asked.kind !== 'mode') && isLawful(pinned, standing, move),
      );
      lawful.set(standing, moves);
      return moves;
    },
  };
}

function modeModel(pinned: Pinned, initial: Standing): Model<Standing, Move> {
  return {
    initial,
    key: ({ mode }) => String(mode),
    next: (standing, move) => imagine(pinned, standing, move),
    moves: (standing) =>
      movesFrom(pinned, standing).filter((move) => move.asked.kind === 'mode' && isLawful(pinned, standing, move)),
  };
}

const inWords = ({ moves, states }: Route<Standing, Move>): string =>
  moves
    .flatMap(({ asked, name }, index) => {
      if (asked.kind === 'hop') return [`─${asked.exit}→ ${asked.to}`];
      if (asked.kind === 'start') return [`start ${asked.peripheral}`];
      return asked.kind === 'mode' && place(states[index]!) === 'outside' ? [] : [`(${name})`];
    })
    .join(' ');

/** What has to be tried to hold sessions of a spec set against it. Pure. */
export function planCases(pinned: Pinned, agent: string): Plan {
  const opening: Standing = { ...beforeAll(pinned), agent, root: '/', sessionId: 'planned' };
  const toWork = routeToWork(pinned, opening);
  const working = toWork.states.at(-1)!;
  const { specs } = pinned;
  const restricted = MODES.some((mode) => specs.gate?.peripherals[mode]);
  const model = hopModel(pinned, restricted ? opening : working, restricted);
  const prefix = restricted ? [] : toWork.moves;
  const modes = modeCases(pinned, opening);
  const states = specs.edges.length > LARGE_EDGES ? null : everyState(model, LARGE_STATES);
  const rest = states ? smallPlan(pinned, model, prefix, states) : largePlan(model, prefix);
  return {
    cases: [...modes.cases, ...rest.cases],
    reachable: new Set(['state outside', ...modes.reachable, ...rest.reachable]),
    large: states === null,
  };
}

/** The mode that allows the most, by the fewest transitions. */
function routeToWork(pinned: Pinned, opening: Standing): Route<Standing, Move> {
  const nothing: Route<Standing, Move> = { moves: [], states: [opening] };
  const { gate } = pinned.specs;
  if (!gate) return nothing;
  const power = (mode: Mode | null) => (mode ? gate.effects[mode].length : 0);
  const routes = everyState(modeModel(pinned, opening), 10) ?? [nothing];
  return routes.toSorted((a, b) => power(b.states.at(-1)!.mode) - power(a.states.at(-1)!.mode))[0] ?? nothing;
}

function modeCases(pinned: Pinned, opening: Standing): { cases: PlannedCase[]; reachable: Set<string> } {
  const { gate } = pinned.specs;
  const provoked: PlannedCase = {
    group: 'refusals',
    name: 'outside, before anything happened: whatever is not lawful is refused',
    moves: [],
    provoke: 'end',
  };
  if (!gate) return { cases: [provoked], reachable: new Set() };
  const routes = shortestRoutes(modeModel(pinned, opening));
  const reachable = new Set(
    routes.flatMap(({ moves, states }) => moves.flatMap((move, i) => coveredBy(states[i]!, move))),
  );
  const name = ({ moves }: Route<Standing, Move>) => moves.map((move) => move.name.replace('to.', '→ ')).join(' ');
  const paths = routes.map(
    (route): PlannedCase => ({
      group: 'modes',
      name: `${gate.initial} ${name(route)}`,
      moves: route.moves,
      provoke: 'end',
    }),
  );
  return { cases: [provoked, ...paths], reachable };
}

function smallPlan(
  pinned: Pinned,
  model: Model<Standing, Move>,
  prefix: readonly Move[],
  states: readonly Route<Standing, Move>[],
): { cases: PlannedCase[]; reachable: Set<string> } {
  const cases: PlannedCase[] = [];
  const reachable = new Set<string>();
  const hops = new Map<string, Route<Standing, Move>>();
  for (const route of shortestRoutes(model)) {
    route.moves.forEach((move, index) => {
      for (const item of coveredBy(route.states[index]!, move)) reachable.add(item);
      const [item] = coveredBy(route.states[index]!, move);
      const { kind } = move.asked;
      if (item === undefined || (kind !== 'hop' && kind !== 'start')) return;
      const known = hops.get(item);
      if (known && known.moves.length <= index + 1) return;
      hops.set(item, { moves: route.moves.slice(0, index + 1), states: route.states.slice(0, index + 2) });
    });
  }
  for (const [item, route] of [...hops].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const way = inWords(route);
    cases.push({ group: 'hops', name: `${item}: ${way}`, moves: [...prefix, ...route.moves] });
    const back = item.startsWith('edge ') ? roundTrip(model, route) : null;
    if (back) {
      const kind = isReframe(pinned, route) ? 'reframe' : 'round trip';
      cases.push({ group: 'round trips', name: `${kind}: ${inWords(back)}`, moves: [...prefix, ...back.moves] });
    }
  }
  cases.push(...refusalCases(pinned, prefix, states), ...visitCases(pinned, model, prefix, states));
  return { cases, reachable };
}

/** The route, on to where its last hop came from, by the shortest way back. */
function roundTrip(model: Model<Standing, Move>, route: Route<Standing, Move>): Route<Standing, Move> | null {
  const from = place(route.states.at(-2)!);
  const back = searchRoute(
    model,
    route.states.at(-1)!,
    (_, move) => move.asked.kind === 'hop' && move.asked.to === from,
    2000,
  );
  return back && { moves: [...route.moves, ...back.moves], states: [...route.states, ...back.states.slice(1)] };
}

/** The last hop goes back because what was expected did not hold. */
function isReframe({ specs }: Pinned, { moves, states }: Route<Standing, Move>): boolean {
  const last = moves.at(-1)!.asked;
  const from = states.at(-2)!;
  if (last.kind !== 'hop') return false;
  const exits = specs.peripherals[place(from)]?.exits ?? [];
  const hoped = exits.find(({ implies }) => implies !== null);
  const exit = exits.find(({ name }) => name === last.exit);
  return hoped !== undefined && exit?.implies !== null && exit !== hoped && (from.visits[last.to] ?? 0) > 0;
}

/** For every rule that can stand against a move, the shortest route to a state where it does. */
function refusalCases(
  pinned: Pinned,
  prefix: readonly Move[],
  states: readonly Route<Standing, Move>[],
): PlannedCase[] {
  const found = new Map<string, PlannedCase>();
  const swept = new Set<string>();
  for (const route of states.toSorted((a, b) => a.moves.length - b.moves.length)) {
    const standing = route.states.at(-1)!;
    const where = `${place(standing)}${Object.keys(standing.visits).length > 0 ? '' : ' at first'}`;
    if (!swept.has(where)) {
      swept.add(where);
      const name = `in ${where}: whatever is not lawful is refused (${inWords(route)})`;
      found.set(where, { group: 'refusals', name, moves: [...prefix, ...route.moves], provoke: 'end' });
    }
    for (const move of movesFrom(pinned, standing)) {
      for (const tried of variants(move)) {
        const want = expected(pinned, standing, tried.asked, standing.lastAt);
        if (want.ok) continue;
        const key = `${place(standing)} ${tried.name}: ${want.code}: ${want.rule}`;
        if (found.has(key)) continue;
        found.set(key, {
          group: 'refusals',
          name: `${key} (${inWords(route)})`,
          moves: [...prefix, ...route.moves],
          tries: [tried],
        });
      }
    }
  }
  return [...found.values()];
}

const variants = (move: Move): readonly Move[] =>
  'approves' in move.asked
    ? [move, { ...move, name: `${move.name} without approval`, asked: { ...move.asked, approves: false } }]
    : [move];

/** The life of a visit: limits of steps and of time, the stop, the start after it, the close. */
function visitCases(
  pinned: Pinned,
  model: Model<Standing, Move>,
  prefix: readonly Move[],
  states: readonly Route<Standing, Move>[],
): PlannedCase[] {
  return Object.values(pinned.specs.peripherals).flatMap(({ id, limits }) => {
    const route = states.find(({ states: way }) => place(way.at(-1)!) === id);
    if (!route) return [];
    const at = route.states.at(-1)!;
    const moves = [...prefix, ...route.moves];
    const stop = model.moves(at).find(({ asked }) => asked.kind === 'stop');
    const step = model.moves(at).find(({ asked }) => asked.kind === 'step');
    const cases: PlannedCase[] = [];
    const add = (name: string, more: readonly Move[], provoke: boolean) =>
      cases.push({
        group: 'visits',
        name: `${id}: ${name}`,
        moves: [...moves, ...more],
        ...(provoke ? { provoke: 'end' as const } : {}),
      });
    if (step) add('a step, and another', [step, step], false);
    if (stop) {
      add('stop, and what one may do then', [stop], true);
      const close: Move = { name: 'close', asked: { kind: 'close' } };
      add('stop, close, and nothing after', [stop, close], true);
    }
    if (step && limits.steps !== null && limits.steps <= 500)
      add(
        `${limits.steps} steps are the limit`,
        Array.from({ length: limits.steps }, () => step),
        true,
      );
    if (step && limits.minutes !== null) {
      add(`${limits.minutes} minutes are the limit`, [{ ...step, wait: limits.minutes }], true);
      add(`just before ${limits.minutes} minutes`, [{ ...step, wait: limits.minutes - 1 / 60 }], false);
    }
    const { gate } = pinned.specs;
    if (step && gate && gate.timeoutMinutes !== null)
      add(
        `after ${gate.timeoutMinutes} idle minutes the mode is reset`,
        [{ ...step, wait: gate.timeoutMinutes }],
        false,
      );
    return cases;
  });
}

/** Long walks that take every edge with few steps, for spec sets where shortest routes to each would be too many. */
function largePlan(
  model: Model<Standing, Move>,
  prefix: readonly Move[],
): { cases: PlannedCase[]; reachable: Set<string> } {
  const covered = new Set<string>();
  const cases: PlannedCase[] = [];
  const isNew = (standing: Standing, move: Move) => coveredBy(standing, move).some((item) => !covered.has(item));
  let moves: Move[] = [];
  let at = model.initial;
  const finish = () => {
    if (moves.length > 0)
      cases.push({
        group: 'walks',
        name: `walk ${cases.length + 1}: ${moves.length} moves`,
        moves: [...prefix, ...moves],
        provoke: 'all',
      });
    moves = [];
    at = model.initial;
  };
  for (;;) {
    if (moves.length >= WALK) finish();
    const route = searchRoute(model, at, isNew);
    if (!route && moves.length === 0) break;
    if (!route) {
      finish();
      continue;
    }
    route.moves.forEach((move, index) => {
      for (const item of coveredBy(route.states[index]!, move)) covered.add(item);
    });
    moves.push(...route.moves);
    at = route.states.at(-1)!;
  }
  finish();
  return { cases, reachable: covered };
}
