import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJunit } from '../../../src/tools/test-report/parse-junit.ts';
import { parseTap } from '../../../src/tools/test-report/parse-tap.ts';
import type { TestRunReport } from '../../../src/tools/test-report/test-run-report.ts';

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'reports', name), 'utf8');
const counts = ({ total, passed, failed, skipped }: TestRunReport) => ({ total, passed, failed, skipped });
const tap = (text: string) => parseTap(text) as TestRunReport;
const junit = (text: string) => parseJunit(text) as TestRunReport;

describe('failures outside of test cases', () => {
  test.each([
    [
      'an error element of the suite as one',
      '<testsuite name="s"><testcase name="a"/><error message="hook"/></testsuite>',
      [2, 1, 1],
    ],
    [
      'a count that no case accounts for as one',
      '<testsuite name="s" errors="1"><testcase name="a"/></testsuite>',
      [2, 1, 1],
    ],
    [
      'a count of all suites as one',
      '<testsuites failures="2"><testsuite failures="1"><testcase name="a"><failure/></testcase></testsuite></testsuites>',
      [2, 0, 2],
    ],
    [
      'a count that its own element accounts for once',
      '<testsuites errors="1"><testsuite errors="1"><error/><testcase name="a"/></testsuite></testsuites>',
      [2, 1, 1],
    ],
    [
      'a count that its cases account for as no further failure',
      '<testsuites failures="1" errors="1"><testsuite failures="1" errors="1"><testcase name="a"><failure/></testcase><testcase name="b"><error/></testcase></testsuite></testsuites>',
      [2, 0, 2],
    ],
    [
      'a count that is not a number as no failure',
      '<testsuite failures="NaN" errors="-1"><testcase name="a"/></testsuite>',
      [1, 1, 0],
    ],
  ])('are counted by parseJunit: %s', (_name, text, [total, passed, failed]) => {
    expect(counts(junit(text))).toEqual({ total, passed, failed, skipped: 0 });
  });
});

describe('parseTap', () => {
  test('reads a real report of node --test: nested suites, skip, todo, failing hooks and parents', () => {
    const report = tap(fixture('node.tap'));
    // 11 leaves, and the parent that failed by itself
    expect(counts(report)).toEqual({ total: 12, passed: 5, failed: 4, skipped: 3 });
    expect(report.failures.map(({ name }) => name)).toEqual([
      'is wrong',
      'a suite > inner fails',
      'parent with passing children that fails itself',
      'hook > never runs',
    ]);
    expect(report.failures[0]!.message).toBe('one is not two\nsecond line');
  });

  test('reads a real report of node --test with a name pattern that leaves files without tests', () => {
    expect(counts(tap(fixture('node-some.tap')))).toEqual({ total: 1, passed: 1, failed: 0, skipped: 0 });
    expect(counts(tap(fixture('node-none.tap')))).toEqual({ total: 0, passed: 0, failed: 0, skipped: 0 });
  });

  test('reads a real report of vitest: buffered subtests and a file that does not load', () => {
    const report = tap(fixture('vitest.tap'));
    expect(counts(report)).toEqual({ total: 5, passed: 1, failed: 2, skipped: 2 });
    expect(report.failures[0]!.message).toContain('Cannot find module');
  });

  test.each([
    [
      'the lines that npm prints before them',
      '\n> p@1.0.0 test\n> node --test\n\nTAP version 14\n1..1\nok 1 - a\n',
      [1, 1, 0, 0],
    ],
    ['no test to run', '1..0 # skip all\n', [0, 0, 0, 0]],
    ['words that only look like failures', '1..1\nok 1 - 3 failures and an Error # not a directive\n', [1, 1, 0, 0]],
    ['a passing test marked as to do', '1..1\nok 1 - a # TODO\n', [1, 0, 0, 1]],
    ['a plan that was not kept', '1..3\nok 1\nok 2\n', [3, 2, 1, 0]],
    ['no plan', 'ok 1\n', [2, 1, 1, 0]],
    ['a bail-out', '1..3\nok 1\nBail out! database down\n', [2, 1, 1, 0]],
  ])('reads a report with %s', (_name, text, [total, passed, failed, skipped]) => {
    expect(counts(tap(text))).toEqual({ total, passed, failed, skipped });
  });

  test.each([[''], ['all 12 tests passed\n'], ['OK (3 tests)\n']])('finds no tests in %j', (text) => {
    expect(parseTap(text)).toHaveProperty('problem');
  });

  test('counts each leaf test once, however deep it is nested', () => {
    interface Tree {
      readonly ok: boolean;
      readonly children: readonly Tree[];
    }
    const leaf = fc.record({ ok: fc.boolean(), children: fc.constant([]) });
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.record({ ok: fc.boolean(), children: fc.array(tie('tree'), { maxLength: 3 }) }),
      ),
    }));
    const holds = (node: Tree): boolean => (node.children.length === 0 ? node.ok : node.children.every(holds));
    const write = (nodes: readonly Tree[], indent: string): string =>
      `${nodes.map((node, at) => `${node.children.length > 0 ? `${indent}# Subtest: t${at}\n${write(node.children, `${indent}    `)}` : ''}${indent}${holds(node) ? 'ok' : 'not ok'} ${at + 1} - t${at}\n`).join('')}${indent}1..${nodes.length}\n`;
    const leaves = (nodes: readonly Tree[]): Tree[] =>
      nodes.flatMap((node) => (node.children.length === 0 ? [node] : leaves(node.children)));
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), (nodes) => {
        const all = leaves(nodes);
        const failed = all.filter((node) => !node.ok).length;
        expect(counts(tap(`TAP version 13\n${write(nodes, '')}`))).toEqual({
          total: all.length,
          passed: all.length - failed,
          failed,
          skipped: 0,
        });
      }),
    );
  });
});

describe('parseJunit', () => {
  test.each([
    ['node-junit.xml', { total: 11, passed: 5, failed: 3, skipped: 3 }, 'is wrong', 'one is not two\nsecond line'],
    [
      'vitest-junit.xml',
      { total: 5, passed: 1, failed: 2, skipped: 2 },
      'broken.test.ts',
      "Cannot find module './missing.ts' imported from /repo/broken.test.ts",
    ],
    ['jest-junit.xml', { total: 4, passed: 2, failed: 1, skipped: 1 }, 'sum fails', /Expected: 3\nReceived: 2/],
    [
      'pytest.xml',
      { total: 6, passed: 2, failed: 2, skipped: 2 },
      'test_p > test_bad',
      'AssertionError: one <is> not two\nassert 1 == 2',
    ],
    [
      'go-junit.xml',
      { total: 4, passed: 2, failed: 1, skipped: 1 },
      'example.com/m/pkg > TestTable/two',
      'table_test.go:11: got <nil>',
    ],
  ])('reads a real report of the runner in %s', (name, expected, failure, message) => {
    const report = junit(fixture(name));
    expect(counts(report)).toEqual(expected);
    expect(report.failures[0]!.name).toBe(failure);
    expect(report.failures[0]!.message).toMatch(message);
  });

  test('reads a report without tests', () => {
    expect(counts(junit('<testsuites/>'))).toEqual({ total: 0, passed: 0, failed: 0, skipped: 0 });
  });

  test.each([
    ['not XML', 'ok 1 - a'],
    ['cut off', fixture('pytest.xml').slice(0, 600)],
    ['HTML', '<html><body/></html>'],
    [
      'a document with its own entities',
      '<!DOCTYPE x [<!ENTITY a "b">]><testsuites><testcase name="&a;"/></testsuites>',
    ],
    ['nested too deeply', `${'<testsuite>'.repeat(500)}${'</testsuite>'.repeat(500)}`],
  ])('refuses a file that is %s', (_name, xml) => {
    expect(parseJunit(xml)).toHaveProperty('problem');
  });
});
