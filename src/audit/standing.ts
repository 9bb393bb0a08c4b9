import type { Body } from '../evidence/bodies.ts';
import { standingAfter } from '../evidence/discipline.ts';
import type { Mode, PeripheralSpec } from '../spec/types.ts';
import { type Fields, fieldsOf } from './json.ts';
import { type Pinned, scopeOf, type Standing as PatternStanding } from './ledger.ts';
import { changedIn, joined, NOTHING_SEEN, observed, type Seen, see, wavers } from './seen.ts';
import { allPassed, type Run, runsOf } from './test-runs.ts';
import { witnessOf } from './witness.ts';

interface VisitStanding {
  readonly peripheral: string;
  readonly deadline: number | null;
  readonly steps: number;
  readonly denials: number;
  readonly expired: boolean;
  readonly seen: Seen;
}

/** Where a session stands, as its evidence tells it: a plain value, so that a planner can ask "and then?". */
export interface Standing {
  readonly sessionId: string;
  readonly agent: string;
  readonly root: string;
  /** Epoch milliseconds of the last entry. */
  readonly lastAt: number;
  readonly mode: Mode | null;
  readonly closed: boolean;
  readonly visit: VisitStanding | null;
  readonly visits: { readonly [peripheral: string]: number };
  readonly steps: number;
  readonly denials: number;
  /** Successful steps since the last review. */
  readonly successes: number;
  readonly pending: boolean;
  readonly change: number;
  readonly runs: readonly Run[];
  readonly patterns: { readonly [pattern: string]: PatternStanding };
  readonly backpack: Fields;
  readonly fruits: { readonly [peripheral: string]: Fields };
  readonly files: readonly string[];
}

/** Before the first entry. */
export const beforeAll = ({ specs }: Pinned): Standing => ({
  sessionId: '',
  agent: '',
  root: '/',
  lastAt: 0,
  mode: specs.gate?.initial ?? null,
  closed: false,
  visit: null,
  visits: {},
  steps: 0,
  denials: 0,
  successes: 0,
  pending: false,
  change: 0,
  runs: [],
  patterns: {},
  backpack: {},
  fruits: {},
  files: [],
});

/** Who a session is, and the list that grows step by step: what is handed to a visit, or comes of it, only fills them where there is nothing. */
const LASTING = ['session-id', 'author', 'changed-files'];

function packed(backpack: Fields, more: Fields): Fields {
  const lasting = Object.entries(backpack).filter(([field]) => LASTING.includes(field));
  return { ...backpack, ...more, ...Object.fromEntries(lasting) };
}

/** Where a session stands after one more entry. Pure. `at`: epoch milliseconds; `sessionId` as the entry names it. */
export function afterBody(pinned: Pinned, standing: Standing, body: Body, at: number, sessionId: string): Standing {
  const named = standing.sessionId === '' ? { ...standing, sessionId } : standing;
  return { ...take(pinned, named, body), lastAt: Math.max(standing.lastAt, at) };
}

function take(pinned: Pinned, now: Standing, body: Body): Standing {
  const { visit } = now;
  switch (body.event) {
    case 'session-open':
      return {
        ...now,
        agent: body.agent,
        root: body.root,
        backpack: { 'session-id': now.sessionId, author: body.agent },
      };
    case 'start':
      return {
        ...now,
        visit: {
          peripheral: body.peripheral,
          deadline: body.deadline,
          steps: 0,
          denials: 0,
          expired: false,
          seen: NOTHING_SEEN,
        },
        visits: { ...now.visits, [body.peripheral]: (now.visits[body.peripheral] ?? 0) + 1 },
        backpack: packed(now.backpack, body.context),
      };
    case 'intent':
      return { ...now, pending: true };
    case 'interrupted':
      return {
        ...now,
        pending: false,
        change: now.change + 1,
        visit: visit && { ...visit, steps: visit.steps + 1 },
      };
    case 'step':
    case 'outcome':
      return afterResult(pinned, now, body);
    case 'denial':
      return {
        ...now,
        denials: now.denials + 1,
        visit: visit && {
          ...visit,
          denials: visit.denials + 1,
          seen: { ...visit.seen, refusals: visit.seen.refusals + 1 },
        },
      };
    case 'par':
      return { ...now, successes: 0, visit: visit && { ...visit, seen: { ...visit.seen, par: { ...body.par } } } };
    case 'stop': {
      const said = Object.fromEntries(Object.entries(body.fruit).filter(([, value]) => value !== null));
      return {
        ...now,
        visit: null,
        fruits: { ...now.fruits, [body.peripheral]: body.fruit },
        backpack: packed(now.backpack, said),
      };
    }
    case 'mode':
      return { ...now, mode: pinned.specs.gate ? body.to : null };
    case 'expired':
      return { ...now, visit: visit && { ...visit, expired: true } };
    case 'session-closed':
      return { ...now, closed: true };
    case 'hop':
    case 'approval':
      return now;
    default:
      return body satisfies never;
  }
}

function afterResult({ specs }: Pinned, now: Standing, body: Extract<Body, { event: 'step' | 'outcome' }>): Standing {
  const { visit } = now;
  const { tool, outcome } = body;
  const effects = body.effects === 'unobserved' ? [] : body.effects;
  const ok = outcome.status === 'ok';
  const changed = changedIn(effects);
  const changes = body.event === 'outcome' && (body.effects === 'unobserved' || changed.length > 0);
  const change = now.change + (changes ? 1 : 0);
  const result: Fields = ok ? fieldsOf(outcome.result) : {};
  const witness = visit ? witnessOf(specs, visit.peripheral, tool) : null;
  const runs = witness === 'test' ? runsOf(result, change) : [];
  const named = effects.filter(({ op }) => op !== 'ref' && op !== 'connect').map(({ path }) => path);
  const before = now.backpack['changed-files'];
  const told = standingAfter(tool, outcome);
  return {
    ...now,
    pending: false,
    steps: now.steps + 1,
    successes: now.successes + (ok ? 1 : 0),
    change,
    runs: [...now.runs, ...runs],
    files: joined(now.files, named),
    backpack: changes
      ? {
          ...now.backpack,
          'changed-files': [...joined((Array.isArray(before) ? before : []) as string[], changed)],
        }
      : now.backpack,
    patterns: told ? { ...now.patterns, [told.pattern]: told.standing } : now.patterns,
    visit: visit && {
      ...visit,
      steps: visit.steps + 1,
      seen: see(visit.seen, tool, outcome, effects, runs, witness),
    },
  };
}

/** What can be said of the code as it stands: full runs since the last change, each command's last, none of them wavering. */
export function testsOf(now: Standing): { readonly passed: boolean; readonly count: number; readonly failed: number } {
  const current = now.runs.filter((run) => run.change === now.change);
  const whole = current.filter(({ narrowed }) => !narrowed);
  const passed =
    whole.length > 0 && allPassed(current) && whole.every(({ command }) => !wavers(now.runs, command, now.change));
  return { passed, count: current.length, failed: current.filter(({ verdict }) => verdict === 'fail').length };
}

/** The observed part of the fruit that the visit would yield if it ended now. */
export function observedNow(now: Standing, spec: PeripheralSpec): Fields {
  if (!now.visit) return {};
  const { seen } = now.visit;
  return Object.fromEntries(
    Object.entries(spec.fruit).flatMap(([field, rule]) =>
      rule.kind === 'observed' ? [[field, observed(now.runs, seen, rule.from)]] : [],
    ),
  );
}

/** The scope of the visit in this repository. */
export const scopeNow = (pinned: Pinned, { visit }: Standing) =>
  scopeOf(visit ? pinned.specs.peripherals[visit.peripheral] : undefined, pinned.config);
