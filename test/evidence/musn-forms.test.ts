import { describe, expect, it } from 'vitest';
import { isActivityEvent, readActivityEvent, toActivityEvent } from '../../src/evidence/musn/activity.ts';
import { normaliseInstant, printMusnForm, readMusnForm, toMusnForm } from '../../src/evidence/musn/entry-form.ts';
import { planEvidenceImport } from '../../src/evidence/musn/plan-import.ts';
import { draft } from './drafts.ts';

const GIVEN = { id: 'given', sessionId: 's-1' };
const form = (more: object = {}) => ({
  'evidence/type': 'correction',
  'evidence/author': 'a',
  'evidence/at': '2026-01-29T12:00:00.000Z',
  ...more,
});
const read = (more: object = {}) => readMusnForm(form(more), GIVEN);
const issues = (more: object) => {
  const result = read(more);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('the original JSON form of an entry', () => {
  it('has the keys of MUSN, and none for an absent field', () => {
    const bare = draft({ id: 'x', peripheral: null, mode: null, body: null, tags: [] });
    expect(toMusnForm(bare)).toEqual({
      'evidence/id': 'x',
      'evidence/type': 'coordination',
      'evidence/claim-type': 'step',
      'evidence/subject': { 'ref/type': 'session', 'ref/id': 's-1' },
      'evidence/author': 'agent-1',
      'evidence/at': '2026-01-31T09:00:00.000Z',
      'evidence/body': null,
      'evidence/tags': [],
      'evidence/session-id': 's-1',
    });
    const full = { ...bare, peripheral: 'edit', mode: 'execute', conjecture: false, forkOf: 'f', ephemeral: true };
    expect(toMusnForm(full as never)).toMatchObject({
      'evidence/peripheral': 'edit',
      'evidence/mode': 'execute',
      'evidence/conjecture?': false,
      'evidence/fork-of': 'f',
      'evidence/ephemeral?': true,
    });
    expect(toMusnForm({ ...bare, ephemeral: false })).not.toHaveProperty('evidence/ephemeral?');
  });

  it('has EDN keywords for types, claims and modes', () => {
    expect(
      printMusnForm(toMusnForm(draft({ id: 'x', patternId: 'a/b', body: 'edit', tags: ['t', 'two words'] }))),
    ).toBe(
      '{:evidence/id "x", :evidence/type :coordination, :evidence/claim-type :step, ' +
        ':evidence/subject {:ref/type :session, :ref/id "s-1"}, :evidence/author "agent-1", ' +
        ':evidence/at "2026-01-31T09:00:00.000Z", :evidence/body "edit", :evidence/tags [:t "two words"], ' +
        ':evidence/session-id "s-1", :evidence/pattern-id :a/b, :evidence/peripheral :edit, :evidence/mode :execute}',
    );
    expect(printMusnForm({ 'evidence/type': 7, 'evidence/tags': 'a', 'evidence/subject': null, other: [1] })).toBe(
      '{:evidence/type 7, :evidence/tags "a", :evidence/subject nil, :other [1]}',
    );
    expect(printMusnForm({ 'evidence/subject': ['a'] })).toBe('{:evidence/subject ["a"]}');
    expect(printMusnForm({ 'evidence/subject': 'a' })).toBe('{:evidence/subject "a"}');
  });

  it('gets defaults for absent fields', () => {
    expect(read()).toEqual({
      ok: true,
      ephemeral: false,
      dropped: [],
      draft: {
        id: 'given',
        at: '2026-01-29T12:00:00.000Z',
        type: 'correction',
        claim: 'observation',
        subject: { type: 'session', id: 's-1' },
        author: 'a',
        sessionId: 's-1',
        peripheral: null,
        mode: null,
        body: null,
        tags: [],
      },
    });
    expect(read({ 'evidence/ephemeral?': true, x: 1, y: 2 })).toMatchObject({ ephemeral: true, dropped: ['x', 'y'] });
  });

  it.each<[object, readonly (string | RegExp)[]]>([
    [{ 'evidence/ephemeral?': 'yes' }, ['evidence/ephemeral?: must be true or false']],
    [{ 'evidence/more': 1 }, ['evidence/more: is not a field of an entry']],
    [{ 'evidence/subject': { 'ref/type': 'mission' } }, [/^evidence\/subject\.ref\/id: /]],
    [{ 'evidence/subject': { 'ref/id': 'm' } }, [/^evidence\/subject\.ref\/type: /]],
    [{ 'evidence/subject': { 'ref/type': 'mission', 'ref/id': 'm', more: 1 } }, [/^evidence\/subject: /]],
    [{ 'evidence/subject': 'm' }, [/^evidence\/subject: /]],
    [{ 'evidence/subject': null }, [/^evidence\/subject: /]],
    [{ 'evidence/tags': ['a', ''] }, [/^evidence\/tags\.0?1: /]],
    [{ 'evidence/author': { 'id/type': 'continuity' } }, [/^evidence\/author: /]],
    [{ 'evidence/author': null }, [/^evidence\/author: /]],
    [{ 'evidence/body': { a: Number.NaN } }, [/^evidence\/body\.a: /]],
  ])('is refused with the path of the fault: %j', (more, expected) => {
    const found = issues(more);
    expect(found).toHaveLength(expected.length);
    for (const [at, words] of expected.entries())
      if (typeof words === 'string') expect(found[at]).toBe(words);
      else expect(found[at]).toMatch(words);
  });

  it.each<[unknown, unknown]>([
    ['2026-01-29T12:00:00Z', '2026-01-29T12:00:00.000Z'],
    ['2026-01-29T12:00Z', '2026-01-29T12:00:00.000Z'],
    ['2026-01-29T12:00:00.123456789Z', '2026-01-29T12:00:00.123Z'],
    ['2026-01-29T12:00:00.1Z', '2026-01-29T12:00:00.100Z'],
    ['2026-01-29T12:00:00+01:30', '2026-01-29T10:30:00.000Z'],
    ['2026-01-29T12:00:00-11:00', '2026-01-29T23:00:00.000Z'],
    ['x2026-01-29T12:00:00Z', 'x2026-01-29T12:00:00Z'],
    ['2026-01-29T12:00:00Z ', '2026-01-29T12:00:00Z '],
    ['2026-01-29T12:00:00', '2026-01-29T12:00:00'],
    ['2026-01-29T12:00:00.Z', '2026-01-29T12:00:00.Z'],
    ['2026-01-29', '2026-01-29'],
    ['2026-13-29T12:00:00Z', '2026-13-29T12:00:00Z'],
    [1_700_000_000_000, 1_700_000_000_000],
    [undefined, undefined],
  ])('states the time %j as %j', (at, is) => expect(normaliseInstant(at)).toBe(is));
});

describe('the activity log', () => {
  it('is recognised by its keys', () => {
    expect(
      [{ 'event/type': 'x' }, { agent: 'a', source: 's' }].map((value) => isActivityEvent(value as never)),
    ).toEqual([true, true]);
    expect(
      [{}, { agent: 'a' }, { source: 's' }, { 'evidence/type': 'x' }].map((value) => isActivityEvent(value as never)),
    ).toEqual([false, false, false, false]);
  });

  it('gets defaults for absent fields', () => {
    expect(readActivityEvent({ at: '2026-01-29T12:00Z' }, GIVEN)).toEqual({
      id: 'given',
      at: '2026-01-29T12:00:00.000Z',
      type: 'coordination',
      claim: 'observation',
      subject: { type: 'session', id: 's-1' },
      author: 'unknown-agent',
      sessionId: 's-1',
      peripheral: null,
      mode: null,
      body: { event: 'activity', activity: { at: '2026-01-29T12:00Z' } },
      tags: ['musn', 'agent/interaction'],
    });
    const event = { 'event/type': 'session/par', 'session/id': 's-9', agent: 'b', source: 'slash' };
    expect(readActivityEvent(event, GIVEN)).toMatchObject({
      type: 'reflection',
      author: 'b',
      sessionId: 's-9',
      subject: { id: 's-9' },
      tags: ['musn', 'session/par', 'slash'],
    });
    for (const source of ['', 7, null]) expect(readActivityEvent({ source }, GIVEN).tags).toHaveLength(2);
  });

  it.each([
    ['session-open', 'session/open'],
    ['session-closed', 'session/closed'],
    ['hop', 'session/hop'],
    ['mode', 'session/mode'],
    ['stop', 'agent/interaction'],
  ])('maps the event %s to the type %s', (event, type) =>
    expect(toActivityEvent(draft({ id: 'x', body: { event } }))['event/type']).toBe(type),
  );

  it('contains every fact of hopgate’s own entries', () => {
    const entry = { ...draft({ id: 'x', type: 'pattern-outcome', inReplyTo: 'y', body: { a: 1 } }), seq: 3 };
    expect(toActivityEvent(entry)).toEqual({
      'event/type': 'pattern/outcome',
      at: '2026-01-31T09:00:00.000Z',
      'session/id': 's-1',
      agent: 'agent-1',
      source: 'hopgate',
      metadata: {
        a: 1,
        'evidence/id': 'x',
        'evidence/seq': 3,
        'evidence/claim-type': 'step',
        'evidence/in-reply-to': 'y',
        peripheral: 'edit',
        mode: 'execute',
      },
    });
  });

  it('keeps unknown events unchanged', () => {
    for (const body of ['text', 7, null, ['a']])
      expect(toActivityEvent(draft({ id: 'x', body }))).toMatchObject({
        'event/type': 'agent/interaction',
        metadata: { body, 'evidence/seq': null, 'evidence/in-reply-to': null },
      });
    for (const body of [
      { event: 'activity', activity: 'x' },
      { event: 'other', activity: { at: 'x' } },
      { activity: { at: 'x' } },
    ])
      expect(toActivityEvent(draft({ id: 'x', body: body as never }))).toMatchObject({ metadata: body });
  });
});

describe('an import plan', () => {
  const plan = (forms: readonly object[]) => {
    const planned = planEvidenceImport(JSON.stringify(forms), { sessionId: 's-1', source: 'log' });
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    return planned;
  };
  const at = (id: string, time: string, more: object = {}) => form({ 'evidence/id': id, 'evidence/at': time, ...more });
  const [T1, T2, T3] = ['2026-01-29T12:00:01.000Z', '2026-01-29T12:00:02.000Z', '2026-01-29T12:00:03.000Z'] as const;

  it('keeps the order of entries with the same time, and puts parents first', () => {
    const ids = plan([
      at('c', T2),
      at('a', T1),
      at('b', T1),
      at('child', T1, { 'evidence/in-reply-to': 'late' }),
      at('late', T3),
      at('fork', T1, { 'evidence/fork-of': 'child', 'evidence/in-reply-to': 'nowhere' }),
    ]).drafts.map(({ id }) => id);
    expect(ids.slice(1)).toEqual(['a', 'b', 'late', 'child', 'fork', 'c']);
  });

  it('has a root with the time of the oldest entry, its author, and an id from the text', () => {
    const { drafts } = plan([at('a', T2), at('b', T1, { 'evidence/author': 'first' }), at('c', T1)]);
    expect(drafts[0]).toMatchObject({ at: T1, author: 'first', tags: ['import'], claim: 'goal', type: 'coordination' });
    expect(drafts[0]?.id).toMatch(/^import-[0-9a-f]{32}$/);
    expect(plan([at('a', T1)]).drafts[0]?.id).not.toBe(plan([at('a', T2)]).drafts[0]?.id);
  });

  it('gives entries without an id a new one, also the third of three equal entries', () => {
    const same = form();
    const ids = plan([same, same, same]).drafts.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });

  it('names each dropped field once, and each refused entry by its position', () => {
    expect(
      plan([
        { ...form(), x: 1 },
        { ...form(), x: 2, y: 3 },
      ]).dropped,
    ).toEqual(['x', 'y']);
    const bad = planEvidenceImport(
      JSON.stringify([form(), { 'event/type': '', at: 'x' }, form({ 'evidence/at': 'x' })]),
      {
        sessionId: 's-1',
        source: 'log',
      },
    );
    expect(bad.ok ? [] : bad.problems.map(({ path }) => path)).toEqual(['[1].at', '[1].tags.1', '[2].evidence/at']);
  });

  it('reads sets in a fixed order, and tagged forms only if they are texts', () => {
    const planned = (text: string) => planEvidenceImport(text, { sessionId: 's-1', source: 'log' });
    const head = '{:evidence/type :correction :evidence/author "a" :evidence/at "2026-01-29T12:00:00Z"';
    const tags = (text: string) => {
      const result = planned(text);
      return result.ok ? result.drafts[1]?.tags : result.problems.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(tags(`${head} :evidence/tags #{:c :a :b}}`)).toEqual(['a', 'b', 'c']);
    expect(tags(`${head} :evidence/tags (:b #uuid "u")}`)).toEqual(['b', 'u']);
    expect(tags(`${head} :evidence/tags [#inst 7]}`)).toEqual([expect.stringMatching(/^line 1, column \d+: /)]);
    expect(tags(`{:a 1}\n{:b #x 1}`)).toEqual([expect.stringMatching(/^line 2, column 5: /)]);
    expect(tags('{:a 1} {:b #x 1}')).toEqual([expect.stringMatching(/^line 1, column 12: /)]);
    expect(tags('{:a 1} {:b')).toEqual([expect.stringMatching(/^line 1, column 8: /)]);
    expect(planned('[]')).toEqual({ ok: false, problems: [{ path: '', message: 'there is nothing to read' }] });
    expect(planned('[null, {"event/type":"x"}, [1]]')).toMatchObject({ problems: [{ path: '[0]' }, { path: '[2]' }] });
  });
});
