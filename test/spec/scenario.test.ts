import { describe, expect, it } from 'vitest';
import { DENIAL_CODES } from '../../src/gate/denial.ts';
import { checkScenario } from '../../src/spec/check/check-scenario.ts';
import { parseScenario } from '../../src/spec/resolve/parse-scenario.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

const WHOLE = `title: A mistake is found, mended and shipped.
fixture: small-node
steps:
  - say: First I have to look around.
    mode: diagnose
  - mode: { to: execute, reason: the cause is known }
    approve: refused
    expect: { denied: approval-required }
  - start: explore
  - start: { peripheral: edit, context: { target-files: [a.ts] }, by: operator }
  - step: { tool: read, args: [src/a.ts] }
    expect: { result: { path: src/a.ts, stat.lines: 3 } }
  - step: { tool: bash-test }
  - hop: { to: test, exit: hop-test, reason: done, fruit: { commit-message: Mend it } }
  - stop: { reason: enough, fruit: {} }
  - stop: enough
  - close: true
  - close: done
`;
const parse = (text: string) => parseScenario({ file: 's.yaml', text });

describe('parseScenario', () => {
  it('expands the short forms', () => {
    const parsed = parse(WHOLE);
    expect(parsed).toMatchObject({ ok: true, scenario: { agent: 'scripted', fixture: 'small-node', specs: null } });
    expect(parsed.ok && parsed.scenario.steps.map(({ action }) => action)).toEqual([
      { verb: 'mode', to: 'diagnose' },
      { verb: 'mode', to: 'execute', reason: 'the cause is known' },
      { verb: 'start', peripheral: 'explore' },
      { verb: 'start', peripheral: 'edit', context: { 'target-files': ['a.ts'] }, by: 'operator' },
      { verb: 'step', tool: 'read', args: ['src/a.ts'] },
      { verb: 'step', tool: 'bash-test', args: {} },
      { verb: 'hop', to: 'test', exit: 'hop-test', reason: 'done', fruit: { 'commit-message': 'Mend it' } },
      { verb: 'stop', reason: 'enough', fruit: {} },
      { verb: 'stop', reason: 'enough' },
      { verb: 'close' },
      { verb: 'close', reason: 'done' },
    ]);
  });

  it('keeps the fields next to the verb', () => {
    const parsed = parse(WHOLE);
    const steps = parsed.ok ? parsed.scenario.steps : [];
    expect(steps[0]).toMatchObject({ say: 'First I have to look around.', approve: null, expect: null, line: 4 });
    expect(steps[1]).toMatchObject({ approve: 'refused', expect: { denied: 'approval-required' }, line: 6 });
    expect(steps[4]).toMatchObject({ expect: { result: { path: 'src/a.ts', 'stat.lines': 3 } } });
  });

  it.each([
    ['{ say: hm }', 'steps.0', 'the step has no verb', 'write exactly one of mode, start, step, hop, stop, close'],
    [
      '{ stop: x, close: true }',
      'steps.0',
      'the step has 2 verbs: stop, close',
      expect.stringContaining('exactly one'),
    ],
    ['{ step: { tol: read } }', 'steps.0.step.tol', 'unknown key "tol"', 'did you mean "tool"?'],
    ['{ stop: x, aprove: given }', 'steps.0.aprove', 'unknown key "aprove"', 'did you mean "approve"?'],
    ['{ stop: x, expect: { denid: x } }', 'steps.0.expect.denid', 'unknown key "denid"', 'did you mean "denied"?'],
    ['{ close: false }', 'steps.0.close', expect.any(String), null],
  ])('reports %s at %s', (step, path, message, suggestion) => {
    const parsed = parse(`title: T\nsteps:\n  - ${step}\n`);
    expect(parsed.ok ? [] : parsed.problems).toContainEqual({ file: 's.yaml', path, line: 3, message, suggestion });
  });
});

it('a scenario names modes of its spec set', () => {
  const parsed = parse('title: T\nsteps:\n  - { mode: exceute }\n');
  const issues = parsed.ok ? checkScenario('s.yaml', parsed.scenario, fixtureSpecs, []) : [];
  expect(issues).toMatchObject([
    { message: expect.stringContaining('exceute'), suggestion: 'did you mean "execute"?' },
  ]);
  const without = parsed.ok ? checkScenario('s.yaml', parsed.scenario, { ...fixtureSpecs, modeGate: null }, []) : [];
  expect(without).toMatchObject([{ message: 'there is no mode "exceute"', suggestion: 'there are none' }]);
});

it.each([
  ['{ step: { tool: read, args: { pth: a } } }', 'there is no argument of read "pth"', 'did you mean "path"?'],
  ['{ step: { tool: read, args: [a] } }', null, null],
  [
    '{ step: { tool: any }, expect: { denied: out-of-scop } }',
    'there is no code of a denial "out-of-scop"',
    'did you mean "out-of-scope"?',
  ],
  ['{ step: { tool: any }, expect: { denied: out-of-scope } }', null, null],
])('checks the arguments and the expected code of %s', (step, message, suggestion) => {
  const parsed = parse(`title: T\nsteps:\n  - ${step}\n`);
  if (!parsed.ok) throw new Error('the scenario is invalid');
  expect(checkScenario('s.yaml', parsed.scenario, fixtureSpecs, DENIAL_CODES)).toEqual(
    message === null ? [] : [{ file: 's.yaml', path: 'steps.0', line: 3, message, suggestion }],
  );
});
