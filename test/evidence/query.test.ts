import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareByNewest,
  cutToPage,
  type EvidenceQuery,
  encodeCursor,
  MAX_QUERY_LIMIT,
  matchesQuery,
  QueryError,
  type QueryPosition,
  validateQuery,
} from '../../src/evidence/evidence-query.ts';
import { draft } from './drafts.ts';

const problems = (query: unknown): readonly string[] => {
  try {
    validateQuery(query);
    return [];
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    expect([error.name, error.message]).toEqual([
      'QueryError',
      error.problems.map(({ path, message }) => `${path || 'the query'}: ${message}`).join('; '),
    ]);
    return error.problems.map(({ path }) => path);
  }
};

const places: fc.Arbitrary<QueryPosition> = fc.record({
  at: fc.integer({ min: 0, max: 3 }),
  ephemeral: fc.boolean(),
  nth: fc.integer({ min: 0, max: 3 }),
});

describe('a query', () => {
  it('is resolved to milliseconds, a limit and a position', () => {
    expect(validateQuery({})).toEqual({ since: null, before: null, limit: 100, after: null });
    expect(
      validateQuery({
        since: '1970-01-01T00:00:01Z',
        before: '1970-01-01T00:00:01.5Z',
        limit: 7,
        after: '12.1.34',
        author: 'a',
        claim: undefined,
        ephemeral: true,
      }),
    ).toEqual({
      since: 1000,
      before: 1500,
      limit: 7,
      after: { at: 12, ephemeral: true, nth: 34 },
      author: 'a',
      ephemeral: true,
    });
    expect(validateQuery({ limit: MAX_QUERY_LIMIT, after: '1.0.2' })).toMatchObject({
      limit: 1000,
      after: { ephemeral: false },
    });
  });

  it.each<[unknown, readonly string[]]>([
    [null, ['']],
    [{ autor: 'a' }, ['']],
    [{ author: '', type: 'gossip' }, ['type', 'author']],
    [{ subject: { type: 'session', id: '' } }, ['subject.id']],
    [{ subject: { type: 'session', id: 'x', more: 1 } }, ['subject']],
    [{ tags: ['a', ''] }, ['tags.1']],
    [{ limit: 0 }, ['limit']],
    [{ limit: MAX_QUERY_LIMIT + 1 }, ['limit']],
    [{ limit: 1.5 }, ['limit']],
    [{ since: '2026-02-30T00:00:00Z' }, ['since']],
    [{ since: '2026-01-01' }, ['since']],
    [{ since: 'x2026-01-01T00:00:00Z' }, ['since']],
    [{ since: '2026-01-01T00:00:00Zx' }, ['since']],
    [{ before: '2026-01-01T00:00:00+01:00' }, ['before']],
    [{ before: '2026-01-01T25:00:00Z' }, ['before']],
    [{ after: '1.2.3' }, ['after']],
    [{ after: 'x1.0.3' }, ['after']],
    [{ after: '1.0.3x' }, ['after']],
  ])('with %j is refused', (query, paths) => expect(problems(query)).toEqual(paths));

  it('with a wrong instant or cursor is refused with the correct form', () => {
    expect(() => validateQuery({ since: 'now' })).toThrow('since: must be ISO 8601 in UTC: 2026-01-31T09:00:00.000Z');
    expect(() => validateQuery({ after: 'x' })).toThrow('after: is not a cursor; give the "next" of an earlier page');
  });
});

describe('an entry', () => {
  const entry = draft({
    id: 'e',
    at: '2026-01-31T09:00:00.000Z',
    subject: { type: 'mission', id: 'm' },
    tags: ['a', 'b'],
    patternId: 'p',
    peripheral: null,
  });
  const all: EvidenceQuery = {
    subject: { type: 'mission', id: 'm' },
    type: 'coordination',
    claim: 'step',
    author: 'agent-1',
    sessionId: 's-1',
    peripheral: null,
    patternId: 'p',
    tags: ['b', 'a'],
    since: '2026-01-31T09:00:00.000Z',
    before: '2026-01-31T09:00:00.001Z',
  };
  const matches = (query: EvidenceQuery) => matchesQuery(validateQuery(query), entry);

  it('matches an empty query, and one with all of its own values', () => {
    expect([matches({}), matches(all)]).toEqual([true, true]);
  });

  it.each<[keyof EvidenceQuery, EvidenceQuery]>([
    ['subject', { subject: { type: 'mission', id: 'n' } }],
    ['subject', { subject: { type: 'agent', id: 'm' } }],
    ['type', { type: 'correction' }],
    ['claim', { claim: 'goal' }],
    ['author', { author: 'agent-2' }],
    ['sessionId', { sessionId: 's-2' }],
    ['peripheral', { peripheral: 'edit' }],
    ['patternId', { patternId: 'q' }],
    ['tags', { tags: ['a', 'c'] }],
    ['since', { since: '2026-01-31T09:00:00.001Z' }],
    ['before', { before: '2026-01-31T09:00:00.000Z' }],
  ])('does not match a query that names another %s', (_, other) => {
    expect([matches(other), matches({ ...all, ...other })]).toEqual([false, false]);
  });
});

describe('the answer to a query', () => {
  it('has the newest entries first, and at equal times ephemeral entries before durable ones', () => {
    const sorted: QueryPosition[] = [
      { at: 2, ephemeral: false, nth: 0 },
      { at: 1, ephemeral: true, nth: 1 },
      { at: 1, ephemeral: true, nth: 0 },
      { at: 1, ephemeral: false, nth: 5 },
      { at: 0, ephemeral: true, nth: 9 },
    ];
    expect(sorted.toReversed().sort(compareByNewest)).toEqual(sorted);
    fc.assert(
      fc.property(places, places, (a, b) => {
        expect(Math.sign(compareByNewest(a, b)) + Math.sign(compareByNewest(b, a))).toBe(0);
        expect(compareByNewest(a, b) === 0).toBe(encodeCursor(a) === encodeCursor(b));
      }),
    );
  });

  it('continues at its cursor', () =>
    fc.assert(
      fc.property(places, (place) => {
        expect(validateQuery({ after: encodeCursor(place) }).after).toEqual(place);
      }),
    ));

  it('is cut to the limit, with a cursor only if more follow', () => {
    const found = [3, 2, 1].map((at) => ({ position: { at, ephemeral: false, nth: at }, found: at as never }));
    const page = (limit: number, of = found) => cutToPage(validateQuery({ limit }), of);
    expect(page(2)).toEqual({ entries: [3, 2], next: '2.0.2', unreadable: 0 });
    expect(page(3)).toEqual({ entries: [3, 2, 1], next: null, unreadable: 0 });
    expect(page(2, [])).toEqual({ entries: [], next: null, unreadable: 0 });
  });
});
