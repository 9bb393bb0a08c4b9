import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dialIn } from '../../src/agency/dial-in.ts';
import { SessionAudit } from '../../src/audit/verify/session-audit.ts';
import { fieldsOf } from '../../src/base/json.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import type { Entry } from '../../src/evidence/entry.ts';
import { openSession } from '../../src/open-session.ts';
import type { Session } from '../../src/session/session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { Json } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { until } from '../server/serve-world.ts';
import { countingAgent, folder, nodeWith, served } from './agency-nodes.ts';

const NAMES = ['review', 'fixer', 'lent', 'other', 'as-json'];
const PERIPHERALS = NAMES.map(
  (id) =>
    `${id}:\n  entry: Look.\n  inputs: [what]\n  prompt-template: "Look at {{what}}"\n  response: { type: ${id === 'as-json' ? 'json, schema: { type: object }' : 'text'} }\n${id === 'review' || id === 'other' || id === 'as-json' ? '' : '  tools: { fs: true, shell: true, http: true }\n'}`,
).join('');

const SPECS = {
  'gate.yaml': `modes: { talk: { effects: [coordinate] }, work: { effects: [observe, act, coordinate] } }
initial: talk
reset: talk
transitions: [{ from: talk, to: work }, { from: work, to: talk }]
`,
  'peripherals/control.yaml': `id: control
purpose: Lead the work.
tools: [agency-run]
scope: conversation
entry: [default, from-any]
exit: { done: write }
delegates: [{ agency: review }, { agency: fixer }, { agency: lent, within: own }, { agency: as-json }]
limits: { minutes: 10 }
fruit: { response: { observed: string } }
`,
  'peripherals/asking.yaml': `id: asking
purpose: Ask the operator before each run.
tools: [agency-run]
scope: conversation
entry: [default]
exit: { on: write }
delegates: [{ agency: review }]
calls: { agency-run: [{ approval: operator }] }
`,
  'peripherals/write.yaml': `id: write
purpose: Use the response.
tools: [agency-run, read]
scope: full-codebase
entry: [from-control]
exit: { back: control }
context: { response: { take: from-control } }
`,
};

/** A session on a machine whose agent x runs on a server of another one. */
async function twoNodes(wait: number | Promise<unknown> = 0, more = '') {
  const agent = await countingAgent(wait);
  const there = await served(
    `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }\n${more}`,
    PERIPHERALS,
  );
  const home = folder();
  mkdirSync(join(home, 'hopgate/agency'), { recursive: true });
  const put = (file: string, text: string) => writeFileSync(join(home, 'hopgate/agency', file), text);
  put('token-of-a', there.tokens.ofNode('a'));
  const place = `location: remote, url: "http://127.0.0.1:${there.agencyPort}", token-file: token-of-a`;
  put('agents.yaml', ['x', 'wordy', 'exact'].map((id) => `${id}: { ${place} }\n`).join(''));
  const env = { HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home };
  return { agent, open: await sessions(env) };
}

/** Opens sessions of one store, on a machine with these folders. */
async function sessions(env: { readonly [name: string]: string }) {
  const home = folder();
  for (const made of ['specs/peripherals', 'repo']) mkdirSync(join(home, made), { recursive: true });
  for (const [path, text] of Object.entries(SPECS)) writeFileSync(join(home, 'specs', path), text);
  const specs = await loadSpecs(join(home, 'specs'));
  const store = memoryStore();
  onTestFinished(() => store.close());
  return async (session?: string): Promise<Session> => {
    const opened = await openSession({
      root: join(home, 'repo'),
      agent: 'ann',
      store,
      specs,
      env: () => env,
      ...(session === undefined ? {} : { session }),
    });
    onTestFinished(() => opened.detach());
    return opened;
  };
}

const ask = (more: { readonly [name: string]: Json } = {}) => ({
  tool: 'agency-run',
  args: { agent: 'x', peripheral: 'review', inputs: { what: 'a.ts' }, ...more },
});

async function bodies(session: Session) {
  return (await session.evidence()).flatMap(({ body }) => toBody(body) ?? []);
}

function verdict(entries: readonly Entry[], { specs, config }: Session) {
  const audit = new SessionAudit({ specs, config });
  for (const entry of entries) audit.add(entry);
  return audit.result().violations.filter(({ rule }) => rule !== 'pin');
}

it('a run on another machine is a step of one session, with the response as fruit', async () => {
  const { agent, open } = await twoNodes();
  const session = await open();
  await session.start('control');
  const ran = await session.step(ask());
  expect(ran).toMatchObject({ ok: true, outcome: 'ok', result: { status: 'answered', response: 'a view' } });
  expect(agent.prompts).toEqual(['Look at a.ts']);
  expect(await session.hop({ to: 'write', exit: 'done', reason: 'the view is there' })).toMatchObject({ ok: true });
  const all = await bodies(session);
  expect(all.map(({ event }) => event)).toEqual(['session-open', 'start', 'intent', 'outcome', 'stop', 'hop', 'start']);
  expect(all.at(-1)).toMatchObject({ event: 'start', peripheral: 'write', context: { response: 'a view' } });
  expect(verdict(await session.evidence(), session)).toEqual([]);
});

it('a call gets the late reply of its run, also after its session was resumed, and the agent runs once', async () => {
  const work = Promise.withResolvers<void>();
  const { agent, open } = await twoNodes(work.promise);
  const session = await open();
  await session.start('control');
  const early = await session.step(ask({ seconds: 0 }));
  expect(early).toMatchObject({ ok: true, outcome: 'ok', result: { status: 'waiting' } });
  const stop = new AbortController();
  const cut = session.step({ ...ask(), signal: stop.signal });
  await until(() => agent.prompts.length === 1);
  stop.abort();
  expect(await cut).toMatchObject({ ok: true, outcome: 'failed', error: { code: 'aborted' } });
  await session.detach();
  const again = await open(session.id);
  work.resolve();
  const { run } = (early.ok ? early.result : {}) as { readonly run: string };
  const late = await again.step(ask({ seconds: 600 }));
  expect(late).toMatchObject({ ok: true, outcome: 'ok', result: { status: 'answered', run, response: 'a view' } });
  expect(agent.prompts).toHaveLength(1);
  const second = await again.step(ask({ seconds: 600 }));
  expect(second).toMatchObject({ ok: true, result: { status: 'answered', run: expect.not.stringContaining(run) } });
  expect(agent.prompts).toHaveLength(2);
  expect(verdict(await again.evidence(), again)).toEqual([]);
});

it('a run happens in the server if one serves the repository, because the server has the dial-in connections', async () => {
  const agent = await countingAgent();
  const here = await served('x: { location: dial-in, node: laptop }', PERIPHERALS);
  const laptop = nodeWith(`x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`, {
    id: 'laptop',
    peripherals: PERIPHERALS,
  });
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  void dialIn({
    url: `http://127.0.0.1:${here.agencyPort}`,
    token: here.tokens.ofNode('laptop'),
    run: (request, passed) => laptop.run(request, passed),
    cancel: (key) => void laptop.cancel(key),
    signal: ended.signal,
  });
  await until(async () => (await here.ask('GET /agency/agents')).json.connected.length === 1);
  const session = await (await sessions(here.env))();
  await session.start('control');
  expect(await session.step(ask({ seconds: 600 }))).toMatchObject({ result: { response: 'a view' } });
  expect(agent.prompts).toEqual(['Look at a.ts']);
});

it('the time of a wait is added to the limit of the visit', async () => {
  const { open } = await twoNodes(50);
  const session = await open();
  await session.start('control');
  const deadline = () => session.state.here!.deadline!;
  const before = deadline();
  const ran = await session.step(ask());
  const { waitedMs } = (ran.ok ? ran.result : {}) as { readonly waitedMs: number };
  expect(waitedMs).toBeGreaterThan(0);
  expect(deadline() - before).toBe(waitedMs);
});

it('delegates name the agency peripherals that may run, with tools only by `within: own` and in a mode that allows acting', async () => {
  const { agent, open } = await twoNodes();
  const session = await open();
  await session.start('control');
  const refusal = async (peripheral: string) => {
    const ran = await session.step(ask({ peripheral }));
    return ran.ok ? (ran.error?.code ?? ran.outcome) : ran.denial.code;
  };
  expect(await refusal('other')).toBe('out-of-scope');
  expect(await session.step(ask({ peripheral: 'other' }))).toMatchObject({
    denial: { remedy: expect.stringContaining('Name one of: review, ') },
  });
  expect(await refusal('fixer')).toBe('tools-refused');
  expect(await refusal('lent')).toBe('mode-forbids');
  await session.setMode({ to: 'work' });
  expect(await refusal('lent')).toBe('ok');
  await session.hop({ to: 'write', exit: 'done', reason: 'next' });
  expect(await refusal('review')).toBe('out-of-scope');
  expect(agent.prompts).toHaveLength(1);
  expect(verdict(await session.evidence(), session)).toEqual([]);
});

it('an author may demand the approval of the operator for each run', async () => {
  const { agent, open } = await twoNodes();
  const session = await open();
  await session.start('asking');
  expect(await session.step(ask())).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
  expect(agent.prompts).toEqual([]);
  const approver = { via: 'approver', approve: async () => ({ by: 'operator' }) } as const;
  expect(await session.step(ask(), { approver })).toMatchObject({ ok: true, outcome: 'ok' });
  expect(verdict(await session.evidence(), session)).toEqual([]);
});

it('a JSON response is recorded as JSON, and a large response as a blob; the fruit has at most 32 KiB', async () => {
  const long = 'x'.repeat(40_000);
  const { open } = await twoNodes(
    0,
    `wordy: { location: local, driver: scripted, replies: [${long}] }\nexact: { location: local, driver: scripted, replies: ['{"a":[1]}'] }\n`,
  );
  const session = await open();
  await session.start('control');
  const fruit = () => session.state.here!.observed['response'];
  expect(await session.step(ask({ agent: 'wordy' }))).toMatchObject({ result: { response: long } });
  expect(fruit()).toBe(null);
  expect(await session.step(ask({ agent: 'exact', peripheral: 'as-json' }))).toMatchObject({
    result: { response: { a: [1] } },
  });
  expect(fruit()).toBe('{"a":[1]}');
  const responses = (await bodies(session)).flatMap((body) =>
    body.event === 'outcome' && body.outcome.status === 'ok' ? [fieldsOf(body.outcome.result)['response']] : [],
  );
  expect(responses).toEqual([{ blob: expect.any(String), bytes: 40_002 }, { a: [1] }]);
  expect(verdict(await session.evidence(), session)).toEqual([]);
});

it.each([
  ['a reply of another run', { run: 'run.e-0' }, 'delegation'],
  ['a wait that did not happen', { waitedMs: 3_600_000 }, 'message'],
])('verify finds %s', async (_, forged, rule) => {
  const { open } = await twoNodes();
  const session = await open();
  await session.start('control');
  await session.step(ask());
  const entries = (await session.evidence()).map((entry) => {
    const body = toBody(entry.body);
    if (body?.event !== 'outcome' || body.outcome.status !== 'ok') return entry;
    const outcome = { ...body.outcome, result: { ...fieldsOf(body.outcome.result), ...forged } };
    return { ...entry, body: { ...body, outcome } as unknown as Json };
  });
  expect(verdict(entries, session).map((each) => each.rule)).toContain(rule);
});
