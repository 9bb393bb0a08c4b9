import type { Json } from '../spec/types.ts';
import type { Body } from './bodies.ts';
import { fieldsOf } from './dialects/fields.ts';
import type { Entry } from './entry.ts';
import type { PatternUse } from './par.ts';

export interface Told {
  readonly entry: Entry;
  readonly body: Body;
}

/** What was done, as the patterns see it: one sign after the other. */
interface Sign {
  readonly entry: string;
  readonly kind: 'look' | 'change' | 'test' | 'reframe';
  readonly paths: readonly string[];
  readonly verdict: string | null;
}

/** Each pattern that can be seen in what was done, and at which signs. The ids are those of the shipped pattern files. */
const RECOGNISERS: { readonly [pattern: string]: (signs: readonly Sign[]) => readonly Sign[] } = {
  'read-before-edit': (signs) => {
    const seen = new Set<string>();
    const found: Sign[] = [];
    for (const sign of signs) {
      if (sign.kind === 'change' && sign.paths.some((path) => seen.has(path))) found.push(sign);
      if (sign.kind === 'look') for (const path of sign.paths) seen.add(path);
    }
    return found;
  },
  'reproduce-first': (signs) => {
    const change = signs.findIndex(({ kind }) => kind === 'change');
    const before = change < 0 ? [] : signs.slice(0, change);
    return before.filter(({ kind, verdict }) => kind === 'test' && verdict === 'fail').slice(-1);
  },
  'test-after-change': (signs) => signs.filter(({ kind }, at) => kind === 'test' && lastOf(signs, at) === 'change'),
  'reframe-on-failure': (signs) => signs.filter(({ kind }) => kind === 'reframe'),
};

/** What was changed or tested last before a sign. */
const lastOf = (signs: readonly Sign[], at: number): Sign['kind'] | null =>
  signs.slice(0, at).findLast(({ kind }) => kind === 'change' || kind === 'test')?.kind ?? null;

/**
 * The patterns that a session's actions show, though nobody selected them by name.
 * @param here ids of the entries whose actions count; earlier ones are their context
 */
export function inferPatterns(told: readonly Told[], here: ReadonlySet<string>): PatternUse[] {
  const signs = told.flatMap(({ entry, body }) => signsOf(entry.id, body));
  return Object.entries(RECOGNISERS).flatMap(([pattern, recognise]) => {
    const count = recognise(signs).filter(({ entry }) => here.has(entry)).length;
    return count > 0 ? [{ pattern, count, inferred: true, outcome: null }] : [];
  });
}

const CHANGES = ['create', 'modify', 'delete', 'mode', 'link'];

function signsOf(entry: string, body: Body): Sign[] {
  if (body.event === 'hop') return body.reframe ? [{ entry, kind: 'reframe', paths: [], verdict: null }] : [];
  if ((body.event !== 'step' && body.event !== 'outcome') || body.outcome.status !== 'ok') return [];
  const result = fieldsOf(body.outcome.result) ?? {};
  const effects = body.effects === 'unobserved' ? [] : body.effects;
  const changed = effects.filter(({ op }) => CHANGES.includes(op)).map(({ path }) => path);
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
    const path = fieldsOf(match)?.['path'];
    return typeof path === 'string' ? [path] : [];
  });
