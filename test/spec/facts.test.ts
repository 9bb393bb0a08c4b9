import { describe, expect, it } from 'vitest';
import { checkCelRule } from '../../src/spec/cel-facts.ts';

const scope = {
  fruit: { result: ['pass', 'fail'], 'test-count': 'integer', failures: 'list', par: 'object' },
  peripherals: ['edit', 'look-around'],
} as const;

describe('checkCelRule', () => {
  it.each([
    'fruit.test_count > 0 && fruit.result == "pass"',
    'size(fruit.failures) == 0',
    'fruit.failures.all(failure, failure != "a")',
    'fruit.par.problem == "x"',
    'visits.look_around < 3 && visits["edit"] > 0',
    'session.mode == "execute" && session.agent != "" && session.steps + 1 > 2',
    'visit.denials == 0 || tests.passed && tests.count > tests.failed',
    '"src/a.ts" in backpack.changed_files',
    'backpack.ready',
    'true',
  ])('accepts %s', (rule) => {
    expect(checkCelRule(rule, scope)).toBeNull();
  });

  it.each([
    `${'('.repeat(3_000)}true${')'.repeat(3_000)}`,
    `${'!'.repeat(3_000)}true`,
    Array(3_000).fill('visit.steps > 0').join(' && '),
    `1${' + 1'.repeat(3_000)} > 0`,
    `${'['.repeat(3_000)}1${']'.repeat(3_000)} == []`,
  ])('refuses a rule that would overflow the stack', (rule) => {
    const message = 'the rule is too long or nested too deeply';
    expect(checkCelRule(rule, scope)).toEqual({ message, suggestion: 'write a shorter rule' });
  });

  it.each([
    ['frut.result == "pass"', 'unknown fact "frut"', 'did you mean "fruit"?'],
    ['fruit.reslt == "pass"', 'unknown fact "fruit.reslt"', 'did you mean "fruit.result"?'],
    ['fruit["reslt"] == "pass"', 'unknown fact "fruit.reslt"', 'did you mean "fruit.result"?'],
    ['true && session.stpes > 1', 'unknown fact "session.stpes"', 'did you mean "session.steps"?'],
    ['visits.edti > 0', 'unknown fact "visits.edti"', 'did you mean "visits.edit"?'],
    ['tests.green', 'unknown fact "tests.green"', 'known: tests.count, tests.failed, tests.passed'],
    ['session.steps', 'the rule gives a value of type int, not true or false', 'compare it'],
    ['fruit.result == 3', 'the rule is not valid: no such overload: string == int', null],
    ['session.steps >', expect.stringContaining('the rule is not valid'), null],
    ['fruit.test-count > 0', 'unknown fact "fruit.test"', 'did you mean "fruit.test_count"?'],
    ['changed_files.exists(f, f == "a")', 'unknown fact "changed_files"', expect.any(String)],
  ])('refuses %s', (rule, message, suggestion) => {
    expect(checkCelRule(rule, scope)).toEqual({ message, suggestion });
  });

  it('reads the names of the peripherals only for a rule about visits', () => {
    let reads = 0;
    const peripherals = new Proxy(['one'], {
      get: (...of) => {
        reads += 1;
        return Reflect.get(...of);
      },
    });
    expect(checkCelRule('visit.steps > 1', { fruit: {}, peripherals })).toBeNull();
    expect(reads).toBe(0);
    expect(checkCelRule('visits.one > 1', { fruit: {}, peripherals })).toBeNull();
  });
});
