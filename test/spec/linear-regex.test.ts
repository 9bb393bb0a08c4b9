import { describe, expect, it } from 'vitest';
import { type AuditedVisit, initialAuditState } from '../../src/audit/rules/audit-state.ts';
import { isCelRuleTrue } from '../../src/audit/rules/audited-cel.ts';
import { findFirstRuleProblem } from '../../src/audit/rules/find-rule-problems.ts';
import { bindCallArguments } from '../../src/gate/bind-arguments.ts';
import { evaluateRule } from '../../src/gate/requirements/evaluate-rule.ts';
import { compileAnswerCheck } from '../../src/spec/agency/answer-check.ts';
import { checkCelRule } from '../../src/spec/cel-facts.ts';
import { schemaRegex } from '../../src/spec/linear-regex.ts';
import type { Json } from '../../src/spec/types.ts';
import { fixtureSpecs } from '../gate/views.ts';
import { CONFIG } from '../session/sessions.ts';

const none = { fruit: {}, session: {}, visit: {}, tests: {}, backpack: {}, visits: {} };
const scope = { fruit: {}, peripherals: [], args: { text: { type: 'string' } } };
/** Only RE2 knows `(?i)`. JavaScript's own engine would search the text below for more than a day. */
const pattern = '(?i)^(A+)+$';
const slow = `${'a'.repeat(40)}!`;

describe('a CEL rule with matches', () => {
  it.each([
    ['a call', `args.text.matches('${pattern}')`],
    ['a macro', `[args.text].exists(one, one.matches('${pattern}'))`],
    ['a pattern that the rule computes', "args.text.matches('(?i)^(A' + '+)+$')"],
  ])('searches by RE2 in %s, for the gate and for the audit', (_name, rule) => {
    for (const [text, holds] of [
      ['aaa', true],
      [slow, false],
    ] as const) {
      expect(evaluateRule(rule, { ...none, args: { text } })).toBe(holds);
      expect(isCelRuleTrue(rule, { ...none, args: { text } })).toBe(holds);
    }
  });
  it('makes a rule false if the pattern is not a regular expression', () => {
    for (const text of ['(', '(?=a)'])
      expect(evaluateRule('"a".matches(args.text)', { ...none, args: { text } })).toBe(false);
  });
  it.each([
    ["args.text.matches('^(?=a)')", '(?=a)'],
    ["args.text != '' || [args.text].exists(one, one.matches('(a)\\\\1'))", '(a)\\1'],
    ["args.text.matches('(')", '('],
  ])('has a problem if RE2 lacks the pattern: %s', (rule, pattern) => {
    expect(checkCelRule(rule, scope)).toEqual({
      message: expect.stringMatching(/^the regular expression ".*" is not valid: error parsing regexp: /),
      suggestion: 'RE2 has no lookahead, lookbehind or reference to a group',
    });
    expect(checkCelRule(rule, scope)!.message).toContain(pattern);
  });
  it('cannot call matches by its internal name', () => {
    expect(checkCelRule("args.text.matches_in_linear_time('a')", scope)).not.toBeNull();
  });
});

describe('a pattern in a JSON Schema', () => {
  const schema = { type: 'string', pattern } satisfies Json;
  const parameter = { name: 'v', role: 'text', schema, required: true, description: '' } as const;
  const read = { ...fixtureSpecs.tools['read']!, parameters: [parameter] };
  const [peripheral, spec] = Object.entries(fixtureSpecs.peripherals).find(([, { tools }]) => tools.includes('read'))!;
  const specs = { ...fixtureSpecs, tools: { ...fixtureSpecs.tools, read } };
  const visit = {
    peripheral,
    spec: { ...spec, fruit: {} },
    scope: spec.scope,
    steps: 0,
    deadline: null,
  } as unknown as AuditedVisit;
  const audited = initialAuditState({ specs, config: CONFIG }, { visit, mode: null });
  it.each<[string, (value: string) => boolean]>([
    ['the gate', (v) => bindCallArguments(read, { v }).ok],
    ['the audit', (v) => findFirstRuleProblem(audited, { kind: 'step', tool: 'read', args: { v } }) === null],
    ['the check of an answer', (v) => compileAnswerCheck(schema)(v) === null],
  ])('is searched by RE2 for %s', (_name, accepts) => {
    expect([accepts('aaa'), accepts(slow)]).toEqual([true, false]);
  });
  it('is searched by JavaScript’s engine if RE2 lacks it', () => {
    expect(compileAnswerCheck({ type: 'string', pattern: '^(?!a)' })('b')).toBeNull();
    expect(compileAnswerCheck({ type: 'string', pattern: '^(?!a)' })('a')).not.toBeNull();
  });
  it.each([
    '^$',
    'a$',
    '.',
    '^.$',
    '\\bfoo\\b',
    '[\\d\\-]\\/',
    '\\p{L}+\\u00e9',
    '\\u{1F600}',
    '(?<n>x)|y',
    'a{2,3}?b',
    '[^]',
  ])('finds the same texts as JavaScript’s engine: %s', (pattern) => {
    for (const each of ['', 'a\n', '\n', 'foo', 'a foo!', '-/', 'éé', '😀', 'x', 'y', 'aab', 'ab'])
      expect(schemaRegex(pattern, 'u').test(each), each).toBe(new RegExp(pattern, 'u').test(each));
  });
});
