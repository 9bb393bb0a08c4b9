import { describe, expect, it } from 'vitest';
import { SpecError } from '../../src/spec/check/spec-problem.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';

const FIXTURES = 'test/fixtures/specs';
const catalogue = await loadBuiltInCatalogue();

/** `test pass → deploy`, by source and exit. */
const hops = ({ edges }: SpecSet) => edges.map(({ from, exit, to }) => `${from} ${exit} → ${to}`);
const edn = (text: string) => parseSpecSet([{ file: 'all.edn', text }], catalogue);

describe('EDN with sets and :peripheral/id under :peripherals', () => {
  it('has exactly the expected edges', async () => {
    expect(hops(await loadSpecs(`${FIXTURES}/001`))).toEqual([
      'deploy blocked → reflect',
      'deploy deployed → reflect',
      'deploy hop-reflect → reflect',
      'edit blocked → reflect',
      'edit blocked → test',
      'edit hop-reflect → reflect',
      'edit hop-test → test',
      'edit ready-to-commit → reflect',
      'edit ready-to-commit → test',
      'edit tests-pass → reflect',
      'edit tests-pass → test',
      'explore found-target → edit',
      'explore found-target → reflect',
      'explore hop-reflect → reflect',
      'explore ready-to-edit → edit',
      'explore ready-to-edit → reflect',
      'explore user-request → edit',
      'explore user-request → reflect',
      'explore user-request → test',
      'reflect par-generated → explore',
      'test fail → deploy',
      'test fail → reflect',
      'test flaky → deploy',
      'test flaky → reflect',
      'test hop-deploy → deploy',
      'test hop-edit → edit',
      'test hop-reflect → reflect',
      'test pass → deploy',
      'test pass → reflect',
    ]);
  });

  it('has no path to deploy without passed tests', async () => {
    const { edges } = await loadSpecs(`${FIXTURES}/001`);
    const into = edges.filter(({ to }) => to === 'deploy');
    expect(into.map(({ exit, conditions, implies }) => [exit, conditions, implies?.value ?? null])).toEqual([
      ['fail', ['tests-passed'], 'fail'],
      ['flaky', ['tests-passed'], 'flaky'],
      ['hop-deploy', ['tests-passed'], null],
      ['pass', ['tests-passed'], 'pass'],
    ]);
  });

  it('allows hop-edit from test only to the operator, because edit admits nobody from test', async () => {
    const { edges } = await loadSpecs(`${FIXTURES}/001`);
    expect(edges.find(({ exit }) => exit === 'hop-edit')?.sources).toEqual([{ kind: 'user-request' }]);
  });

  it('gets the fruit of the five peripherals and requires their context', async () => {
    const { peripherals } = await loadSpecs(`${FIXTURES}/001`);
    expect(Object.entries(peripherals).map(([id, { fruit }]) => [id, Object.keys(fruit)])).toEqual([
      ['explore', ['found', 'target-files', 'summary']],
      ['edit', ['changes', 'changed-files', 'ready-to-test', 'commit-message']],
      ['test', ['result', 'test-count', 'failures']],
      ['deploy', ['committed', 'pushed', 'sha']],
      ['reflect', ['par']],
    ]);
    expect(peripherals['edit']!.context['target-files']).toEqual({
      source: { kind: 'fruit', peripheral: 'explore' },
      optional: false,
    });
    expect(peripherals['reflect']!.context['session-log']).toEqual({ source: { kind: 'session-log' }, optional: true });
  });
});

describe('EDN with lists and single keywords, one map for each peripheral', () => {
  it('derives exactly the expected edges, and hop-reflect asks for reflect, which names agent-request', async () => {
    expect(hops(await loadSpecs(`${FIXTURES}/002/peripherals.edn`))).toEqual([
      'deploy hop-reflect → reflect',
      'edit blocked → test',
      'edit hop-reflect → reflect',
      'edit ready-to-commit → test',
      'edit tests-pass → test',
      'explore found-target → edit',
      'explore hop-reflect → reflect',
      'explore ready-to-edit → edit',
      'explore user-request → edit',
      'explore user-request → reflect',
      'explore user-request → test',
      'test fail → deploy',
      'test flaky → deploy',
      'test hop-reflect → reflect',
      'test pass → deploy',
    ]);
  });

  it('keeps :output', async () => {
    const { peripherals } = await loadSpecs(`${FIXTURES}/002`);
    expect(peripherals['reflect']!.output).toEqual({ 'event/type': 'session/par', to: 'musn-activity-log' });
  });
});

describe('EDN with a bare map and its own catalogue', () => {
  it('adds tools and scopes to the built-in ones', async () => {
    const specs = await loadSpecs(`${FIXTURES}/004`);
    expect(specs.peripherals['alfworld']).toMatchObject({
      tools: ['alfworld-action', 'bell', 'whistle'],
      scope: { name: 'alfworld-simulation', rule: { read: 'none', write: [], command: 'none', url: 'none' } },
      config: { 'alfworld-server': 'http://localhost:3456' },
      context: { 'alfworld-state': { source: { kind: 'inherit' }, optional: true } },
    });
    expect(specs.tools['whistle']!.effect).toBe('coordinate');
    expect(specs.tools['read']!.effect).toBe('observe');
  });

  it('has exactly the expected edges', async () => {
    expect(hops(await loadSpecs(`${FIXTURES}/004`))).toEqual([
      'alfworld hop-chat → chat',
      'alfworld hop-reflect → reflect',
      'alfworld stuck → chat',
      'alfworld stuck → reflect',
      'alfworld user-request → chat',
      'alfworld user-request → reflect',
      'alfworld won → chat',
      'alfworld won → reflect',
      'chat hop-alfworld → alfworld',
      'chat hop-reflect → reflect',
      'reflect par-generated → chat',
    ]);
  });
});

it('an EDN file may contain one peripheral', () => {
  expect(edn('{:id :a :tools #{:read} :scope :conversation :entry :default :exit #{}}')).toMatchObject({ ok: true });
});

it('unbalanced EDN is reported as a spec problem with line and column', () => {
  expect(edn('{:a\n {:tools #{:read}\n')).toMatchObject({
    ok: false,
    problems: [{ file: 'all.edn', path: 'peripherals', line: 2, message: 'column 2: "{" is never closed' }],
  });
});

it('a semantic problem in EDN is reported with its path and line', () => {
  const parsed = edn(`{:a {:tools #{:raed}
     :scope :conversation
     :entry #{:default :from-b}
     :exit #{:hop-c}
     :context {:x :inhreit}}
 :b {:id :z :tools [] :scope conversation :entry :from-any :exit [] :colour \\r}}`);
  expect(parsed.ok ? [] : parsed.problems.map(({ path, line, suggestion }) => [path, line, suggestion])).toEqual([
    ['peripherals', 6, null],
    ['peripherals', 6, null],
    ['peripherals.b.id', 6, 'write :id :b, or leave it out'],
    ['peripherals.b.colour', 6, expect.any(String)],
    ['peripherals.a.tools.0', 1, 'did you mean "read"?'],
    ['peripherals.a.exit.0', 4, expect.any(String)],
    ['peripherals.a.context.x', 5, 'did you mean "inherit"?'],
  ]);
});

it('a key given in two forms is refused', () => {
  const parsed = edn('{:a {:id :a :peripheral/id :a :tools [] :scope :conversation :entry :default :exit []}}');
  expect(parsed).toMatchObject({ ok: false, problems: [{ message: 'column 13: :id is given twice' }] });
});

it('a SpecError has the whole report as its message', async () => {
  const error = await loadSpecs('test/fixtures/specs/faulty').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SpecError);
  expect((error as Error).message).toBe(`2 problems in 2 files

test/fixtures/specs/faulty/gaet.yaml
  is not a file of a spec set
      did you mean "gate.yaml"?; peripherals go into the folder peripherals

test/fixtures/specs/faulty/peripherals.edn
  line 1  peripherals.a.tools.0: unknown tool "raed"
      did you mean "read"?`);
});
