import type { Json } from '../spec/types.ts';
import { type Body, bodyOf } from './bodies.ts';
import type { Entry } from './entry.ts';

type Fields = { readonly [field: string]: Json };

interface Told {
  readonly entry: Entry;
  readonly body: Body;
}

const count = <T>(items: Iterable<T>): Map<T, number> => {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
};

const of = <E extends Body['event']>(told: readonly Told[], event: E) =>
  told.flatMap(({ entry, body }) =>
    body.event === event ? [{ entry, body: body as Extract<Body, { event: E }> }] : [],
  );

/**
 * A post-action review, mined from a session's evidence (seed 002, the reflect peripheral): the facts first, the agent's own words added to them,
 * never in their place. Fields are those of the seed's `session/par`.
 */
export function minePar(entries: readonly Entry[], stated: Fields): Fields {
  const told = entries.flatMap((entry) => {
    const body = bodyOf(entry.body);
    return body ? [{ entry, body }] : [];
  });
  const denials = of(told, 'denial');
  const stops = of(told, 'stop');
  const steps = [...of(told, 'step'), ...of(told, 'outcome')];
  const tools = count(steps.map(({ body }) => body.tool));
  const reframes = of(told, 'hop').filter(({ body }) => body.reframe !== undefined);
  const changed = new Set(
    of(told, 'outcome').flatMap(({ body }) =>
      body.effects === 'unobserved' ? [] : body.effects.filter(({ op }) => op !== 'ref').map(({ path }) => path),
    ),
  );
  const commits = stops.flatMap(({ body }) => (typeof body.fruit['sha'] === 'string' ? [body.fruit['sha']] : []));
  return {
    'event/type': 'session/par',
    'session/id': entries[0]?.sessionId ?? '',
    patterns_used: [...tools].map(([pattern, times]) => ({ pattern, count: times, inferred: true })),
    what_went_well: [
      ...stops.flatMap(({ body }) => wentWell(body.peripheral, body.fruit)),
      ...words(stated, 'what-went-well'),
    ],
    what_could_improve: [
      ...[...count(denials.map(({ body }) => body.code))].map(([code, times]) => `${times} × ${code}`),
      ...of(told, 'interrupted').map(({ body }) => `${body.tool} was interrupted; its outcome is unknown`),
      ...stops.flatMap(({ body }) => (body.fruit['result'] === 'flaky' ? ['a test run was flaky'] : [])),
      ...words(stated, 'what-could-improve'),
    ],
    prediction_errors: [
      ...reframes.flatMap(({ body }) =>
        body.reframe ? [{ expected: body.reframe.expected, actual: body.reframe.actual, magnitude: 1 }] : [],
      ),
    ],
    suggestions: [
      ...denials
        .map(({ body }) => body.remedy)
        .filter((remedy, index, all) => all.indexOf(remedy) === index)
        .slice(0, 5),
      ...words(stated, 'suggestions'),
    ],
    files_touched: [...changed],
    commits: [...new Set(commits)],
    lineage_trace: {
      from: entries[0]?.id ?? null,
      to: entries.at(-1)?.id ?? null,
      entries: entries.length,
      peripherals: of(told, 'start').map(({ body }) => body.peripheral),
    },
  };
}

function wentWell(peripheral: string, fruit: Fields): string[] {
  const said: string[] = [];
  if (fruit['result'] === 'pass')
    said.push(`${peripheral}: the tests passed (${fruit['test-count'] ?? 'count unknown'})`);
  if (fruit['pushed'] === true) said.push(`${peripheral}: ${String(fruit['sha'] ?? 'the change')} was pushed`);
  if (Array.isArray(fruit['changed-files']) && fruit['changed-files'].length > 0)
    said.push(`${peripheral}: changed ${fruit['changed-files'].join(', ')}`);
  return said;
}

/** The agent's own words for a field: a list of texts, or one text. */
function words(stated: Fields, field: string): string[] {
  const value = stated[field];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
