import { FILE_CHANGE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import type { Json } from '../../spec/types.ts';
import type { Body } from '../bodies.ts';
import { toDialectRecord } from '../dialects/fields.ts';
import type { Entry } from '../entry.ts';
import type { PatternUse } from './par.ts';

export interface EntryWithBody {
  readonly entry: Entry;
  readonly body: Body;
}

/** The parts of one action by which patterns are recognised. */
interface Action {
  readonly entry: string;
  readonly kind: 'look' | 'change' | 'test' | 'reframe';
  readonly paths: readonly string[];
  readonly verdict: string | null;
}

/** For each built-in pattern that actions can show: finds the actions that show it. */
const RECOGNISERS: { readonly [pattern: string]: (actions: readonly Action[]) => readonly Action[] } = {
  'read-before-edit': (actions) => {
    const seen = new Set<string>();
    const found: Action[] = [];
    for (const action of actions) {
      if (action.kind === 'change' && action.paths.some((path) => seen.has(path))) found.push(action);
      if (action.kind === 'look') for (const path of action.paths) seen.add(path);
    }
    return found;
  },
  'reproduce-first': (actions) => {
    const change = actions.findIndex(({ kind }) => kind === 'change');
    const before = change < 0 ? [] : actions.slice(0, change);
    return before.filter(({ kind, verdict }) => kind === 'test' && verdict === 'fail').slice(-1);
  },
  'test-after-change': (actions) =>
    actions.filter(({ kind }, at) => kind === 'test' && lastOf(actions, at) === 'change'),
  'reframe-on-failure': (actions) => actions.filter(({ kind }) => kind === 'reframe'),
};

const lastOf = (actions: readonly Action[], at: number): Action['kind'] | null =>
  actions.slice(0, at).findLast(({ kind }) => kind === 'change' || kind === 'test')?.kind ?? null;

/**
 * Returns the patterns that a session's actions show although the agent selected none of them.
 * @param here ids of the entries whose actions count; earlier actions are only context
 */
export function inferPatterns(recorded: readonly EntryWithBody[], here: ReadonlySet<string>): PatternUse[] {
  const actions = recorded.flatMap(({ entry, body }) => actionsOf(entry.id, body));
  return Object.entries(RECOGNISERS).flatMap(([pattern, recognise]) => {
    const count = recognise(actions).filter(({ entry }) => here.has(entry)).length;
    return count > 0 ? [{ pattern, count, inferred: true, outcome: null }] : [];
  });
}

function actionsOf(entry: string, body: Body): Action[] {
  if (body.event === 'hop') return body.reframe ? [{ entry, kind: 'reframe', paths: [], verdict: null }] : [];
  if ((body.event !== 'step' && body.event !== 'outcome') || body.outcome.status !== 'ok') return [];
  const result = toDialectRecord(body.outcome.result) ?? {};
  const effects = body.effects === 'unobserved' ? [] : body.effects;
  const changed = effects.filter(({ op }) => FILE_CHANGE_EFFECT_KINDS.includes(op)).map(({ path }) => path);
  const looked = [
    ...effects.filter(({ op }) => op === 'read').map(({ path }) => path),
    ...matchesIn(result['matches']),
  ];
  const { verdict } = result;
  return [
    ...(looked.length > 0 ? [{ entry, kind: 'look' as const, paths: looked, verdict: null }] : []),
    ...(changed.length > 0 ? [{ entry, kind: 'change' as const, paths: changed, verdict: null }] : []),
    ...(verdict === 'pass' || verdict === 'fail' ? [{ entry, kind: 'test' as const, paths: [], verdict }] : []),
  ];
}

const matchesIn = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : []).flatMap((match) => {
    const path = toDialectRecord(match)?.['path'];
    return typeof path === 'string' ? [path] : [];
  });
