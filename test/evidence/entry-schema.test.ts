import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entryIssues, isEntryDraft } from '../../src/evidence/entry-schema.ts';
import { draftsOf } from './arbitraries.ts';
import { draft, opening } from './drafts.ts';

const full = draft({ id: 'x', patternId: 'p', inReplyTo: 'r', forkOf: 'f', conjecture: false });

describe('the check of drafts', () => {
  it('accepts every valid draft', () => {
    fc.assert(
      fc.property(draftsOf('s-1'), (drafts) => {
        for (const each of drafts) expect([isEntryDraft(each), entryIssues(each)]).toEqual([true, []]);
      }),
    );
  });

  it('says the same in haste as when it explains', () => {
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
        expect(entryIssues(changed).length === 0).toBe(isEntryDraft(changed));
      }),
      { numRuns: 2000 },
    );
    for (const key of Object.keys(full)) {
      const { [key as 'id']: _, ...without } = full;
      expect(entryIssues(without).length === 0, key).toBe(isEntryDraft(without));
    }
    for (const value of [null, undefined, 7, [], 'x'])
      expect([isEntryDraft(value), entryIssues(value)[0] === undefined]).toEqual([false, false]);
  });

  it('names every fault with its path', () => {
    const bad = {
      ...opening('s-1'),
      claim: 'boast',
      subject: { type: 'session', id: '' },
      body: { 'a b': [1n], c: '\ud800' },
    };
    expect(entryIssues(bad).map(({ path }) => path)).toEqual(['claim', 'subject.id', 'body["a b"][0]', 'body.c']);
  });

  it('stops explaining after 20', () => {
    expect(entryIssues({ ...full, body: new Array(1000).fill(Number.NaN) })).toHaveLength(20);
  });

  it('refuses holes in lists and objects that are not plain', () => {
    for (const body of [
      new Array(1),
      new Map(),
      new (class Named {})(),
      { toJSON: () => 1 },
      Object.create({ inherited: 1 }),
    ]) {
      expect([isEntryDraft({ ...full, body }), entryIssues({ ...full, body }).length]).toEqual([false, 1]);
    }
  });
});
