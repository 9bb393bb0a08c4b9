import { afterEach, describe, expect, it, vi } from 'vitest';
import { langChain } from '../../src/adapters/langchain.ts';
import { McpHost, serveOverHttp, serveOverStdio } from '../../src/adapters/mcp/index.ts';
import { agentSession, plainLoop } from '../../src/adapters/plain-loop.ts';
import {
  compileSpecs,
  decide,
  loadSpecs,
  memoryStore,
  type OpenOptions,
  openSession,
  runAndVerify,
  runChain,
  sqliteStore,
  transferContext,
  validateHop,
  verifyConstraints,
} from '../../src/index.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../src/ports/tool-backend.ts';
import type { Session } from '../../src/session/session.ts';
import { countingIds, FixedClock, generateTests, scriptedBackend } from '../../src/testing/index.ts';
import { withTimeLimit } from '../../src/tools/time-limit.ts';
import { denied, fixtureSpecs, lead, must, stage } from './sessions.ts';

const specs = fixtureSpecs;
const open = (options: object) =>
  openSession({ root: '.', agent: 'a', specs, store: 'memory', ...options } as OpenOptions);
const any = (value: unknown) => value as never;
const verified = (options: object) => runAndVerify(specs, 'explore', [], options as never);
const session = () => open({ backends: [] });

const WRONG: readonly [string, () => unknown, RegExp][] = [
  ['openSession()', () => openSession(any(undefined)), /options must be an object with root and agent, not undefined/],
  ['no root', () => openSession(any({ agent: 'a' })), /root must be the path of a folder, not undefined/],
  ['an empty agent', () => open({ agent: '' }), /agent must be .*, not an empty text/],
  ['a misspelt option', () => open({ aprover: null }), /no option "aprover"; did you mean "approver"\?/],
  [
    'specs without await',
    () => open({ specs: loadSpecs('default') }),
    /specs must be a spec set.* write "await" before/,
  ],
  ['a store of another kind', () => open({ store: {} }), /store must be "memory", a file or an evidence store/],
  [
    'an approver that is a name',
    () => open({ approver: 'me' }),
    /approver must be "operator", a function or .*, not "me"/,
  ],
  [
    'a backend without run',
    () => open({ backends: [{ name: 'x', tools: [] }] }),
    /backends\[0\] must be \{ name, tools/,
  ],
  [
    'backends that return nothing',
    () => open({ backends: () => undefined }),
    /backends must be a function that returns/,
  ],
  ['a test command as text', () => open({ config: { test: [{ run: 'npm test' }] } }), /config\n {2}test\.0\.run: /],
  ['a misspelt config key', () => open({ config: { tests: [] } }), /config\n.*tests.*\n.*test/],
  ['config.git without an object', () => open({ config: { git: 'origin' } }), /config\n {2}git: /],
  ['a branch that is a number', () => open({ config: { git: { remote: 'origin', branch: 5 } } }), /git\.branch: /],
  ['a server without an address', () => open({ config: { upstream: { a: { url: 5 } } } }), /upstream\.a/],
  ['config.cache of another kind', () => open({ config: { cache: {} } }), /cache: expected a list, got a mapping/],
  ['a clock without now', () => open({ clock: {} }), /clock must be an object with the method now/],
  ['a clock of dates', () => open({ clock: { now: () => new Date(0) } }), /clock\.now\(\) must be epoch milliseconds/],
  ['a clock without a time', () => open({ clock: { now: () => Number.NaN } }), /clock\.now\(\) must be .*, not NaN/],
  [
    'a store’s clock of a far time',
    () => memoryStore({ clock: { now: () => 1e15 } }).putBlob(new Uint8Array()),
    /clock\.now\(\) must be epoch milliseconds from 1970 to 9999, not 1000000000000000/,
  ],
  ['a blob of text', () => memoryStore().putBlob(any('x')), /putBlob: bytes must be a Uint8Array, not "x"/],
  [
    'a lease of a number',
    () => memoryStore().acquire(any(5), 'w', 1),
    /acquire: sessionId must be the id of a session, not 5/,
  ],
  ['a lease for nobody', () => memoryStore().acquire('s', any(undefined), 1), /acquire: holder must be the name of/],
  ['blobs of any age', () => memoryStore().collectBlobs(any({})), /olderThan: must be ISO 8601/],
  ['loadSpecs()', () => loadSpecs(any(undefined)), /path must be "default" or the path of specs, not undefined/],
  ['compileSpecs of a promise', () => compileSpecs(any(loadSpecs('default'))), /compileSpecs: specs must be .*"await"/],
  ['decide without a context', () => decide(any(null), any({ kind: 'close' })), /decide: context must be .*, not null/],
  ['validateHop()', () => validateHop(any({}), any({})), /validateHop: context must be/],
  ['transferContext()', () => transferContext(any({}), any({})), /transferContext: target must be a peripheral/],
  ['runChain without links', async () => runChain(await session(), any(undefined)), /links must be a list of/],
  [
    'runAndVerify of a promise',
    () => runAndVerify(any(loadSpecs('default')), 'explore', []),
    /specs must be .*"await"/,
  ],
  ['runAndVerify without actions', () => runAndVerify(specs, 'explore', any(undefined)), /actions must be a list of/],
  ['runAndVerify of no peripheral', () => runAndVerify(specs, any(7), []), /peripheral must be the id of a peripheral/],
  ['a misspelt option of runAndVerify', () => verified({ aprover: null }), /no option "aprover"; did you mean "appro/],
  ['runAndVerify in a store by name', () => verified({ store: 'memory' }), /store must be an evidence store, not "mem/],
  [
    'runAndVerify with a fruit of text',
    () => verified({ fruit: 'x' }),
    /runAndVerify: fruit must be an object, not "x/,
  ],
  ['runAndVerify with a number as backend', () => verified({ backends: [7] }), /backends must be a list of backends/],
  [
    'verifyConstraints of a number',
    () => verifyConstraints({ specs, config: any({}) }, any([7])),
    /entries\[0\] must be an entry or a stored entry, not 7/,
  ],
  [
    'a backend whose close is a text',
    () => open({ backends: [{ name: 'x', tools: [], run: async () => null, close: 'x' }] }),
    /backends\[0\] must be .*close\?\(\)/,
  ],
  ['a config with a BigInt', () => open({ config: { home: 10n } }), /home: expected a number, got 10n/],
  ['verifyConstraints of specs', () => verifyConstraints(any(specs), []), /pinned\.specs must be a spec set/],
  ['memoryStore(null)', () => memoryStore(any(null)), /options of the store must be an object, not null/],
  ['sqliteStore()', () => sqliteStore(any(undefined)), /file must be the path of a file, not undefined/],
  ['generateTests of a promise', () => generateTests(any(loadSpecs('default'))), /specs must be .*"await"/],
  ['scriptedBackend()', () => scriptedBackend(any(undefined)), /results must be an object with a result for each tool/],
  [
    'FixedClock of no time',
    () => new FixedClock('noon'),
    /at must be epoch milliseconds or an ISO 8601 time, not "noon"/,
  ],
  ['agentSession of a promise', () => agentSession(any(session())), /session must be .*"await"/],
  [
    'plainLoop of a session',
    async () => plainLoop(any(await session())),
    /plainLoop: session must be agentSession\(session\)/,
  ],
  [
    'an unknown shape',
    async () => plainLoop(agentSession(await session()), any({ shape: 'gpt' })),
    /one of openai, .*"gpt"/,
  ],
  [
    'options that are null',
    async () => langChain(agentSession(await session()), any(null)),
    /langChain: options must be/,
  ],
  ['McpHost()', () => new McpHost(any(undefined)), /McpHost: session must be agentSession\(session\), not undefined/],
  ['serveOverHttp of a session', async () => serveOverHttp(any(await session())), /host must be an McpHost/],
  [
    'serveOverStdio without streams',
    () => serveOverStdio(any({}), any(undefined), any(undefined)),
    /input must be a readable/,
  ],
];

describe('a wrong argument', () => {
  it.each(WRONG)('is refused with its name and the expected type: %s', async (_name, call, message) => {
    await expect((async () => call())()).rejects.toThrow(message);
  });

  it('of a step’s signal is refused before the tool runs', async () => {
    const { session, backend } = await stage();
    await lead(session, 'explore');
    await expect(session.step({ tool: 'read', args: ['a'], signal: any(5) })).rejects.toThrow(/an AbortSignal, not 5/);
    expect(backend.calls).toEqual([]);
  });
});

describe('a call of a session without its argument', () => {
  const calls = ['start', 'step', 'stop', 'hop', 'delegate', 'setMode', 'admit', 'conclude', 'whyMove', 'wants', 'why'];
  it.each(calls)('gets an answer: %s', async (name) => {
    const { session } = await stage();
    await lead(session, 'explore');
    const method = (session[name as keyof Session] as (...args: unknown[]) => unknown).bind(session);
    for (const args of [[], [null], [5], [{}, null]]) await method(...args);
    await must(session.settle());
  });
});

it('a call of an agent session without its argument is refused', async () => {
  const { session } = await stage();
  const agent = agentSession(session);
  for (const odd of [undefined, null, 5, {}]) {
    expect(await agent.call(any(odd))).toMatchObject({ status: 'refused' });
    expect(await agent.wants(any(odd))).toBeNull();
  }
  expect(await agent.prompt(any(null))).toContain('Outside');
});

it('an approver that is a function may answer as an approver object does', async () => {
  const declined = { declined: 'mary', because: 'not today' };
  const answers = [declined, 5, { by: 'mary', minutes: 5 }];
  const opened = await open({ backends: [], approver: async () => answers.shift() });
  await must(opened.setMode({ to: 'diagnose' }));
  const execute = () => opened.setMode({ to: 'execute', reason: 'now' });
  expect((await denied(execute())).denial.message).toContain('mary declined it: not today');
  await expect(execute()).rejects.toThrow(/the approver answered 5; an answer is/);
  await must(execute());
});

describe('an approver that fails', () => {
  it('approves nothing, and the refusal says why', async () => {
    const approve = async () => {
      throw new Error('the chat is down');
    };
    const { session } = await stage({ approver: { via: 'approver', approve } });
    await must(session.setMode({ to: 'diagnose' }));
    const { denial } = await denied(session.setMode({ to: 'execute', reason: 'now' }));
    expect(denial).toMatchObject({
      code: 'approval-required',
      message: expect.stringMatching(/failed: the chat is down/),
    });
  });

  it('with an approval of more than a hundred years gets an error that states the maximum', async () => {
    const { session } = await stage({
      approver: { via: 'approver', approve: async () => ({ by: 'me', minutes: 1e12 }) },
    });
    await must(session.setMode({ to: 'diagnose' }));
    await expect(session.setMode({ to: 'execute', reason: 'now' })).rejects.toThrow(/with at most 52704000 minutes/);
  });

  it('as the ask function of a plain loop counts as a no', async () => {
    const { session } = await stage();
    await must(session.setMode({ to: 'diagnose' }));
    const ask = () => {
      throw new Error('the chat is down');
    };
    const call = { id: '1', name: 'mode', input: { to: 'execute', reason: 'now' } };
    const { answers } = await plainLoop(agentSession(session), { shape: 'plain', ask }).answer([call]);
    expect(answers).toMatchObject([{ status: 'refused', text: expect.stringMatching(/the chat is down/) }]);
  });
});

describe('a session that is opened again', () => {
  it.each([
    ['agent', { agent: 'b' }, /belongs to agent "a", not to "b"/],
    ['folder', { root: 'test' }, /belongs to the folder .*, not to .*test; open it with that root/],
  ])('is refused to another %s', async (_, other, expected) => {
    const store = memoryStore();
    const opened = await open({ backends: [], store });
    await opened.detach();
    await expect(open({ backends: [], store, session: opened.id, ...other })).rejects.toThrow(expected);
  });
});

describe('an ended handle', () => {
  it('says how to open the session again', async () => {
    const opened = await session();
    await opened.detach();
    await expect(opened.start('explore')).rejects.toThrow(`openSession({ …, session: "${opened.id}" })`);
    await expect(opened.evidence()).rejects.toThrow(/is detached/);
  });

  it('of a closed session says that the session is closed', async () => {
    const opened = await session();
    await must(opened.close());
    await expect(opened.step({ tool: 'read' })).rejects.toThrow(/is closed: open a new session/);
    await opened.detach();
  });

  it('leaves no open store if a backend cannot be closed', async () => {
    const backend = { ...scriptedBackend({}), close: () => Promise.reject(new Error('stuck')) };
    const opened = await open({ backends: [backend] });
    await expect(opened.detach()).rejects.toThrow('stuck');
    await expect(opened.evidence()).rejects.toThrow(/is detached/);
  });
});

it('a second session of the same id is refused', async () => {
  const store = memoryStore();
  await (await open({ store, ids: countingIds() })).detach();
  await expect(open({ store, ids: countingIds() })).rejects.toMatchObject({ code: 'session-exists' });
});

it('a call whose signal has aborted does not run', async () => {
  const { session, backend } = await stage();
  await lead(session, 'explore');
  const result = await must(session.step({ tool: 'read', args: ['a'], signal: AbortSignal.abort() }));
  expect([result.error?.code, backend.calls]).toEqual(['aborted', []]);
});

describe('a backend that does not answer', () => {
  afterEach(() => vi.useRealTimers());
  const config = { test: [{ run: ['make'], report: 'none' }] };
  const call = (signal: AbortSignal, minutes?: number) =>
    any({
      tool: { limits: { seconds: 2 } },
      envelope: { config: minutes ? { ...config, install: [{ minutes }] } : config },
      signal,
    } satisfies { [Key in keyof ToolCall]?: unknown });
  const silent = (run: ToolBackend['run'] = () => new Promise(() => {})) =>
    withTimeLimit({ name: 'x', tools: [], run });
  const stateOf = async (work: Promise<unknown>, milliseconds: number) => {
    let state = 'waits';
    work.then(
      () => (state = 'answered'),
      (error: Error) => (state = error.message),
    );
    await vi.advanceTimersByTimeAsync(milliseconds);
    return state;
  };

  it('gets an aborted signal some seconds after its time limit, and fails some seconds later', async () => {
    vi.useFakeTimers();
    const run = silent().run(call(new AbortController().signal));
    expect(await stateOf(run, 11_999)).toBe('waits');
    expect(await stateOf(run, 1)).toMatch(/the call did not end within 5 s after its signal aborted/);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fails some seconds after it was asked to close', async () => {
    vi.useFakeTimers();
    const close = withTimeLimit({ name: 'x', tools: [], run: any(null), close: () => new Promise(() => {}) }).close!();
    expect(await stateOf(close, 4999)).toBe('waits');
    expect(await stateOf(close, 1)).toMatch(/tools\/x\] close did not end within 5 s/);
  });

  it('fails its call of a session, which then continues', async () => {
    const tools = Object.keys(specs.tools);
    const opened = await open({ backends: [{ name: 'x', tools, run: () => new Promise(() => {}) }] });
    await must(opened.setMode({ to: 'diagnose' }));
    await must(opened.start('explore'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const step = opened.step({ tool: 'read', args: ['a'] });
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 2000, interval: 5 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await must(step)).toMatchObject({ outcome: 'failed', error: { code: 'backend-error' } });
    vi.useRealTimers();
    await must(opened.stop('enough'));
    await opened.detach();
  });

  it('has the time of a configured command', async () => {
    vi.useFakeTimers();
    expect(await stateOf(silent().run(call(new AbortController().signal, 1)), 60_000)).toBe('waits');
  });

  it('can still answer after its signal aborted', async () => {
    vi.useFakeTimers();
    const abort = new AbortController();
    const run = silent(
      ({ signal }) => new Promise<ToolReport>((done) => signal.addEventListener('abort', () => done(any('ended')))),
    ).run(call(abort.signal));
    expect(await stateOf(run, 100)).toBe('waits');
    abort.abort();
    expect(await stateOf(run, 0)).toBe('answered');
    expect(vi.getTimerCount()).toBe(0);
  });
});
