import fc from 'fast-check';
import { expect, it } from 'vitest';
import { valueOfLazy } from '../../src/base/lazy.ts';
import { compileSpecs } from '../../src/compile/compile-specs.ts';
import { decide } from '../../src/gate/decide.ts';
import type { GateContext, HopRequest, ModeRequest, StartRequest } from '../../src/gate/request.ts';
import { requirementsOfEdge, startRequirements } from '../../src/gate/requirements/edge-requirements.ts';
import { collectRequirementFacts } from '../../src/gate/requirements/requirement-facts.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import { type Json, PRINCIPALS, type ProjectConfig } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { fixtureSpecs, MODES } from '../fixture-specs.ts';
import { inState } from './advance.ts';
import { EXITS, IDS, specs } from './random-specs.ts';
import { CORE, GATE, specSet } from './specs.ts';

const config: ProjectConfig = {
  specs: 'default',
  scopes: {},
  test: [],
  deploy: {},
  git: null,
  web: { allow: [] },
  mask: [],
  toolchains: [],
};
const by = fc.constantFrom(...PRINCIPALS);

/** Sessions in or outside of one of these peripherals, with any history that can change the gate's answer. */
const views = (ids: readonly string[], inside: boolean): fc.Arbitrary<SessionView> =>
  fc
    .record({
      agent: fc.constantFrom('claude', 'codex'),
      peripheral: fc.constantFrom(...ids),
      visited: fc.boolean(),
      steps: fc.nat(3),
      denials: fc.nat(1),
      naturalClose: fc.boolean(),
      passed: fc.boolean(),
      patterns: fc.dictionary(
        fc.constant('p'),
        fc.constantFrom('selected' as const, 'held' as const, 'failed' as const),
      ),
      observedFruit: fc.constantFrom<{ [field: string]: Json }>(
        {},
        { result: 'pass', n: 3 },
        { result: 'pass', n: 0 },
        { result: 'fail', n: 1 },
        { result: 'flaky' },
      ),
    })
    .map(({ peripheral, visited, passed, observedFruit, ...rest }) => ({
      sessionId: 's',
      root: '/repository',
      now: 0,
      closed: false,
      mode: null,
      visit: inside
        ? { peripheral, status: 'active', steps: rest.steps, denials: rest.denials, deadline: null, observedFruit }
        : null,
      visits: inside || visited ? { [peripheral]: 1 } : {},
      tests: { passed, count: 1, failed: 0 },
      backpack: { 'commit-message': 'x', 'changed-files': ['a'], 'target-files': ['a'] },
      fruits: { edit: { 'commit-message': 'x', 'changed-files': ['a'] } },
      files: [],
      changes: {},
      usedNonces: [],
      ...rest,
    }));

const product = (to: readonly string[], exits: readonly string[], by: typeof PRINCIPALS) =>
  to.flatMap((each) => exits.flatMap((exit) => by.map((who) => [each, exit, who] as const)));

/** Decides, and again with the approval that the gate asks for, if it asks for one. */
function decideApproved<R extends HopRequest | ModeRequest>(context: GateContext, request: R) {
  const decision = decide(context, request);
  if (decision.ok || !decision.wanted) return decision;
  const { hash } = decision.wanted;
  const approval = { id: 'a', nonce: 'n', sessionId: 's', requestHash: hash, by: 'operator', expiresAt: 1 };
  return decide(context, { ...request, approval });
}

it.each([
  ['random specs', specs, IDS, EXITS],
  [
    'the fixture specs',
    fc.constant(fixtureSpecs),
    Object.keys(fixtureSpecs.peripherals),
    [...new Set(fixtureSpecs.edges.map(({ exit }) => exit))],
  ],
] as const)('the machine makes a hop of %s exactly if the gate allows it', (_name, sets, ids, exits) => {
  const seen = { opened: 0, refused: 0 };
  fc.assert(
    fc.property(sets, views(ids, true), (set, view) => {
      const { hopGraph } = compileSpecs(set);
      const context = { specs: set, config, view, unsafeNoSandbox: false };
      const from = view.visit?.peripheral ?? '';
      const snapshot = inState(hopGraph, from);
      for (const [to, exit, who] of product(ids, exits, PRINCIPALS)) {
        const request: HopRequest = { kind: 'hop', to, exit, by: who, reason: 'because' };
        const decision = decideApproved(context, request);
        if (decision.ok) {
          expect(snapshot.can(decision.plan.event)).toBe(true);
          seen.opened++;
          continue;
        }
        // Only the gate judges context, fruit and modes.
        if (['missing-context', 'invalid-fruit', 'mode-forbids'].includes(decision.denial.code)) continue;
        const edge = set.edges.find((each) => each.from === from && each.exit === exit && each.to === to);
        const needs = edge ? requirementsOfEdge(set, edge) : [];
        const facts = collectRequirementFacts(set, view, needs, {
          by: who,
          fruit: valueOfLazy(view.visit?.observedFruit ?? {}),
          approved: true,
        });
        expect(snapshot.can({ type: `${exit}.${to}`, facts })).toBe(false);
        seen.refused++;
      }
    }),
    { numRuns: depth(15, 50) },
  );
  expect(seen.opened).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
});

it('the machine hops to deploy only with the approval that the gate requested', () => {
  const [view] = fc.sample(views(['test'], true), 1);
  if (!view?.visit) throw new Error('no view');
  const ready = {
    ...view,
    tests: { passed: true, count: 1, failed: 0 },
    visit: { ...view.visit, observedFruit: { result: 'pass' } },
  };
  const context = { specs: fixtureSpecs, config, view: ready, unsafeNoSandbox: false };
  const request: HopRequest = { kind: 'hop', to: 'deploy', exit: 'pass', by: 'agent', reason: 'because' };
  expect(decide(context, request)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
  const decision = decideApproved(context, request);
  if (!decision.ok) throw new Error(decision.denial.message);
  const snapshot = inState(compileSpecs(fixtureSpecs).hopGraph, 'test');
  const { event } = decision.plan;
  expect(snapshot.can(event)).toBe(true);
  expect(snapshot.can({ ...event, facts: { ...event.facts, approved: false } })).toBe(false);
});

it.each([
  ['random specs', specs, IDS],
  ['the fixture specs', fc.constant(fixtureSpecs), Object.keys(fixtureSpecs.peripherals)],
  ['the core in outline', fc.constant(specSet(CORE)), Object.keys(CORE)],
] as const)('the machine makes a start of %s exactly if the gate allows it', (_name, sets, ids) => {
  const seen = { opened: 0, refused: 0 };
  fc.assert(
    fc.property(sets, views(ids, false), fc.constantFrom(...ids), by, (set, view, to, who) => {
      const snapshot = inState(compileSpecs(set).hopGraph, 'outside');
      const request: StartRequest = {
        kind: 'start',
        peripheral: to,
        by: who,
        context: { 'changed-files': [], 'commit-message': 'x' },
      };
      const decision = decide({ specs: set, config, view, unsafeNoSandbox: false }, request);
      const facts = collectRequirementFacts(set, view, startRequirements(set, to), { by: who });
      expect(snapshot.can({ type: `start.${to}`, facts })).toBe(decision.ok);
      if (decision.ok) expect(snapshot.can(decision.plan.event)).toBe(true);
      seen[decision.ok ? 'opened' : 'refused']++;
    }),
    { numRuns: depth(50, 200) },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
});

it('the machine changes the mode exactly if the gate allows it', () => {
  const set = specSet(CORE, GATE);
  const { modeGate } = compileSpecs(set);
  if (!modeGate) throw new Error('no mode gate');
  let opened = 0;
  for (const from of MODES) {
    for (const to of MODES) {
      for (const who of PRINCIPALS) {
        for (const reset of [true, false]) {
          for (const summary of [undefined, ' ', 'done']) {
            const [base] = fc.sample(views(IDS, false), 1);
            const context = {
              specs: set,
              config,
              view: { ...(base as SessionView), mode: from },
              unsafeNoSandbox: false,
            };
            const request = {
              kind: 'mode',
              to,
              by: who,
              reset,
              ...(summary === undefined ? {} : { summary }),
            } as const;
            const decision = decideApproved(context, request);
            const snapshot = inState(modeGate, from);
            if (decision.ok) {
              expect(snapshot.can(decision.plan.event)).toBe(true);
              opened++;
            } else if (!reset && who !== 'clock') {
              const facts = collectRequirementFacts(set, context.view, [], {
                by: who,
                approved: true,
                summary: summary ?? null,
              });
              expect(snapshot.can({ type: `to.${to}`, facts })).toBe(false);
            }
          }
        }
      }
    }
  }
  expect(opened).toBeGreaterThan(10);
});
