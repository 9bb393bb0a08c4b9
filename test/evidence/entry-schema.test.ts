import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyDraftBody, EntryError, findDraftProblems } from '../../src/evidence/entry-schema.ts';
import { draftsOf } from './arbitraries.ts';
import { draft, opening } from './drafts.ts';

/** True if the body of a value is copied, because the value is a valid draft. */
function isEntryDraft(value: unknown): boolean {
  try {
    copyDraftBody(value);
    return true;
  } catch {
    return false;
  }
}

const full = draft({ id: 'x', patternId: 'p', inReplyTo: 'r', forkOf: 'f', conjecture: false });

describe('the check of drafts', () => {
  it('accepts every valid draft', () => {
    fc.assert(
      fc.property(draftsOf('s-1'), (drafts) => {
        for (const each of drafts) expect([isEntryDraft(each), findDraftProblems(each)]).toEqual([true, []]);
      }),
    );
  });

  it('accepts exactly the drafts in which it finds no problem', () => {
    const junk = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true }),
      fc.constantFrom(
        '',
        'a\nb',
        '\ud800',
        'step',
        '2026-13-01T00:00:00.000Z',
        '2026-02-29T00:00:00.000Z',
        null,
        [''],
        ['\ud800'],
      ),
      fc.record({ type: fc.constantFrom('session', 'nobody'), id: fc.constantFrom('', 'x', 7) }),
      fc.constant({ type: 'session', id: 'x', extra: 1 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(full), 'seq'), junk, (key, value) => {
        const changed = { ...full, [key]: value };
        expect(findDraftProblems(changed).length === 0).toBe(isEntryDraft(changed));
      }),
      { numRuns: 2000 },
    );
    for (const value of [null, undefined, 7, [], 'x'])
      expect([isEntryDraft(value), findDraftProblems(value)[0] === undefined]).toEqual([false, false]);
  });

  it('refuses a value of another form in each field', () => {
    const absent = ['patternId', 'inReplyTo', 'forkOf', 'conjecture'];
    const nullable = ['peripheral', 'mode', 'body'];
    for (const key of Object.keys(full)) {
      const { [key as 'id']: _, ...without } = full;
      const paths = [without, { ...full, [key]: null }, { ...full, [key]: 7 }].map((each) =>
        findDraftProblems(each).map(({ path }) => path),
      );
      expect(paths, key).toEqual([
        absent.includes(key) ? [] : [key],
        nullable.includes(key) ? [] : [key],
        key === 'body' ? [] : [key],
      ]);
    }
    expect(findDraftProblems({ ...full, seq: 0, subject: { ...full.subject, more: 1 } })).toEqual([
      { path: '', message: 'an entry has no field "seq" there' },
      { path: 'subject', message: 'an entry has no field "more" there' },
    ]);
  });

  it('names every fault with its path', () => {
    const bad = {
      ...opening('s-1'),
      claim: 'boast',
      subject: { type: 'session', id: '' },
      body: { 'a b': [1n], c: '\ud800' },
    };
    expect(findDraftProblems(bad).map(({ path }) => path)).toEqual(['claim', 'subject.id', 'body["a b"][0]', 'body.c']);
  });

  it('stops after 20 problems', () => {
    expect(findDraftProblems({ ...full, body: new Array(1000).fill(Number.NaN) })).toHaveLength(20);
    const both = findDraftProblems({ ...full, tags: new Array(30).fill(''), body: [1n, 2n] });
    expect(both.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, index) => `tags.${index}`));
    let looked = 0;
    const body = Array.from({ length: 50 }, () => Number.NaN);
    Object.defineProperty(body, 40, { get: () => looked++ });
    findDraftProblems({ ...full, body });
    expect(looked).toBe(0);
  });

  it('names the problem and the remedy', () => {
    const messageFor = (fields: object) =>
      findDraftProblems({ ...full, ...fields }).map(({ path, message }) => `${path}: ${message}`);
    const name = 'must be non-empty text without control characters or unpaired surrogates';
    expect(messageFor({ id: '', at: 'now', sessionId: 'a\tb' })).toEqual([
      `id: ${name}`,
      'at: must be ISO 8601 in UTC with milliseconds: 2026-01-31T09:00:00.000Z',
      `sessionId: ${name}`,
    ]);
    expect(messageFor({ body: { '\ud800': 1, a: '\ud800', b: Number.NaN, c: undefined, d: new Map() } })).toEqual([
      'body["\\ud800"]: the key has an unpaired surrogate',
      'body.a: has an unpaired surrogate; make it well-formed first (String.prototype.toWellFormed)',
      'body.b: NaN is not a JSON number; write null or a text',
      'body.c: undefined is not JSON; leave it out or write it as text',
      'body.d: is not a plain object; write its members as JSON',
    ]);
    expect(() => copyDraftBody({ ...full, id: '', mode: 'x' })).toThrow(EntryError);
    expect(() => copyDraftBody({ ...full, id: '', author: '' })).toThrow(`id: ${name}; author: ${name}`);
    expect(() => copyDraftBody(null)).toThrow(/^the draft: /);
    expect(new EntryError([]).name).toBe('EntryError');
  });

  it('accepts lists and objects up to 200 levels deep', () => {
    const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
      let body: unknown = 1;
      for (let i = 0; i < depth; i++) body = wrap(body);
      return { ...full, body };
    };
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })]) {
      expect([isEntryDraft(nested(200, wrap)), findDraftProblems(nested(200, wrap))]).toEqual([true, []]);
      expect(isEntryDraft(nested(201, wrap))).toBe(false);
      expect(findDraftProblems(nested(201, wrap)).map(({ message }) => message)).toEqual([
        'is nested deeper than 200 levels (or a cycle); flatten it or store a blob',
      ]);
    }
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(isEntryDraft({ ...full, body: cycle })).toBe(false);
  });

  it('accepts objects without a prototype', () => {
    const body = Object.assign(Object.create(null), { a: 1 });
    expect([isEntryDraft({ ...full, body }), findDraftProblems({ ...full, body })]).toEqual([true, []]);
  });

  it('refuses holes in lists and objects that are not plain', () => {
    for (const body of [
      new Array(1),
      new Map(),
      new (class Named {})(),
      { toJSON: () => 1 },
      Object.create({ inherited: 1 }),
    ]) {
      expect([isEntryDraft({ ...full, body }), findDraftProblems({ ...full, body }).length]).toEqual([false, 1]);
    }
  });
});
