import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { readActivityEvent, toActivityEvent } from '../../src/evidence/musn/activity.ts';
import { printMusnForm, toMusnForm } from '../../src/evidence/musn/entry-form.ts';
import { planEvidenceImport } from '../../src/evidence/musn/plan-import.ts';
import { printEdn } from '../../src/evidence/musn/print-edn.ts';
import { readForms } from '../../src/evidence/musn/read-forms.ts';
import { ednToPlain } from '../../src/spec/edn/edn-to-plain.ts';
import { parseEdn } from '../../src/spec/edn/read-edn.ts';
import type { Json } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { draftsOf } from './arbitraries.ts';
import { draft, opening } from './drafts.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const json = fc.jsonValue({ stringUnit: 'binary' }).map((value) => plain(value) as Json);
const imported = (text: string) => {
  const plan = planEvidenceImport(text, { sessionId: 's-1', source: 'log.edn' });
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
  return plan;
};
const refused = (text: string) => {
  const plan = planEvidenceImport(text, { sessionId: 's-1', source: 'log.edn' });
  return plan.ok ? [] : plan.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('EDN', () => {
  it('reads back as printed for any value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const read = parseEdn(printEdn(value));
        if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join());
        expect(ednToPlain(read.node)).toMatchObject({ value, problems: [] });
      }),
      { numRuns: 500 },
    );
  });

  it.each<[Json, string]>([
    [
      { 'evidence/type': 'a', 'two words': [1, null, true], ':x': -1.5 },
      '{:evidence/type "a", "two words" [1 nil true], ":x" -1.5}',
    ],
    [[1e21, 2 ** 60, 1e-7], '[1e+21 1.152921504606847e+18 1e-7]'],
    ['a "b" \\ \n', '"a \\"b\\" \\\\ \\n"'],
  ])('of %j is %s', (value, text) => {
    expect(printEdn(value)).toBe(text);
  });
});

describe('other programs’ entry forms', () => {
  it('read back as the same drafts, through JSON and through EDN', () => {
    fc.assert(
      fc.property(draftsOf('s-1'), (drafts) => {
        const wanted = plain(drafts.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)));
        const forms = drafts.map(toMusnForm);
        const texts = [
          JSON.stringify(forms),
          forms.map((form) => JSON.stringify(form)).join('\n'),
          forms.map(printMusnForm).join('\n'),
          `[${forms.map(printMusnForm).join(' ')}]`,
        ];
        for (const text of texts) expect(imported(text).drafts.slice(1)).toEqual(wanted);
      }),
    );
  });

  it('are read with keywords, sets, #inst, an agent as a map, and without claim and id', () => {
    const text = `
      ; one entry
      {:evidence/type :coordination
       :evidence/subject {:ref/type :session, :ref/id "s-1"}
       :evidence/author {:id/value "claude" :id/type :continuity}
       :evidence/at #inst "2026-01-29T12:00:00Z"
       :evidence/body {:tool :glob :args ["**/*.clj"] :result 42}
       :evidence/tags [:peripheral :explore]
       :evidence/session-id "s-1"
       :xt/id "x"}`;
    const { drafts, dropped } = imported(text);
    expect(drafts[1]).toEqual({
      id: expect.stringMatching(/^e-[0-9a-f]{32}$/),
      at: '2026-01-29T12:00:00.000Z',
      type: 'coordination',
      claim: 'observation',
      subject: { type: 'session', id: 's-1' },
      author: 'claude',
      sessionId: 's-1',
      peripheral: null,
      mode: null,
      body: { tool: 'glob', args: ['**/*.clj'], result: 42 },
      tags: ['peripheral', 'explore'],
    });
    expect(dropped).toEqual(['xt/id']);
  });

  it.each<[string, string, RegExp]>([
    [
      'an unknown type',
      '{:evidence/type :gossip :evidence/author "a" :evidence/at "2026-01-29T12:00:00Z"}',
      /^\[0\]\.evidence\/type: /,
    ],
    ['no time', '{:evidence/type :correction :evidence/author "a"}', /^\[0\]\.evidence\/at: /],
    ['an unknown field', '[{:evidence/typ :correction}]', /^\[0\]\.evidence\/typ: is not a field/],
    [
      'a bad subject',
      '{"evidence/type":"correction","evidence/author":"a","evidence/at":"2026-01-29T12:00:00Z","evidence/subject":{"ref/type":"x","ref/id":"y"}}',
      /^\[0\]\.evidence\/subject\.ref\/type: /,
    ],
    [
      'another session',
      '{"event/type":"x","at":"2026-01-29T12:00:00Z","session/id":"s-9"}',
      /^\[0\]: belongs to session s-9; import it as/,
    ],
    ['no entry', '[{"a":1}]', /^\[0\]: is neither/],
    [
      'half of a character',
      '{"event/type":"x","at":"2026-01-29T12:00:00Z","metadata":"\\ud800"}',
      /^\[0\]\.body\.activity.*: has an unpaired surrogate/,
    ],
    ['no map', '[1]', /^\[0\]: must be an entry/],
    ['broken EDN', '{:evidence/type :correction', /^line 1, column 1: .*never closed/],
    ['nothing', '  ', /nothing to read/],
  ])('with %s are refused with the path', (_what, text, words) => {
    const problems = refused(text);
    expect(problems).not.toEqual([]);
    expect(
      problems.some((line) => words.test(line)),
      problems.join('\n'),
    ).toBe(true);
  });
});

describe('activity events', () => {
  const event = fc.record(
    {
      'event/type': fc.constantFrom('agent/interaction', 'session/par', 'session/rollover'),
      at: fc.constant('2026-01-29T12:00:00Z'),
      'session/id': fc.constant('s-1'),
      agent: fc.constantFrom('claude', 'codex'),
      source: fc.constantFrom('slash-command', 'futon-interactive'),
      metadata: json,
      patterns_used: json,
    },
    { requiredKeys: ['event/type', 'at'] },
  );

  it('are exported as they were imported', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (events) => {
        const wanted = plain(events);
        expect(imported(JSON.stringify(events)).drafts.slice(1).map(toActivityEvent)).toEqual(wanted);
        expect(
          imported((wanted as Json[]).map((one) => printEdn(one as never)).join('\n'))
            .drafts.slice(1)
            .map(toActivityEvent),
        ).toEqual(wanted);
      }),
    );
  });

  it('of a review keep the fields next to the metadata', () => {
    const par = {
      'event/type': 'session/par',
      'session/id': 's-1',
      at: '2026-01-29T12:00:00Z',
      what_went_well: ['tests first'],
    };
    expect(readActivityEvent(par, { id: 'x', sessionId: 's-1' })).toMatchObject({
      type: 'reflection',
      body: { activity: par },
    });
  });

  it('of hopgate’s own entries describe them and have their ids', () => {
    const par = draft({ id: 'p', body: { event: 'par', par: { what_went_well: ['x'] } } });
    expect(toActivityEvent(par)).toMatchObject({
      'event/type': 'session/par',
      agent: 'agent-1',
      metadata: { what_went_well: ['x'], 'evidence/id': 'p' },
    });
    expect(toActivityEvent(opening('s-1'))).toMatchObject({
      'event/type': 'session/open',
      'session/id': 's-1',
      source: 'hopgate',
    });
    expect(toActivityEvent(draft({ id: 'x' }))).toMatchObject({
      'event/type': 'agent/interaction',
      metadata: { tool: 'read' },
    });
    expect(toActivityEvent(draft({ id: 'x', type: 'pattern-selection', patternId: 'p/one' }))).toMatchObject({
      'event/type': 'pattern/selected',
      metadata: { 'pattern/id': 'p/one' },
    });
  });
});

describe('an import', () => {
  const form = (id: string, at: string, more: object = {}) => ({
    'evidence/id': id,
    'evidence/type': 'coordination',
    'evidence/author': 'a',
    'evidence/at': at,
    ...more,
  });

  it('is in order of time, each entry after its parent, under a root that names its origin', () => {
    const text = JSON.stringify([
      form('late', '2026-01-29T12:00:03.000Z'),
      form('reply', '2026-01-29T12:00:01.000Z', { 'evidence/in-reply-to': 'goal' }),
      form('goal', '2026-01-29T12:00:02.000Z'),
      form('beat', '2026-01-29T12:00:00.000Z', { 'evidence/ephemeral?': true }),
    ]);
    const { drafts, ephemeral } = imported(text);
    expect(drafts.map(({ id }) => id)).toEqual([expect.stringMatching(/^import-/), 'goal', 'reply', 'late']);
    expect(drafts[0]).toMatchObject({
      at: '2026-01-29T12:00:00.000Z',
      claim: 'goal',
      body: { event: 'import', source: 'log.edn', entries: 4 },
    });
    expect(ephemeral.map(({ id }) => id)).toEqual(['beat']);
  });

  it('does not loop on circular replies, which the store then refuses', async () => {
    const text = JSON.stringify([
      form('a', '2026-01-29T12:00:00Z', { 'evidence/in-reply-to': 'b' }),
      form('b', '2026-01-29T12:00:00Z', { 'evidence/in-reply-to': 'a' }),
    ]);
    const store = memoryStore();
    const lease = await store.acquire('s-1', 'w', 1000);
    await expect(store.append(lease, EMPTY_CHAIN, imported(text).drafts)).rejects.toMatchObject({
      code: 'reply-not-found',
    });
  });

  it('gives equal events different ids, and the same text always the same ids', () => {
    const text = '{"event/type":"x","at":"2026-01-29T12:00:00Z"}\n'.repeat(2);
    const ids = imported(text).drafts.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(imported(text).drafts.map(({ id }) => id)).toEqual(ids);
    expect(readForms(text)).toMatchObject({ ok: true, forms: [{}, {}] });
  });

  it.each([
    ['[{"event/type":"x","at":"2026', { path: '', message: expect.stringMatching(/^is not JSON: Unterminated/) }],
    ['{"event/type":"x"}\n{"event/type":"y"', { path: 'line 2', message: expect.stringMatching(/^is not JSON: Exp/) }],
    ['{:event/type "x"', { message: expect.stringContaining('never closed') }],
  ])('reports the syntax error of a truncated text: %s', (text, problem) => {
    expect(readForms(text)).toMatchObject({ ok: false, problems: [problem] });
  });
});
