import type { Fields } from '../../base/json.ts';
import type { Denial, WayLeg } from '../../gate/denial.ts';
import { branchPatterns } from '../../gate/scope/branch-patterns.ts';
import type { Session } from '../../session/session.ts';
import { nearestModeWithEffects } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import type { Json, Mode } from '../../spec/types.ts';
import { describeConstraints, type PeripheralConstraints } from './describe-constraints.ts';
import { printToolSignature } from './language/format-words.ts';

/** A possible hop with its exact call; outside of every peripheral, a possible start. */
export interface PossibleHop {
  readonly to: string;
  /** null if the peripheral is entered by a start, from no peripheral. */
  readonly exit: string | null;
  readonly needs: readonly string[];
  /** Arguments of the tool `hop`; the agent replaces each `…`. */
  readonly call: Fields;
}

interface ShippingStep {
  readonly to: string;
  /** The peripherals on the path; the last is `to`. */
  readonly via: readonly string[];
  readonly needs: readonly string[];
  /** The branches that may be committed on and pushed; empty if git is not configured. */
  readonly branches: readonly string[];
}

/** The situation of a session as data: all that an agent must get on entry. `promptSection` puts it into words. */
export interface SessionSituation {
  readonly location: {
    readonly sessionId: string;
    readonly agent: string;
    /** null if outside of any peripheral. */
    readonly peripheral: string | null;
    readonly purpose: string | null;
    /** The number of this visit to the peripheral, from 1. */
    readonly visit: number | null;
    readonly status: 'active' | 'expired' | 'interrupted' | 'outside' | 'closed';
    readonly mode: Mode | null;
  };
  /** The context fields that the agent has here. */
  readonly sees: {
    /** The fields that the peripheral requires on entry. */
    readonly context: Fields;
    readonly changedFiles: readonly string[];
    /** The other carried fields. */
    readonly backpack: Fields;
    /** The observations of this visit so far. */
    readonly observed: Fields;
  };
  readonly actions: readonly { readonly tool: string; readonly usage: string; readonly purpose: string }[];
  readonly scope: PeripheralConstraints['scope'] | null;
  /** The exits and where they lead (outside of any peripheral: the possible starts). */
  readonly exits: readonly PossibleHop[];
  /** The paths to the peripherals that ship, with all remaining needs. */
  readonly ships: readonly ShippingStep[];
  /** The stated fields of this visit's fruit, which a hop must contain. */
  readonly toState: readonly {
    readonly field: string;
    readonly type: Json;
    readonly optional: boolean;
    /** The peripherals that cannot be entered without this field. */
    readonly neededBy: readonly string[];
    /** True if no other peripheral produces this fruit field. */
    readonly onlyHere: boolean;
  }[];
  readonly forbidden: {
    /** Tools of this peripheral that the mode, a limit or the end of the visit makes unavailable. */
    readonly shut: readonly string[];
    /** Tools of other peripherals. */
    readonly absent: readonly string[];
    readonly rules: readonly string[];
  };
  readonly modes: readonly { readonly to: Mode; readonly needs: readonly string[] }[];
  readonly limits: {
    readonly steps: { readonly used: number; readonly of: number } | null;
    /** ISO time at which the visit's time limit ends. */
    readonly until: string | null;
  };
}

/** Reads the situation of a session as it is now. A closed session has neither tools nor exits. */
export function readSituation(session: Session): SessionSituation {
  const { specs, config, state } = session;
  const { tools, hops, modes } = session.available();
  const { peripheral, here, backpack } = state;
  const constraints = peripheral === null ? null : describeConstraints(specs, config, peripheral);
  const contextNames = Object.keys(constraints?.context ?? {});
  const spent = constraints?.limits.steps != null && (here?.steps ?? 0) >= constraints.limits.steps;
  const open = spent ? [] : tools;
  const toState = Object.entries(constraints?.fruit ?? {}).flatMap(([field, { kind, type, optional }]) =>
    kind === 'stated'
      ? [{ field, type, optional, neededBy: neededBy(session, field), onlyHere: isOnlyHere(session, field) }]
      : [],
  );
  return {
    location: {
      sessionId: state.sessionId,
      agent: state.agent,
      peripheral,
      purpose: constraints?.purpose ?? null,
      visit: peripheral === null ? null : (getOwn(state.visits, peripheral) ?? 1),
      status: state.closed ? 'closed' : (state.visit ?? 'outside'),
      mode: state.mode,
    },
    sees: {
      context: pick(backpack, (field) => contextNames.includes(field)),
      changedFiles: state.changedFiles,
      backpack: pick(backpack, (field) => !contextNames.includes(field)),
      observed: here?.observed ?? {},
    },
    actions: open.flatMap((id) => {
      const tool = session.tool(id);
      return tool ? [{ tool: id, usage: printToolSignature(tool), purpose: tool.purpose }] : [];
    }),
    scope: constraints?.scope ?? null,
    exits: hops.map((leg) => ({
      to: leg.to,
      exit: leg.exit,
      needs: leg.needs,
      call: hopCall(leg, toState, modeAt(session, leg.to)),
    })),
    ships: Object.values(specs.peripherals).flatMap(({ id, scope }) =>
      scope.rule.command === 'deploy' && id !== peripheral ? shippingPath(session, id) : [],
    ),
    toState,
    forbidden: {
      shut: (constraints?.tools ?? []).map(({ name }) => name).filter((name) => !open.includes(name)),
      absent: constraints?.forbidden.tools ?? Object.keys(specs.tools),
      rules: constraints?.forbidden.rules ?? [],
    },
    modes,
    limits: {
      steps: constraints?.limits.steps != null ? { used: here?.steps ?? 0, of: constraints.limits.steps } : null,
      until: here?.deadline != null ? new Date(here.deadline).toISOString() : null,
    },
  };
}

function shippingPath(session: Session, to: string): readonly ShippingStep[] {
  const way = session.wayTo(to);
  const { git } = session.config;
  if (way === null) return [];
  const needs = [
    ...new Set(way.flatMap((leg) => [...(leg.modes ?? []).map(({ to: mode }) => `mode ${mode}`), ...leg.needs])),
  ];
  return [{ to, via: way.map((leg) => leg.to), needs, branches: git === null ? [] : branchPatterns(git) }];
}

export const describeShippingStep = ({ via, needs, branches }: ShippingStep): string =>
  [
    ...(via.length > 1 ? [via.join(' → ')] : []),
    ...(needs.length > 0 ? [`needs ${needs.join(', ')}`] : []),
    ...(branches.length > 0 ? [`on branch ${branches.join(' or ')}`] : []),
  ].join('; ');

/** The peripherals whose context requires this field of a fruit and lacks it so far. */
const neededBy = ({ specs, state }: Session, field: string): readonly string[] =>
  Object.values(specs.peripherals).flatMap(({ id, context }) => {
    const rule = getOwn(context, field);
    if (!rule || rule.optional || rule.source.kind === 'session-log') return [];
    const { source } = rule;
    const lacks = source.kind === 'fruit' ? source.peripheral === state.peripheral : !getOwn(state.backpack, field);
    return lacks ? [id] : [];
  });

const isOnlyHere = ({ specs, state }: Session, field: string): boolean =>
  Object.values(specs.peripherals).every(({ id, fruit }) => id === state.peripheral || !getOwn(fruit, field));

/** The nearest mode in which all tools of a peripheral can be called; null if none, or if it is the present one. */
function modeAt({ specs, state }: Session, peripheral: string): Mode | null {
  const tools = getOwn(specs.peripherals, peripheral)?.tools ?? [];
  const effects = tools.flatMap((id) => getOwn(specs.tools, id)?.effect ?? []);
  const mode = nearestModeWithEffects(specs, state.mode, effects);
  return mode === state.mode ? null : mode;
}

/** The arguments of a `hop`, with the fields that it must state, and the mode that its destination needs. */
function hopCall(
  { to, exit }: Pick<WayLeg, 'to' | 'exit'>,
  toState: SessionSituation['toState'] = [],
  mode: Mode | null = null,
): Fields {
  const fruit = toState
    .filter(
      ({ optional, neededBy, onlyHere }) => !optional || neededBy.includes(to) || (neededBy.length > 0 && onlyHere),
    )
    .map(({ field }) => [field, '…'] as const);
  return {
    to,
    ...(exit === null ? {} : { exit }),
    reason: '…',
    ...(mode === null ? {} : { mode }),
    ...(fruit.length > 0 ? { fruit: Object.fromEntries(fruit) } : {}),
  };
}

/** The arguments of the first `hop` on the path that a refusal suggests; null if it suggests none. */
export function firstHopOfWay(session: Session, { way }: Pick<Denial, 'way'>): Fields | null {
  const [first] = way ?? [];
  if (!first) return null;
  return hopCall(first, first.exit === null ? [] : readSituation(session).toState, modeAt(session, first.to));
}

const pick = (fields: Fields, keep: (field: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => keep(field)));
