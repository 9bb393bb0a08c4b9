import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeRequirement,
  isRequirementMet,
  type Requirement,
  type RequirementFacts,
  unmetRequirements,
} from '../../src/gate/requirements/requirement.ts';

const nothing: RequirementFacts = {
  by: 'agent',
  source: null,
  agent: 'claude',
  firstVisit: false,
  atSessionClose: false,
  naturalClose: false,
  fruit: {},
  conditions: {},
  when: {},
  approved: false,
  summary: null,
  patterns: {},
};
const facts = (some: Partial<RequirementFacts>): RequirementFacts => ({ ...nothing, ...some });
const source = (...any: string[]): Requirement => ({ kind: 'source', any });

/** Each row: a requirement, facts that just meet it, and facts that just miss it. */
const ROWS: readonly [string, Requirement, Partial<RequirementFacts>, Partial<RequirementFacts>][] = [
  ['default', source('default'), { firstVisit: true }, { source: 'test' }],
  ['from-test', source('from-test'), { source: 'test' }, { source: 'tests' }],
  ['from-any', source('from-any'), { source: 'edit' }, { source: null }],
  ['user-request', source('user-request'), { by: 'operator' }, { by: 'clock' }],
  ['agent-request', source('agent-request'), { source: 'edit', naturalClose: true }, { source: 'edit' }],
  ['session-close', source('session-close'), { atSessionClose: true }, { by: 'operator' }],
  ['natural-close', { kind: 'natural-close' }, { naturalClose: true }, { source: 'edit' }],
  [
    'fruit',
    { kind: 'fruit', field: 'result', value: 'pass' },
    { fruit: { result: 'pass' } },
    { fruit: { result: 'fail' } },
  ],
  [
    'condition',
    { kind: 'condition', name: 'tests-passed' },
    { conditions: { 'tests-passed': true } },
    { conditions: { other: true } },
  ],
  ['when', { kind: 'when', cel: 'fruit.n > 0' }, { when: { 'fruit.n > 0': true } }, { when: { 'fruit.n > 0': false } }],
  ['approval', { kind: 'approval', by: 'operator', action: 'hop' }, { approved: true }, { by: 'operator' }],
  [
    'selected',
    { kind: 'pattern', pattern: 'p', is: 'selected' },
    { patterns: { p: 'failed' } },
    { patterns: { q: 'held' } },
  ],
  ['held', { kind: 'pattern', pattern: 'p', is: 'held' }, { patterns: { p: 'held' } }, { patterns: { p: 'selected' } }],
  ['summary', { kind: 'summary' }, { summary: 'done' }, { summary: ' \n' }],
  ['principal', { kind: 'principal', is: 'clock' }, { by: 'clock' }, { by: 'operator' }],
  ['agent', { kind: 'agent', any: ['claude', 'codex'] }, { agent: 'claude' }, { agent: 'claude-2' }],
];

describe('a requirement', () => {
  it.each(ROWS)('of the kind %s is met exactly if the facts say so', (_name, requirement, met, missed) => {
    expect(isRequirementMet(requirement, facts(met))).toBe(true);
    expect(isRequirementMet(requirement, facts(missed))).toBe(false);
  });

  it('is met by any one source of a set', () => {
    expect(isRequirementMet(source('from-edit', 'user-request'), facts({ by: 'operator', source: 'explore' }))).toBe(
      true,
    );
    expect(isRequirementMet(source('from-edit', 'user-request'), facts({ by: 'agent', source: 'explore' }))).toBe(
      false,
    );
    expect(isRequirementMet(source(), facts({ by: 'operator', firstVisit: true }))).toBe(false);
  });

  it('of a source is never met by an agent that is outside: agent-request needs a hop', () => {
    expect(isRequirementMet(source('agent-request'), facts({ naturalClose: true }))).toBe(false);
  });

  it('for a natural close applies only to the agent', () => {
    expect(isRequirementMet({ kind: 'natural-close' }, facts({ by: 'operator' }))).toBe(true);
    expect(isRequirementMet({ kind: 'natural-close' }, facts({ atSessionClose: true }))).toBe(true);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('is not met by an empty record: %s', (name) => {
    expect(isRequirementMet({ kind: 'condition', name }, nothing)).toBe(false);
    expect(isRequirementMet({ kind: 'when', cel: name }, nothing)).toBe(false);
    expect(isRequirementMet({ kind: 'pattern', pattern: name, is: 'selected' }, nothing)).toBe(false);
  });

  it('of an unknown kind throws', () => {
    expect(() => isRequirementMet({ kind: 'luck' } as unknown as Requirement, nothing)).toThrow('unknown requirement');
  });
});

describe('the unmet requirements', () => {
  it('are all requirements that the facts do not meet, in order', () => {
    const requirements = ROWS.map(([, requirement]) => requirement);
    fc.assert(
      fc.property(fc.shuffledSubarray(requirements), fc.constantFrom(...ROWS), (some, [, , met]) => {
        const now = facts(met);
        expect(unmetRequirements(some, now)).toEqual(some.filter((requirement) => !isRequirementMet(requirement, now)));
      }),
    );
  });

  it('of an empty list are none', () => expect(unmetRequirements([], nothing)).toEqual([]));
});

describe('describeRequirement', () => {
  it.each<[Requirement, string]>([
    [source('from-test', 'user-request'), 'from test or user-request'],
    [source('from-any'), 'from any'],
    [source(), 'nobody'],
    [{ kind: 'natural-close' }, 'a successful step since the last review'],
    [{ kind: 'fruit', field: 'result', value: 'pass' }, 'result is pass'],
    [{ kind: 'condition', name: 'tests-passed' }, 'tests-passed'],
    [{ kind: 'when', cel: 'fruit.test_count > 0' }, 'when fruit.test_count > 0'],
    [{ kind: 'approval', by: 'operator', action: 'hop' }, 'approval by operator'],
    [{ kind: 'pattern', pattern: 'small-steps', is: 'held' }, 'pattern small-steps held'],
    [{ kind: 'summary' }, 'a summary'],
    [{ kind: 'principal', is: 'operator' }, 'by operator'],
    [{ kind: 'agent', any: ['claude', 'codex'] }, 'agent claude or codex'],
  ])('describes %j in a few words', (requirement, words) => expect(describeRequirement(requirement)).toBe(words));

  it('throws for an unknown requirement', () => {
    expect(() => describeRequirement({ kind: 'luck' } as unknown as Requirement)).toThrow('unknown requirement');
  });
});
