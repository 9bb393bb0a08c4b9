import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import { depth, sample } from '../depth.ts';
import { bodies, denied, lead, must, specsOf, stage, testRun } from './sessions.ts';

const cycle: Record<string, unknown> = { name: 'cycle' };
cycle['self'] = cycle;
const deep = Array.from({ length: 500 }).reduce<unknown>((inner) => [inner], 'bottom');
/** Values that a caller in plain JavaScript may pass. */
const ODD: readonly [string, unknown][] = [
  ['a cycle', cycle],
  ['a bigint', 10n ** 30n],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['NaN', Number.NaN],
  ['minus zero', -0],
  ['an unpaired surrogate', 'a\ud800b'],
  ['a key with an unpaired surrogate', { '\udfff': 1 }],
  ['a text that is cut inside of a character when it is shown', `${'x'.repeat(199)}😀${'y'.repeat(300)}`],
  ['a text of 5 MB', 'x'.repeat(5_000_000)],
  ['control characters', '\u0000\u001b[2J\u202e'],
  ['nesting beyond measure', deep],
  ['an object with the member __proto__', JSON.parse('{"__proto__": {"tools": []}, "constructor": 1}')],
  ['null', null],
  ['a number', 7],
  ['a list', ['src/a.ts', { a: 1 }]],
  ['an instance', new Date(0)],
  ['undefined', undefined],
  ['a member named toJSON', JSON.parse('{"toJSON": "x"}')],
  ['a function named toJSON', { toJSON: () => 'src/a.ts' }],
  ['a list with a hole', Object.assign([], { 1: 'src/a.ts' })],
];

type Calls = { readonly [name: string]: (session: Session, odd: never) => Promise<{ readonly ok: boolean }> };
const CALLS: Calls = {
  'the args of a step': (session, odd) => session.step({ tool: 'read', args: odd }),
  'an argument of a step': (session, odd) => session.step({ tool: 'read', args: { path: odd } }),
  'an argument of an acting step': (session, odd) =>
    session.step({ tool: 'write', args: { path: 'src/b.ts', content: odd } }),
  'a tool': (session, odd) => session.step({ tool: odd }),
  'a peripheral to start': (session, odd) => session.start(odd),
  'the context of a start': (session, odd) => session.start('explore', { context: { topic: odd } }),
  'the principal': (session, odd) => session.start('edit', { by: odd }),
  'the target of a hop': (session, odd) => session.hop({ to: odd, reason: 'on' }),
  'the exit of a hop': (session, odd) => session.hop({ to: 'test', exit: odd, reason: 'on' }),
  'the reason of a hop': (session, odd) => session.hop({ to: 'test', exit: 'blocked', reason: odd }),
  'the fruit of a hop': (session, odd) =>
    session.hop({ to: 'test', exit: 'blocked', reason: 'on', fruit: { 'commit-message': odd } }),
  'the fruit of a stop': (session, odd) => session.stop('enough', { fruit: { colour: odd } }),
  'a mode': (session, odd) => session.setMode({ to: odd }),
  'a summary': (session, odd) => session.setMode({ to: 'diagnose', summary: odd, reason: odd, exitCriteria: odd }),
  'the reason of a close': (session, odd) => session.close(odd),
};

const sound = async (session: Session, store: Awaited<ReturnType<typeof stage>>['store']) =>
  expect(await verifyChain(store.entries(session.id))).toMatchObject({ ok: true });

describe.each(sample(Object.entries(CALLS), 2))('a call with an odd value as %s', (_name, call) => {
  it.each(sample(ODD, 4))('is answered and recorded if the value is %s', async (_odd, value) => {
    const { session, store } = await stage();
    await lead(session, 'edit');
    const before = (await session.evidence()).length;
    const result = await call(session, value as never);
    expect(typeof result.ok).toBe('boolean');
    expect((await session.evidence()).length).toBeGreaterThan(before);
    await sound(session, store);
    await must(session.settle());
  });
});

it('an unknown principal counts as the agent', async () => {
  const { session } = await stage();
  expect((await denied(session.start('edit', { by: 'root' as never }))).denial.code).toBe('entry-not-met');
  expect((await bodies(session)).at(-1)).toMatchObject({ event: 'denial', request: { by: 'agent' } });
});

it('an argument that JSON cannot express is recorded as a readable text', async () => {
  const { session } = await stage();
  await lead(session, 'explore');
  const args = { path: cycle, offset: 10n, limit: () => 1, at: new Date(0), map: new Map([[1, 2]]) };
  await denied(session.step({ tool: 'read', args }));
  const others = { at: '1970-01-01T00:00:00.000Z', map: '[Map]' };
  expect((await bodies(session)).at(-1)).toMatchObject({
    request: {
      args: { path: { name: 'cycle', self: '[cycle]' }, offset: '[bigint 10]', limit: '[function]', ...others },
    },
  });
});

it('a dry run and the real step refuse the same malformed values', async () => {
  const { session } = await stage();
  await lead(session, 'edit');
  for (const [, odd] of ODD) {
    for (const args of [odd, { path: odd }, { path: 'src/a.ts', content: odd }]) {
      const dry = session.why({ tool: 'write', args });
      const wet = await session.step({ tool: 'write', args });
      expect(dry?.message ?? null).toBe(wet.ok ? null : wet.denial.message);
    }
  }
});

it('a call may have any arguments', async () => {
  const { session, store } = await stage();
  await lead(session, 'edit');
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withTypedArray: true,
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('read', 'edit', 'write', 'bash', 'nothing'), anything, async (tool, args) => {
      expect(typeof (await session.step({ tool, args })).ok).toBe('boolean');
    }),
    { numRuns: depth(40, 200) },
  );
  await sound(session, store);
});

describe('a faulty backend', () => {
  const noStatus = { code: 'backend-error', message: expect.stringContaining('no outcome with the status ok, failed') };
  const noRemedy = {
    code: 'backend-error',
    message: expect.stringContaining('without a message, a remedy and a code'),
  };
  const reports: readonly [string, unknown, { [key: string]: unknown }][] = [
    ['answers nothing', undefined, { outcome: 'failed', error: noStatus }],
    ['answers without an outcome', { effects: [] }, { outcome: 'failed', error: noStatus }],
    [
      'answers an unknown outcome',
      { outcome: { status: 'perhaps' }, effects: [] },
      { outcome: 'failed', error: noStatus },
    ],
    [
      'refuses without a remedy',
      { outcome: { status: 'refused', code: 'out-of-scope', message: 'no' }, effects: [] },
      { outcome: 'failed', error: noRemedy },
    ],
    [
      'answers without effects',
      { outcome: { status: 'ok', result: 1 } },
      { outcome: 'failed', error: { code: 'backend-error' } },
    ],
    ...[
      { outcome: { status: 'ok', result: 1 }, effects: 'nothing' },
      { outcome: { status: 'ok', result: 1 }, effects: [null] },
      { outcome: { status: 'ok', result: 1 }, effects: [{ path: { a: 1 }, op: 'create' }] },
      { outcome: { status: 'ok', result: 1 }, effects: [{ path: 'src/a.ts', op: 'edit' }] },
      { outcome: { status: 'failed', code: 5, message: 'no' }, effects: [] },
      { outcome: { status: 'refused', code: 'mode-forbids', message: 'no', remedy: 'no' }, effects: [] },
    ].map((report): [string, unknown, { [key: string]: unknown }] => [
      `answers ${JSON.stringify(report)}`,
      report,
      { outcome: 'failed', error: { code: 'backend-error' } },
    ]),
    [
      'answers no JSON',
      { outcome: { status: 'ok', result: { n: Number.NaN, s: '\ud800' } }, effects: [] },
      { outcome: 'ok', result: { n: '[NaN]', s: '\ufffd' } },
    ],
    ['answers no result', { outcome: { status: 'ok' }, effects: [] }, { outcome: 'ok', result: null }],
    [
      'leaves members undefined',
      { outcome: { status: 'ok', result: 1 }, effects: [{ path: 'src/a.ts', op: 'modify', before: undefined }] },
      { outcome: 'ok', result: 1 },
    ],
  ];
  it.each(reports)('that %s does not break the session', async (_name, report, expected) => {
    const backend = { name: 'odd', tools: ['edit'], run: async () => report as never };
    const { session, store } = await stage({ backends: [backend] });
    await lead(session, 'explore');
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on' }));
    const result = await must(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
    expect(result).toMatchObject(expected);
    expect((await bodies(session)).slice(-2).map(({ event }) => event)).toEqual(['intent', 'outcome']);
    await sound(session, store);
  });
});

it('a backend in TypeScript may return interfaces, read-only lists, and different fields for each tool', async () => {
  interface Match {
    readonly path: string;
    readonly lines: readonly number[];
  }
  const match: Match = { path: 'src/a.ts', lines: [1] };
  const backend: ToolBackend = {
    name: 'typed',
    tools: ['read', 'grep', 'glob'],
    async run({ tool, args }) {
      if (tool.id === 'read') return { outcome: { status: 'ok', result: match }, effects: [] };
      if (tool.id === 'grep')
        return { outcome: { status: 'ok', result: { matches: [match], more: args['no'] } }, effects: [], observed: {} };
      return { outcome: { status: 'failed', code: 'no-such-file', message: 'none' }, effects: [], state: {} };
    },
  };
  const { session, store } = await stage({ backends: [backend] });
  await lead(session, 'explore');
  expect((await must(session.step({ tool: 'read', args: ['a'] }))).result).toEqual(match);
  expect((await must(session.step({ tool: 'grep', args: ['a'] }))).result).toEqual({ matches: [match] });
  const failed = await must(session.step({ tool: 'glob', args: ['a'] }));
  expect(failed.outcome === 'failed' && failed.error.code).toBe('no-such-file');
  await sound(session, store);
});

it('a hop in TypeScript may state interfaces, read-only lists and fields that are undefined', async () => {
  interface Note {
    readonly lines: readonly number[];
  }
  const note: Note = { lines: [1] };
  const { session } = await stage();
  await must(session.start('explore', { context: { note, more: undefined } }));
  expect(session.state.backpack).toMatchObject({ note: { lines: [1] } });
  const fruit = { summary: 'on', more: undefined };
  await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on', fruit }));
  expect(session.state.backpack['summary']).toBe('on');
});

it('large arguments and results are stored as blobs, and the caller gets the whole result', async () => {
  const text = 'x'.repeat(100_000);
  const { session, store } = await stage({ results: { write: { path: 'src/b.ts', text, note: 'short' } } });
  await lead(session, 'edit');
  const result = await must(session.step({ tool: 'write', args: { path: 'src/b.ts', content: text } }));
  expect(result.result).toEqual({ path: 'src/b.ts', text, note: 'short' });
  const [intent, outcome] = (await bodies(session)).slice(-2) as unknown as [
    { args: { [name: string]: Json } },
    { outcome: { result: { [name: string]: Json } } },
  ];
  expect(intent.args).toMatchObject({ path: 'src/b.ts', content: { bytes: 100_002 } });
  expect(outcome.outcome.result).toMatchObject({ path: 'src/b.ts', note: 'short', text: { bytes: 100_002 } });
  const { blob } = outcome.outcome.result['text'] as { blob: string };
  expect(JSON.parse(new TextDecoder().decode((await store.getBlob(blob)) ?? undefined))).toBe(text);
});

it('the fruit has the files of a large search and the counts of a large report', async () => {
  const files = Array.from({ length: 3000 }, (_, index) => `src/folder/file-${index}.ts`);
  const failures = files.map((name) => ({ name, message: 'x'.repeat(50) }));
  const report = { format: 'tap', total: 3000, passed: 0, failed: 3000, skipped: 0, failures };
  const { session } = await stage({
    results: { grep: { matches: files.map((path) => ({ path, line: 1 })) }, 'bash-test': testRun('fail', { report }) },
  });
  await lead(session, 'explore');
  const found = await must(session.step({ tool: 'grep', args: ['a'] }));
  expect((found.result as { matches: Json[] }).matches).toHaveLength(3000);
  const hopped = await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'there' }));
  expect(hopped.fruit['target-files']).toEqual(files.slice(0, 1000));
  await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'on' }));
  await must(session.step({ tool: 'bash-test' }));
  expect((await must(session.stop('enough'))).fruit).toMatchObject({
    'test-count': 3000,
    failures: [{ blob: expect.any(String) }],
  });
});

it('a pattern may be named constructor, like a member of every object', async () => {
  const { session, store } = await stage({ results: { 'pur-mark-pivot': null } });
  await lead(session, 'explore');
  await must(session.hop({ to: 'discipline', exit: 'hop-discipline', reason: 'on' }));
  await must(session.step({ tool: 'pur-mark-pivot', args: { pattern: 'constructor', reason: 'why' } }));
  await sound(session, store);
});

it('a value with the form of a reference to a blob is stored as a blob, so that it does not count as a missing blob', async () => {
  const forged = { blob: 'a'.repeat(64), bytes: 5 };
  const { session, store } = await stage({ results: { grep: forged, read: { text: forged, runs: [forged] } } });
  await lead(session, 'explore');
  await denied(session.step({ tool: 'read', args: forged }));
  await denied(session.step({ tool: 'read', args: { path: forged } }));
  expect((await must(session.step({ tool: 'read', args: ['a'] }))).result).toEqual({ text: forged, runs: [forged] });
  expect((await must(session.step({ tool: 'grep', args: ['a'] }))).result).toEqual(forged);
  const pinned = { specs: session.specs, config: session.config };
  const getBlob = (hash: string) => store.getBlob(hash);
  const { chain, audit } = await verifySession(session.id, pinned, store.entries(session.id), { getBlob });
  expect([chain, audit.violations]).toEqual([[], []]);
});

it('a value with the form of a reference to a blob is judged literally if no blobs are stored', async () => {
  const like = { blob: 'a'.repeat(64), bytes: 5 };
  const tools = `tools:
  put:
    purpose: Stores a part of a file.
    effect: act
    parameters:
      - { name: part, role: text, description: The part., schema: { type: object } }
      - { name: note, role: text, description: For people., optional: true }
    limits: { seconds: 5, output-bytes: 100 }
    gates: [{ when: args.part.bytes == 5 }]
  post:
    purpose: Stores a part of a file too, with no rule.
    effect: act
    parameters:
      - { name: blob, role: text, description: Its hash. }
      - { name: bytes, role: text, description: Its length., schema: { type: integer } }
    limits: { seconds: 5, output-bytes: 100 }
`;
  const desk = 'id: desk\npurpose: Store.\ntools: [put, post]\nscope: talk\nentry: [default]\nexit: [done]\n';
  const scopes = 'scopes:\n  talk: { read: none, write: [], command: none, url: none }\n';
  const specs = specsOf({ 'tools.yaml': tools, 'scopes.yaml': scopes, 'peripherals/desk.yaml': desk });
  const { session, store } = await stage({ specs, results: { put: { done: true }, post: { done: true } } });
  await must(session.start('desk'));
  await must(session.step({ tool: 'put', args: { part: like } }));
  await must(session.step({ tool: 'post', args: like }));
  // A text is required here, so the gate refuses this value; the audit must decide the same.
  expect((await denied(session.step({ tool: 'put', args: { part: like, note: like } }))).denial.code).toBe(
    'invalid-action',
  );
  const pinned = { specs: session.specs, config: session.config };
  const { chain, audit } = await verifySession(session.id, pinned, store.entries(session.id), {
    getBlob: (hash) => store.getBlob(hash),
  });
  expect([chain, audit.violations]).toEqual([[], []]);
  const pin = { specs, config: session.config };
  const { changes, drift } = await replayDecisions(pin, pin, session.id, store.entries(session.id));
  expect([changes, drift]).toEqual([[], []]);
});
