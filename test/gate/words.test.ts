import { expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import type { Denial } from '../../src/gate/denial.ts';
import { describeWay } from '../../src/gate/describe-denial.ts';
import { makeDenial } from '../../src/gate/make-denial.ts';
import type { GateContext, Request } from '../../src/gate/request.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import type { Edge, GateRule, SpecSet } from '../../src/spec/types.ts';
import { contextOf, fixtureSpecs, grantFor, viewOf, visitTo } from './views.ts';

/** The fixture specs with another gate before a hop from test to deploy. */
const gated = (...gates: GateRule[]): SpecSet => withEdge('test', 'deploy', { gates });
const withEdge = (from: string, to: string, some: Partial<Edge>): SpecSet => ({
  ...fixtureSpecs,
  edges: fixtureSpecs.edges.map((edge) => (edge.from === from && edge.to === to ? { ...edge, ...some } : edge)),
});
const withPeripheral = (id: string, some: Partial<SpecSet['peripherals'][string]>): SpecSet => ({
  ...fixtureSpecs,
  peripherals: { ...fixtureSpecs.peripherals, [id]: { ...fixtureSpecs.peripherals[id]!, ...some } },
});
const { modeGate: _, ...rest } = fixtureSpecs;
const modeless: SpecSet = { ...rest, modeGate: null };
const allowing = (peripherals: readonly string[]): SpecSet => ({
  ...fixtureSpecs,
  modeGate: { ...fixtureSpecs.modeGate!, peripherals: { ...fixtureSpecs.modeGate!.peripherals, execute: peripherals } },
});

const worked: Partial<SessionView> = {
  visits: { explore: 1 },
  naturalClose: true,
  tests: { passed: true, count: 2, failed: 0 },
  fruits: { explore: {}, edit: { 'changed-files': ['src/a.ts'], 'commit-message': 'Change a' } },
};
const at = (peripheral: string, some: Partial<SessionView> = {}, visit = {}) =>
  viewOf({ ...worked, visit: visitTo(peripheral, { steps: 1, ...visit }), ...some });
const inTest = (some: Partial<SessionView> = {}) => at('test', some, { observedFruit: { result: 'pass' } });

const step = (tool: unknown, args: unknown = {}): Request => ({ kind: 'step', tool, args }) as Request;
const hop = (to: unknown, some: object = {}): Request =>
  ({ kind: 'hop', to, reason: 'because', by: 'agent', ...some }) as Request;
const start = (peripheral: unknown, some: object = {}): Request =>
  ({ kind: 'start', peripheral, by: 'agent', ...some }) as Request;
const mode = (to: unknown, some: object = {}): Request => ({ kind: 'mode', to, by: 'agent', ...some }) as Request;
const stop = (fruit: object = {}): Request => ({ kind: 'stop', reason: 'done', by: 'agent', fruit }) as Request;

type Row = readonly [title: string, context: GateContext, request: Request];
const on = (title: string, view: SessionView, request: Request, specs = fixtureSpecs): Row => [
  title,
  contextOf(view, specs),
  request,
];

const ROWS: readonly Row[] = [
  on('a tool outside of any peripheral', viewOf(), step('read')),
  on('a tool without a name', at('explore'), step('')),
  on('a tool whose name is not text', at('explore'), step(7)),
  on('a tool that is almost there', at('explore'), step('grpe')),
  on('a tool that no catalogue has', at('explore'), step('launch-missiles')),
  on('any tool where the mode keeps all shut', at('explore', { mode: 'discuss' }), step('launch-missiles')),
  on('a tool of a peripheral that has none', at('chat'), step('launch-missiles')),
  on('a tool that nobody serves', at('explore', { unserved: new Set(['grep']) }), step('grep')),
  on('a tool of another peripheral', at('explore'), step('edit')),
  on('a tool of a peripheral far away', at('explore'), step('bash-deploy')),
  on('a tool of no peripheral that can be reached', at('explore'), step('edit'), { ...fixtureSpecs, edges: [] }),
  on('an acting tool in a mode that only observes', at('edit', { mode: 'diagnose' }), step('edit')),
  on('an observing tool in a mode that only talks', at('explore', { mode: 'discuss' }), step('read', { path: 'a' })),
  on(
    'an acting tool where there are no modes',
    at('edit', { mode: null }),
    step('edit', { path: 'a', old: 'a', new: 'b' }),
    modeless,
  ),
  on('a tool once the steps are used up', at('test', {}, { steps: 100 }), step('read', { path: 'a' })),
  on('a tool one step before that', at('test', {}, { steps: 99 }), step('read', { path: 'a' })),
  on('a tool at the deadline', at('test', {}, { deadline: 1000 }), step('read', { path: 'a' })),
  on('a tool before the deadline', at('test', {}, { deadline: 1001 }), step('read', { path: 'a' })),
  on('a tool after it was noticed', at('test', {}, { status: 'expired' }), step('read', { path: 'a' })),
  on('a call without an argument that it needs', at('explore'), step('read')),
  on('a call with an argument that there is not', at('explore'), step('read', { path: 'a', from: 1 })),
  on('a call with an argument of another type', at('explore'), step('read', { path: 'a', offset: 'one' })),
  on('a call with an argument below its bounds', at('explore'), step('read', { path: 'a', offset: 0 })),
  on('a call with a list of arguments', at('explore'), step('read', ['a', 1, 2])),
  on('a call with more of them than there are', at('explore'), step('read', ['a', 1, 2, 3])),
  on('a call whose arguments are neither', at('explore'), step('read', 'a')),
  on('a call that reads outside', at('explore'), step('read', { path: '../a' })),
  on(
    'a call that reads this session alone',
    at('reflect', { files: ['src/a.ts'] }),
    step('read', { path: 'src/b.ts' }),
  ),
  on(
    'a call that reads what this session named',
    at('reflect', { files: ['src/a.ts'] }),
    step('read', { path: 'src/a.ts' }),
  ),

  on('a start', viewOf(), start('explore')),
  on('a start with words of the caller', viewOf(), start('explore', { context: { topic: 'a', 'session-id': 'mine' } })),
  on('a start during a visit', at('explore'), start('explore')),
  on('a start of nothing', viewOf(), start('')),
  on('a start of a list', viewOf(), start('explore,edit')),
  on('a start of a number', viewOf(), start('7')),
  on('a start of something misspelt', viewOf(), start('explroe')),
  on('a start by the wrong door', viewOf(), start('deploy')),
  on('a start that the mode forbids', viewOf(), start('explore'), allowing(['reflect'])),
  on(
    'a start by an agent that is not admitted',
    viewOf(),
    start('explore'),
    withPeripheral('explore', { agents: ['claude', 'codex'] }),
  ),
  on(
    'a start that lacks what nobody carries',
    viewOf(),
    start('explore'),
    withPeripheral('explore', {
      context: {
        ...fixtureSpecs.peripherals['explore']!.context,
        topic: { source: { kind: 'inherit' }, optional: false },
      },
    }),
  ),
  on(
    'a start that lacks two fields',
    viewOf(),
    start('explore'),
    withPeripheral('explore', {
      context: {
        'commit-message': fixtureSpecs.peripherals['deploy']!.context['commit-message']!,
        topic: { source: { kind: 'inherit' }, optional: false },
      },
    }),
  ),
  on('a start when nothing can be', viewOf({ visits: { explore: 1 } }), step('read'), {
    ...fixtureSpecs,
    peripherals: { explore: fixtureSpecs.peripherals['explore']! },
  }),

  on('a hop', at('explore'), hop('edit', { exit: 'ready-to-edit', fruit: { summary: 'found it' } })),
  on('a hop from nowhere', viewOf(), hop('edit')),
  on('a hop to nothing', at('explore'), hop('')),
  on('a hop to something misspelt', at('explore'), hop('edti')),
  on('a hop to a list', at('explore'), hop('["edit"]')),
  on('a hop to a number', at('explore'), hop('12')),
  on('a hop to the unknown where each hop needs something', at('test', {}), hop('nowhere.at.all'), {
    ...fixtureSpecs,
    edges: fixtureSpecs.edges.filter(({ from, exit }) => from === 'test' && exit === 'pass'),
  }),
  on('a hop to the unknown where none is', at('test', {}), hop('nowhere'), { ...fixtureSpecs, edges: [] }),
  on('a hop that no edge makes', at('explore'), hop('deploy')),
  on('a hop to the present peripheral', at('explore'), hop('explore')),
  on('a hop that no edge makes, by an exit', at('explore'), hop('deploy', { exit: 'hop-edit' })),
  on('a hop to where no way leads', at('explore'), hop('deploy'), { ...fixtureSpecs, edges: [] }),
  on('a hop by several exits', at('edit'), hop('test'), {
    ...fixtureSpecs,
    edges: fixtureSpecs.edges.filter(({ exit }) => exit !== 'hop-test'),
  }),
  on('a hop by the only exit', at('test'), hop('discipline')),
  on('a hop by an exit that leads elsewhere', at('explore'), hop('reflect', { exit: 'ready-to-edit' })),
  on('a hop by an exit that there is not', at('explore'), hop('edit', { exit: 'away' })),
  on('a hop without a reason', at('explore'), hop('edit', { exit: 'hop-edit', reason: ' ' })),
  on('a hop whose reason is not text', at('explore'), hop('edit', { exit: 'hop-edit', reason: 7 })),
  on(
    'a hop without a reason that one could state',
    at('test', {}, { observedFruit: { result: 'fail' } }),
    hop('edit', { exit: 'fail', reason: '' }),
  ),
  on(
    'a hop with a fruit that does not fit',
    at('explore'),
    hop('edit', { fruit: { summary: 7, found: ['b'], more: 1 } }),
  ),
  on(
    'a hop by an exit that the facts contradict',
    at('test', {}, { observedFruit: { result: 'fail' } }),
    hop('deploy', { exit: 'pass' }),
  ),
  on('a hop by an exit of which nothing is known', at('test'), hop('deploy', { exit: 'pass' })),
  on('the same where no other exit holds', at('test'), hop('deploy', { exit: 'pass' }), {
    ...fixtureSpecs,
    edges: fixtureSpecs.edges.filter(({ from, exit }) => from === 'test' && exit === 'pass'),
  }),
  on(
    'the same where a mode forbids the others',
    at('test'),
    hop('reflect', { exit: 'pass' }),
    allowing(['test', 'discipline']),
  ),
  on(
    'the same beside an exit that needs only an approval',
    at('test'),
    hop('reflect', { exit: 'pass' }),
    withEdge('test', 'edit', { gates: [{ kind: 'approval', by: 'operator' }] }),
  ),
  on('a user’s request by the agent', at('chat'), hop('explore', { exit: 'user-request' })),
  on('a user’s request by the operator', at('chat'), hop('explore', { exit: 'user-request', by: 'operator' })),
  on(
    'a hop on a rule of the exit that does not hold',
    at('explore'),
    hop('edit', { exit: 'hop-edit' }),
    withEdge('explore', 'edit', { when: 'visit.steps > 3' }),
  ),
  on('a hop that the mode forbids', at('explore'), hop('edit', { exit: 'hop-edit' }), allowing(['explore'])),
  on(
    'a hop by an agent that is not admitted',
    at('explore'),
    hop('edit', { exit: 'hop-edit' }),
    withPeripheral('edit', { agents: [] }),
  ),
  on(
    'a hop that the target does not admit from here',
    at('explore'),
    hop('edit', { exit: 'hop-edit' }),
    withEdge('explore', 'edit', { sources: [{ kind: 'from', peripheral: 'chat' }, { kind: 'user-request' }] }),
  ),
  on(
    'a hop to reflect without a natural close',
    at('explore', { naturalClose: false }),
    hop('reflect', { exit: 'hop-reflect' }),
  ),
  on(
    'a hop to reflect while a tool runs',
    at('explore', { naturalClose: false, pending: 'edit' }),
    hop('reflect', { exit: 'hop-reflect' }),
  ),
  on('a hop on a condition that does not hold', at('explore'), hop('edit', { exit: 'hop-edit' }), {
    ...withEdge('explore', 'edit', { conditions: ['quiet'] }),
    conditions: { quiet: 'session.denials == 0 && session.steps > 9' },
  }),
  on(
    'a hop on tests that did not pass',
    inTest({ tests: { passed: false, count: 3, failed: 2 } }),
    hop('deploy', { exit: 'pass' }),
  ),
  on(
    'a hop on a rule of the gate that does not hold',
    inTest(),
    hop('deploy', { exit: 'pass' }),
    gated({ kind: 'when', cel: 'visits.edit > 3' }),
  ),
  on(
    'a hop on a pattern that was not selected',
    inTest(),
    hop('deploy', { exit: 'pass' }),
    gated({ kind: 'pattern', pattern: 'reproduce-first', is: 'selected' }),
  ),
  on(
    'a hop on a pattern that did not hold',
    inTest({ patterns: { 'reproduce-first': 'failed' } }),
    hop('deploy', { exit: 'pass' }),
    gated({ kind: 'pattern', pattern: 'reproduce-first', is: 'held' }),
  ),
  on(
    'a hop on a pattern that held',
    inTest({ patterns: { 'reproduce-first': 'held' } }),
    hop('deploy', { exit: 'pass', approval: grantFor('x') }),
    gated({ kind: 'pattern', pattern: 'reproduce-first', is: 'held' }),
  ),
  on(
    'a hop that lacks what an earlier fruit did not say',
    inTest({ fruits: { edit: {} } }),
    hop('deploy', { exit: 'pass' }),
  ),
  on(
    'a hop that lacks what the backpack does not hold',
    at('explore'),
    hop('edit', { exit: 'hop-edit' }),
    withPeripheral('edit', { context: { topic: { source: { kind: 'inherit' }, optional: false } } }),
  ),
  on(
    'a hop that takes what it lacks out of this very fruit',
    at('explore'),
    hop('edit', { exit: 'hop-edit', fruit: { summary: 'x' } }),
    withPeripheral('edit', { context: { summary: { source: { kind: 'inherit' }, optional: false } } }),
  ),
  on('a hop to reflect, with its log', at('explore'), hop('reflect', { exit: 'hop-reflect' })),
  on('a hop that wants an approval', inTest({ changes: { 'src/a.ts': 'abc' } }), hop('deploy', { exit: 'pass' })),
  on(
    'a hop that wants one and another rule',
    inTest(),
    hop('deploy', { exit: 'pass' }),
    gated({ kind: 'approval', by: 'operator' }, { kind: 'when', cel: 'false' }),
  ),
  on(
    'a hop with an approval of something else',
    inTest(),
    hop('deploy', { exit: 'pass', approval: grantFor('f'.repeat(64)) }),
  ),

  on('a stop', at('explore'), stop({ summary: 'enough' })),
  on('a stop outside', viewOf(), stop()),
  on('a stop with fields that do not fit', at('edit'), stop({ 'commit-message': 7, constructor: 1 })),
  on('a stop in a peripheral that the spec has not', at('gone'), stop()),

  on('a close', viewOf(), { kind: 'close', reason: 'done', by: 'agent' }),
  on('a close during a visit', at('explore'), { kind: 'close', reason: 'done', by: 'agent' }),
  ...(['close', 'stop'] as const).map((kind) =>
    on(`a ${kind} of what is closed`, viewOf({ closed: true }), { kind, reason: 'x', by: 'agent' }),
  ),
  on('a start of what is closed', viewOf({ closed: true }), start('explore')),
  on('a hop of what is closed', viewOf({ closed: true }), hop('explore')),
  on('a mode of what is closed', viewOf({ closed: true }), mode('discuss')),
  on('a tool of what is closed', viewOf({ closed: true }), step('read')),

  on('a mode', viewOf({ mode: 'discuss' }), mode('diagnose')),
  on('a mode where there is none', viewOf({ mode: null }), mode('execute'), modeless),
  on('a mode where a session has none', viewOf({ mode: null }), mode('execute')),
  on('no mode', viewOf(), mode('')),
  on('a mode that there is not', viewOf(), mode('excute')),
  on('a mode like no other', viewOf({ mode: 'discuss' }), mode('zzzzzzzz')),
  on('a mode that it is in', viewOf({ mode: 'discuss' }), mode('discuss')),
  on('a mode that is too far', viewOf({ mode: 'discuss' }), mode('execute')),
  on('a mode from where none leads on', viewOf({ mode: 'discuss' }), mode('execute'), {
    ...fixtureSpecs,
    modeGate: { ...fixtureSpecs.modeGate!, transitions: [] },
  }),
  on('a mode that needs an approval', viewOf({ mode: 'diagnose' }), mode('execute')),
  on(
    'a mode that needs one, with what is shown',
    viewOf({ mode: 'diagnose' }),
    mode('execute', { summary: 'I know', exitCriteria: 'it works', reason: 'go' }),
  ),
  on(
    'a mode with an approval of something else',
    viewOf({ mode: 'diagnose' }),
    mode('execute', { approval: grantFor('f'.repeat(64)) }),
  ),
  on('a mode that needs a summary', viewOf(), mode('discuss')),
  on('a mode with a blank one', viewOf(), mode('discuss', { summary: ' ' })),
  on('a mode with one', viewOf(), mode('discuss', { summary: 'done' })),
  on('a reset by the agent', viewOf(), mode('discuss', { reset: true })),
  on('a reset by the operator', viewOf(), mode('discuss', { reset: true, by: 'operator' })),
  on('a reset to elsewhere', viewOf(), mode('diagnose', { reset: true, by: 'operator' })),
  on('a reset to where it is', viewOf({ mode: 'discuss' }), mode('discuss', { reset: true, by: 'operator' })),
  on('the clock’s reset', viewOf(), mode('discuss', { by: 'clock' })),
  on('the clock’s reset to elsewhere', viewOf(), mode('diagnose', { by: 'clock' })),
];

const wordsOf = ({ code, message, remedy, about, way, available }: Denial): object => ({
  code,
  message,
  remedy,
  about,
  ...(way ? { way: describeWay(way) } : {}),
  available: `${available.peripheral ?? 'outside'} (${available.mode}): ${available.tools.length} tools, ${available.hops.length} hops, ${available.modes.length} modes`,
});

const paragraph = (title: string, value: object): string =>
  `## ${title}\n${Object.entries(value)
    .map(([name, of]) => `${name}: ${typeof of === 'string' ? of : JSON.stringify(of)}`)
    .join('\n')}\n`;

/** The session's additions to refusals, which the gate cannot compute itself. */
const MORE: readonly (readonly [string, Denial])[] = [
  ['a session that another writer holds', makeDenial(contextOf(viewOf()), 'session-busy', {}).denial],
  [
    'the same, where it is known who and how long',
    makeDenial(contextOf(viewOf()), 'session-busy', { holder: 'process 7', until: '09:00' }).denial,
  ],
  ['a lease that was lost', makeDenial(contextOf(viewOf()), 'lease-expired', {}).denial],
  [
    'a sandbox that is not there',
    makeDenial(contextOf(viewOf()), 'sandbox-unavailable', { tool: 'bash', why: 'no bwrap' }).denial,
  ],
  [
    'the same, with its own remedy',
    makeDenial(contextOf(viewOf()), 'sandbox-unavailable', { tool: 'bash', why: 'no bwrap', remedy: 'use Linux' })
      .denial,
  ],
  [
    'an approval that waits',
    makeDenial(contextOf(viewOf()), 'approval-required', {
      what: 'mode execute',
      answer: 'it is not answered yet',
      pending: 'p-1',
    }).denial,
  ],
  [
    'a tool of an MCP server that nothing names',
    makeDenial(contextOf(viewOf()), 'unknown-tool', { tool: 'search', unserved: true, upstream: 'web' }).denial,
  ],
  [
    'a refusal of a tool itself',
    makeDenial(contextOf(at('edit')), 'out-of-scope', {
      tool: 'edit',
      argument: 'path',
      value: 'a',
      why: 'it is a link',
    }).denial,
  ],
  ['an action without a tool', makeDenial(contextOf(at('edit')), 'invalid-action', { why: 'it is not JSON' }).denial],
  [
    'a way in, where nothing else was said',
    makeDenial(contextOf(at('edit')), 'entry-not-met', { to: 'deploy', why: 'no' }).denial,
  ],
  [
    'a condition, where nothing else was said',
    makeDenial(contextOf(at('edit')), 'condition-failed', { to: 'deploy', why: 'no' }).denial,
  ],
  [
    'a context, where nothing else was said',
    makeDenial(contextOf(at('edit')), 'missing-context', { to: 'deploy', missing: [] }).denial,
  ],
];

// Read changes of this file as an agent reads the refusals: it records their words and fields. Other tests check the
// codes.
it('every refusal has the message and the remedy recorded in words.txt', async () => {
  const page = [
    ...ROWS.map(([title, context, request]) => {
      const decision = decide(context, request);
      if (!decision.ok)
        return paragraph(title, {
          ...wordsOf(decision.denial),
          ...(decision.wanted ? { wanted: decision.wanted.subject } : {}),
        });
      const plan = JSON.stringify(decision.plan, (key, value) =>
        (key === 'tool' || key === 'peripheral') && typeof value === 'object' ? value.id : value,
      );
      return paragraph(title, { ok: plan });
    }),
    ...MORE.map(([title, denial]) => paragraph(title, wordsOf(denial))),
  ].join('\n');
  await expect(page).toMatchFileSnapshot('words.txt');
  const remedies = [...page.matchAll(/^remedy: (.*)$/gm)].map(([, remedy]) => remedy);
  expect(remedies.length).toBeGreaterThan(100);
  expect(remedies.filter((remedy) => !/^[A-Z].*[.!?]$/.test(remedy!))).toEqual([]);
});
