import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitWords } from '../../../src/base/text.ts';
import type { Io } from '../../../src/cli/io.ts';
import { wrapText } from '../../../src/cli/table.ts';
import { renderThread } from '../../../src/cli/thread/render-thread.ts';
import { buildChainedEntries } from '../../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type Entry, type EntryDraft } from '../../../src/evidence/entry.ts';
import type { Json } from '../../../src/spec/types.ts';
import { summariseEntryInOneLine } from '../../../src/view/entry-summary.ts';
import { formatCallAsLine } from '../../../src/view/format-call.ts';
import { formatDuration, formatOffset } from '../../../src/view/format-time.ts';
import { outlineVisits } from '../../../src/view/outline-thread.ts';
import { draftsOf } from '../../evidence/arbitraries.ts';
import { draft, opening } from '../../evidence/drafts.ts';

const START = Date.parse('2026-01-31T09:00:00.000Z');
const EVENTS = splitWords(`
  session-open session-closed start stop step intent outcome interrupted denial hop mode approval expired par
`);

/** An entry `ms` after the start; it replies to the one named, if one is. */
const entryDraft = (id: string, ms: number, claim: EntryDraft['claim'], body: Json, inReplyTo?: string): EntryDraft =>
  draft({ id, at: new Date(START + ms).toISOString(), claim, body, ...(inReplyTo === undefined ? {} : { inReplyTo }) });

const chained = (drafts: readonly EntryDraft[]): readonly Entry[] =>
  buildChainedEntries(EMPTY_CHAIN, drafts).map(({ entry }) => entry);

const io = (color = false): Io => ({
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  stdin: new PassThrough(),
  isTty: false,
  env: {},
  cwd: '/',
  color,
  json: false,
  exitCode: 0 as const,
});
const text = (drafts: readonly EntryDraft[], columns = 100): string =>
  renderThread(io(), outlineVisits(chained(drafts), order), columns);

const order = (tool: string): readonly string[] | null =>
  ({ write: ['path', 'content'], edit: ['path', 'old', 'new'] })[tool] ?? null;

const APPROVAL = {
  event: 'approval',
  record: { id: 'a-1', by: 'ops', via: 'terminal' },
  request: {
    action: { kind: 'hop', from: 'edit', exit: 'done', to: 'deploy' },
    reason: 'ship',
    view: { changes: { 'a.ts': 'f'.repeat(64) }, context: { 'commit-message': 'Fix it' } },
  },
};
const SESSION = [
  opening('s-1', { body: { event: 'session-open', agent: 'agent-1', root: '/r', unsafeNoSandbox: true } }),
  entryDraft(
    '1',
    10,
    'step',
    { event: 'mode', from: 'discuss', to: 'diagnose', how: 'transition', by: 'agent' },
    's-1-open',
  ),
  entryDraft('2', 20, 'goal', { event: 'start', peripheral: 'edit', by: 'operator' }, '1'),
  entryDraft(
    '3',
    1500,
    'step',
    {
      event: 'step',
      tool: 'read',
      args: { limit: 2, path: 'a.ts' },
      outcome: { status: 'ok', result: { path: 'a.ts', text: 'x\ny' } },
      effects: [{ op: 'read', path: 'a.ts' }],
    },
    '2',
  ),
  entryDraft(
    '4',
    65_000,
    'observation',
    {
      event: 'denial',
      request: { kind: 'step', tool: 'write', args: { content: 'x y', path: 'b.ts' } },
      code: 'out-of-scope',
      message: 'b.ts lies outside',
      remedy: 'name another',
    },
    '3',
  ),
  entryDraft('5', 66_000, 'step', { event: 'intent', tool: 'write', args: { content: '', path: 'a.ts' } }, '3'),
  entryDraft(
    '6',
    68_500,
    'evidence',
    {
      event: 'outcome',
      tool: 'write',
      outcome: { status: 'failed', code: 'no-space', message: 'disk full' },
      effects: 'unobserved',
    },
    '5',
  ),
  entryDraft('7', 69_000, 'step', { event: 'intent', tool: 'bash', args: ['ls -l'] }, '6'),
  entryDraft('8', 69_001, 'evidence', { event: 'interrupted', tool: 'bash', reason: 'the writer ended' }, '7'),
  entryDraft('9', 3_700_000, 'step', APPROVAL, '8'),
  entryDraft(
    '10',
    3_700_001,
    'conclusion',
    {
      event: 'stop',
      peripheral: 'edit',
      exit: 'done',
      reason: 'all good',
      by: 'agent',
      fruit: { n: 1, files: ['a.ts'] },
    },
    '8',
  ),
  entryDraft(
    '11',
    3_700_001,
    'step',
    {
      event: 'hop',
      from: 'edit',
      to: 'deploy',
      exit: 'done',
      reason: 'all good',
      by: 'agent',
      approval: 'a-1',
      reframe: { expected: 'pass', actual: 'fail' },
    },
    '10',
  ),
  entryDraft('12', 3_700_001, 'goal', { event: 'start', peripheral: 'deploy', by: 'agent' }, '11'),
];
describe('a thread in a terminal', () => {
  it('shows visits as blocks, and related entries in one line', () => {
    expect(`\n${text(SESSION)}\n`).toBe(
      `
 +0.000s  opened by agent-1 in /r  without a sandbox
 +0.010s  mode discuss → diagnose
 +0.020s  ┌ edit, asked by operator
 +1.500s  │ ✓ read a.ts 2  a.ts: 2 lines
   +1:05  │ ✗ write b.ts "x y"  out-of-scope: b.ts lies outside
          │     → name another
   +1:06  │ ! write a.ts ""  no-space: disk full  (2.5s)
          │     its changes were not observed
   +1:09  │ ? bash ls -l  interrupted: the writer ended
+1:01:40  │ approved: edit → deploy by done  by ops (terminal), for: ship
          │   changes: a.ts
          │   context: commit-message: Fix it
+1:01:40  └ edit left by done  all good
              fruit: files: a.ts · n: 1
+1:01:40  ┌ deploy, from edit
          │   reframe: expected pass, got fail
          ╵ continues
`,
    );
  });

  it('marks refusals red if the terminal has colours', () => {
    const [line] = renderThread(io(true), outlineVisits(chained([SESSION[4]!]), order), 100).split('\n');
    expect(line).toContain('\u001b[31m✗\u001b[39m');
    expect(line).toContain('\u001b[31mout-of-scope: b.ts lies outside\u001b[39m');
  });

  it('shows a refusal by the tool itself once, with the remedy', () => {
    const refused = { status: 'refused', code: 'invalid-action', message: 'no --force' };
    const shown = text([
      entryDraft('a', 0, 'step', { event: 'intent', tool: 'bash-git', args: { args: ['--force'], sub: 'push' } }),
      entryDraft('b', 1, 'evidence', { event: 'outcome', tool: 'bash-git', outcome: refused, effects: [] }, 'a'),
      entryDraft(
        'c',
        2,
        'observation',
        {
          event: 'denial',
          request: { kind: 'step', tool: 'bash-git' },
          code: 'invalid-action',
          message: 'no --force',
          remedy: 'leave it out',
        },
        'b',
      ),
    ]);
    expect(shown.split('\n').map((line) => line.trim())).toEqual([
      '+0.000s  ✗ bash-git push --force  invalid-action: no --force',
      '→ leave it out',
    ]);
  });

  it.each([
    ['a command that ended with 1', { exit: 1 }, '!'],
    ['tests that failed', { verdict: 'fail', exit: 1 }, '!'],
    ['tests that passed', { verdict: 'pass', exit: 0 }, '✓'],
  ])('marks %s with its own sign', (_, result, sign) => {
    const step = { event: 'step', tool: 'bash', args: {}, outcome: { status: 'ok', result }, effects: [] };
    expect(text([entryDraft('a', 0, 'step', step)])).toContain(` ${sign} bash`);
  });

  it('says that an approval was not used', () => {
    expect(text([entryDraft('a', 0, 'step', APPROVAL)])).toContain('never used');
    expect(text(SESSION)).not.toContain('never used');
  });

  it('shows the reason of an approval only if one was given', () => {
    const approved = (reason: string) =>
      text([entryDraft('a', 0, 'step', { ...APPROVAL, request: { ...APPROVAL.request, reason } })]);
    expect(approved('ship')).toContain('by ops (terminal), for: ship');
    expect(approved('')).not.toContain('for:');
  });

  it('says that an intent has no outcome, and that the parent of an entry is missing', () => {
    const shown = text([entryDraft('a', 0, 'step', { event: 'intent', tool: 'write', args: {} }, 'gone')]);
    expect(shown).toContain('? write  no outcome is recorded');
    expect(shown).toContain('replies to gone, which is not shown before it');
  });

  it('indents replies by other programs under their parent', () => {
    const shown = text([
      entryDraft('a', 0, 'goal', 'a mission'),
      entryDraft('b', 1, 'evidence', 'seen', 'a'),
      entryDraft('c', 2, 'step', 'goes on', 'b'),
      entryDraft('d', 3, 'observation', 'back', 'a'),
    ]);
    expect(shown.split('\n').map((line) => line.slice(9))).toEqual([
      'goal  a mission',
      '  evidence  seen',
      '  step  goes on',
      'observation  back',
    ]);
  });

  it('distinguishes an erased body from an empty one', () => {
    const [entry] = chained([entryDraft('a', 0, 'step', { event: 'intent', tool: 'x' })]);
    expect(summariseEntryInOneLine({ ...entry!, body: null })).toEqual({
      event: 'erased',
      text: '(the body was erased)',
    });
    expect(summariseEntryInOneLine(chained([entryDraft('a', 0, 'step', null)])[0]!).event).toBe('coordination');
  });

  it('contains no control characters and no line wider than the terminal', () => {
    const wild = fc
      .record({ event: fc.constantFrom(...EVENTS), fields: fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }) })
      .map(({ event, fields }): Json => {
        const names = ['outcome', 'args', 'effects', 'request', 'record', 'fruit', 'par', 'reframe', 'reason', 'tool'];
        return { event, ...Object.fromEntries(names.map((name) => [name, fields as Json])) };
      });
    fc.assert(
      fc.property(
        draftsOf('s-1'),
        fc.array(wild, { maxLength: 8 }),
        fc.constantFrom(60, 100, 150),
        (drafts, bodies, columns) => {
          const drawn = drafts.map((one, at) => (bodies[at] === undefined ? one : { ...one, body: bodies[at] }));
          for (const line of text(drawn, columns).split('\n')) {
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/);
            expect([...line.replaceAll(/[\p{Mn}\p{Me}]/gu, '')].length).toBeLessThanOrEqual(columns);
          }
        },
      ),
    );
  });

  it('shows the failed expectations of a review as text', () => {
    const par = { prediction_errors: [{ expected: 'pass', actual: 'error', magnitude: 1 }, 'it was slow'] };
    const shown = text([entryDraft('a', 0, 'step', { event: 'par', par })]);
    expect(shown).toContain('prediction errors: expected pass, got error · it was slow');
  });

  it('names the first of many changed files, and counts the rest', () => {
    const effects = Array.from({ length: 50 }, (_, at) => ({ op: 'create', path: `src/${at}.txt` }));
    const outcome = {
      status: 'ok',
      result: { exit: null, flooded: true, stdout: { blob: 'ab'.repeat(32), bytes: 999 } },
    };
    const shown = text([entryDraft('a', 0, 'step', { event: 'step', tool: 'bash', args: {}, outcome, effects })], 2000);
    expect(shown).toContain('create src/19.txt, and 30 more');
    expect(shown).not.toContain('src/20.txt');
    expect(shown).toContain('killed: too much output: 999 bytes, kept as ab');
  });

  it('says that a test run reached its time limit', () => {
    const report = { total: 0, passed: 0, failed: 0 };
    const result = { exit: null, timedOut: true, seconds: 4, verdict: 'fail', report };
    const outcome = { status: 'ok', result };
    const shown = text(
      [entryDraft('a', 0, 'step', { event: 'step', tool: 'bash-test', args: {}, outcome, effects: [] })],
      200,
    );
    expect(shown).toContain('verdict fail, timed out after 4 s, ');
  });

  it('shows each of 5,000 entries that reply to one another', () => {
    const chain = Array.from({ length: 5_000 }, (_, n) =>
      entryDraft(`${n}`, n, 'step', n, n === 0 ? undefined : `${n - 1}`),
    );
    expect(text(chain).split('\n')).toHaveLength(5_000);
    expect(text([])).toBe('');
  });
});

describe('a call in a thread', () => {
  it('has its arguments in the order of its parameters, or its subject first', () => {
    expect(formatCallAsLine('edit', { new: 'b', old: 'a', path: 'x.ts' }, order)).toBe('edit x.ts a b');
    expect(formatCallAsLine('own', { all: true, path: 'x.ts' }, order)).toBe('own x.ts true');
    expect(formatCallAsLine('bash', { command: 'ls -l | head' }, order)).toBe('bash ls -l | head');
    expect(formatCallAsLine('write', { content: 'x'.repeat(99), path: 'a' }, order)).toBe(`write a ${'x'.repeat(39)}…`);
  });
});

it('a long line breaks between words, or within a word that is too long', () => {
  expect(wrapText('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '🙂') }),
      fc.integer({ min: 2, max: 12 }),
      (words, room) => {
        const lines = wrapText(words, room);
        for (const line of lines) expect([...line].length).toBeLessThanOrEqual(room);
        expect(lines.join('').replaceAll(' ', '')).toBe(words.replaceAll(' ', ''));
      },
    ),
  );
});

it('a duration is printed in readable units', () => {
  expect([0, 5120, 65_000, 7_265_120, -1, Number.NaN].map(formatOffset)).toEqual([
    '+0.000s',
    '+5.120s',
    '+1:05',
    '+2:01:05',
    '-0.001s',
    '?',
  ]);
  expect([2345, 65_000].map(formatDuration)).toEqual(['2.3s', '1:05']);
});

it('the text of a thread without styles is the same with and without colours', () => {
  const items = outlineVisits(chained(SESSION), order);
  expect(stripVTControlCharacters(renderThread(io(true), items, 100))).toBe(renderThread(io(), items, 100));
});
