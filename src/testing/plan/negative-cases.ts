import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import type { Fields, Json, PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { sampleStatedFruit } from '../samples/stated-fruit.ts';
import type { Move } from './move.ts';
import { moveOfRequest, movesToTryIn } from './moves.ts';
import { modeChangesLikelyRefused } from './negative-modes.ts';
import { INHERITED_MEMBER_NAMES, stepOutsideEnvelope, stepsLikelyRefused } from './negative-steps.ts';
import { rotateList } from './rotate-list.ts';

/** Number of targets without an edge, and of tools outside the envelope, to try in each peripheral of a large set. */
const SAMPLE = 1;
/**
 * Maximum number of targets without an edge to try in one peripheral. Those after it in the list come first, so that
 * each peripheral tries other targets.
 */
const MAX_TARGETS = 20;
/** Number of starts to try outside of any peripheral, in a large spec set or after a visit. */
const OUTSIDE_SAMPLE = 20;

/** The cases to try in a peripheral: all of them, a sample for the rules that hold everywhere, or only its edges. */
export type Thoroughness = 'whole' | 'sample' | 'edges';

/**
 * Requests that the spec probably refuses: hops without an edge, exits that open another target, tools outside of the
 * envelope, invalid arguments, paths out of scope, mode changes without a transition, starts during a visit, steps
 * outside of one. The spec decides about each: it must be refused or allowed as the spec says.
 */
export function requestsLikelyRefused(pinned: AuditedPin, state: AuditState, how: Thoroughness): readonly Move[] {
  const { specs } = pinned;
  const spec = state.visit ? specs.peripherals[state.visit.peripheral] : undefined;
  if (!spec) return [...refusedAnywhere(pinned, state), ...refusedOutside(pinned, state, how)];
  if (how === 'edges') return edgeCases(pinned, state, spec);
  return [
    ...refusedAnywhere(pinned, state),
    moveOfRequest('close inside', { kind: 'close' }),
    moveOfRequest('start inside', { kind: 'start', peripheral: anyoneOf(specs), by: 'operator' }),
    ...oddFruits(spec).flatMap(([what, fruit]) => [
      moveOfRequest(`stop with ${what}`, { kind: 'stop', fruit }),
      ...spec.exits
        .slice(0, 1)
        .map(({ name, opens }) =>
          moveOfRequest(`hop with ${what}`, hopTo(spec, opens[0]?.to ?? '', { exit: name, fruit, by: 'operator' })),
        ),
    ]),
    ...delegations(specs, spec),
    ...stepsLikelyRefused(pinned, state, how === 'whole' ? undefined : SAMPLE),
    ...hopsWithoutEdge(specs, spec, how),
    ...(how === 'whole' ? [] : edgeCases(pinned, state, spec)),
    ...misusedEdges(spec, how),
  ];
}

const anyoneOf = ({ peripherals }: SpecSet): string => Object.keys(peripherals)[0] ?? 'nowhere';

/**
 * Starts of sub-agents in an unknown peripheral, in a peripheral that `delegates` lacks, and in each peripheral that
 * `delegates` names.
 */
function delegations({ peripherals }: SpecSet, { delegates = [] }: PeripheralSpec): readonly Move[] {
  const unnamed = Object.keys(peripherals).find((id) => !delegates.some(({ to }) => to === id));
  const tried = ['no-such-peripheral', ...(unnamed === undefined ? [] : [unnamed]), ...delegates.map(({ to }) => to)];
  const nobody = { kind: 'delegate', to: 'no-such-agency', by: 'agent', reason: 'because', approves: false } as const;
  return [
    moveOfRequest('run no-such-agency', { ...nobody, agency: { acts: false } }),
    ...tried.flatMap((to) =>
      [true, false].map((approves) =>
        moveOfRequest(`delegate to ${to}${approves ? '' : ' without approval'}`, { ...nobody, to, approves }),
      ),
    ),
  ];
}

/** A hop with everything that a spec may require, overridden by `more`. */
const hopTo = (
  spec: PeripheralSpec | undefined,
  to: string,
  more: Partial<Extract<AuditRequest, { kind: 'hop' }>> = {},
): AuditRequest => ({
  kind: 'hop',
  to,
  reason: 'because',
  by: 'agent',
  approves: true,
  ...(spec ? { fruit: sampleStatedFruit(spec) } : {}),
  ...more,
});

/** Moves that no state allows. */
function refusedAnywhere(pinned: AuditedPin, state: AuditState): readonly Move[] {
  const spec = state.visit ? pinned.specs.peripherals[state.visit.peripheral] : undefined;
  return [
    moveOfRequest('step with a tool that does not exist', { kind: 'step', tool: 'no-such-tool', args: {} }),
    ...['no-such-peripheral', ...INHERITED_MEMBER_NAMES].flatMap((nowhere) => [
      moveOfRequest(`hop to ${nowhere}`, hopTo(spec, nowhere)),
      moveOfRequest(`start ${nowhere}`, { kind: 'start', peripheral: nowhere, by: 'operator' }),
    ]),
    ...modeChangesLikelyRefused(pinned, state),
  ];
}

function refusedOutside(pinned: AuditedPin, state: AuditState, how: Thoroughness): readonly Move[] {
  const [tool] = Object.keys(pinned.specs.tools);
  const anyone = anyoneOf(pinned.specs);
  const starts = movesToTryIn(pinned, state);
  return [
    ...(tool ? [moveOfRequest('step outside', { kind: 'step', tool, args: {} })] : []),
    moveOfRequest('stop outside', { kind: 'stop' }),
    moveOfRequest(`hop ${anyone} outside`, hopTo(undefined, anyone)),
    ...(state.closed ? [moveOfRequest('close again', { kind: 'close' })] : []),
    ...(how === 'whole' && Object.keys(state.visits).length === 0 ? starts : starts.slice(0, OUTSIDE_SAMPLE)),
  ];
}

const idsByPeripherals = new WeakMap<SpecSet['peripherals'], readonly string[]>();
const idsOf = ({ peripherals }: SpecSet) => getOrInsert(idsByPeripherals, peripherals, () => Object.keys(peripherals));

/** The first peripherals that no exit of a peripheral opens, in the order in which they are tried. */
function targetsWithoutExit(specs: SpecSet, spec: PeripheralSpec, max: number): readonly string[] {
  const ids = idsOf(specs);
  const opened = new Set(spec.exits.flatMap(({ opens }) => opens.map(({ to }) => to)));
  const found: string[] = [];
  const first = ids.indexOf(spec.id);
  for (let next = 0; next < ids.length && found.length < max; next += 1) {
    const to = ids[(first + next) % ids.length]!;
    if (!opened.has(to)) found.push(to);
  }
  return found;
}

function hopsWithoutEdge(specs: SpecSet, spec: PeripheralSpec, how: Thoroughness): readonly Move[] {
  const [max, exits] = how === 'whole' ? [MAX_TARGETS, spec.exits] : [SAMPLE, spec.exits.slice(0, 1)];
  const tried = targetsWithoutExit(specs, spec, max);
  return tried.flatMap((to) => [
    moveOfRequest(`hop ${to} without an exit`, hopTo(spec, to)),
    ...exits.map(({ name }) => moveOfRequest(`hop ${to} by ${name}`, hopTo(spec, to, { exit: name, by: 'operator' }))),
  ]);
}

function misusedEdges(spec: PeripheralSpec, how: Thoroughness): readonly Move[] {
  const hops = spec.exits.flatMap(({ name, opens, implies }) => opens.map(({ to }) => ({ exit: name, to, implies })));
  return (how === 'whole' ? hops : hops.slice(0, SAMPLE)).flatMap(({ exit, to, implies }) => [
    moveOfRequest(`hop ${to} by ${exit} without approval`, hopTo(spec, to, { exit, by: 'operator', approves: false })),
    ...['no-such-exit', ...INHERITED_MEMBER_NAMES].map((other) =>
      moveOfRequest(`hop ${to} by ${other}`, hopTo(spec, to, { exit: other })),
    ),
    moveOfRequest(`hop ${to} by any exit`, hopTo(spec, to)),
    moveOfRequest(`hop ${to} by ${exit} as the clock`, hopTo(spec, to, { exit, by: 'clock' })),
    ...(implies === null
      ? [moveOfRequest(`hop ${to} by ${exit} without a reason`, hopTo(spec, to, { exit, reason: ' ' }))]
      : []),
    moveOfRequest(`hop ${to} by ${exit}`, hopTo(spec, to, { exit })),
  ]);
}

/** A peripheral's hops, also without approval; a hop without an edge; a tool outside of the envelope. */
function edgeCases(pinned: AuditedPin, state: AuditState, spec: PeripheralSpec): readonly Move[] {
  const { specs } = pinned;
  const hops = movesToTryIn(pinned, state).filter(({ asked }) => asked.kind === 'hop');
  const approvals = hops.flatMap((move): Move[] =>
    move.asked.kind === 'hop' && isApproved(specs, spec.id, move.asked.to)
      ? [{ name: `${move.name} without approval`, asked: { ...move.asked, approves: false } }]
      : [],
  );
  const [to] = targetsWithoutExit(specs, spec, 1);
  const [tool] = rotateList(
    Object.values(specs.tools).filter(({ id }) => !spec.tools.includes(id)),
    idsOf(specs).indexOf(spec.id),
  );
  return [
    ...hops,
    ...approvals,
    ...(to === undefined ? [] : [moveOfRequest(`hop ${to} without an exit`, hopTo(spec, to))]),
    ...(tool ? [stepOutsideEnvelope(tool, pinned)] : []),
  ];
}

const isApproved = (specs: SpecSet, from: string, target: string): boolean =>
  edgesFromPeripheral(specs, from).some(
    ({ to, gates }) => to === target && gates.some(({ kind }) => kind === 'approval'),
  );

/** One value of each type of a stated field, and some that look similar. */
const OF_EVERY_KIND: readonly Json[] = ['stated', '', 1, 1.5, true, null, ['stated'], { stated: true }];

/** Fruits that rules may refuse, each with its defect: unknown, invented, missing, or of another type. */
function oddFruits(spec: PeripheralSpec): readonly (readonly [what: string, fruit: Fields])[] {
  const stated = sampleStatedFruit(spec);
  return [
    ['a strange fruit', { ...stated, 'no-such-field': 1 }],
    ['a fruit of an inherited name', { ...stated, constructor: 1 }],
    ...Object.entries(spec.fruit).flatMap(([field, rule]): (readonly [string, Fields])[] => {
      const { [field]: _, ...without } = stated;
      if (rule.kind === 'observed') return [[`${field} made up`, { ...stated, [field]: { made: 'up' } }]];
      return [
        [`no ${field}`, without],
        ...OF_EVERY_KIND.map((value) => [`${field} ${JSON.stringify(value)}`, { ...stated, [field]: value }] as const),
      ];
    }),
  ];
}
