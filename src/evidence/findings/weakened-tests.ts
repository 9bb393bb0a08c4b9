import { fieldsOf, type Json, parseJson } from '../../base/json.ts';
import { plural, shorten } from '../../base/text.ts';
import { isTestFile } from '../../spec/test-files.ts';

const either = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'gm');

const TESTS = either(
  /\b(?:it|test|scenario)(?:\.\w+)*\s*\(/, // JavaScript, Dart, Scala
  /^[ \t]*(?:it|specify|scenario|test)\s+["']/, // Ruby, Elixir, Haskell, Zig
  /^[ \t]*Scenario(?: Outline)?:/, // Cucumber
  /\bdef test_\w*|\bfunc(?:tion)? [Tt]est\w*/, // Python, Ruby; Go, Swift, PHP
  /#\[(?:\w+::)*test\b|@(?:Parameterized)?[Tt]est\b/, // Rust; Java, Kotlin, Bats
  /\[(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bTEST(?:_[FP])?\s*\(/, // C#; C++
  /^[ \t]*(?:subtest|ok|is|isnt|like|unlike|is_deeply|cmp_ok)\b\s*[('"$]/, // Perl, where each assertion is a test
);
const SKIPPED = either(
  /\.(?:skip|only|todo|skipIf|fails)\b|\b(?:skip\s*:\s*true|GTEST_SKIP)\b|\bDISABLED_/, // JavaScript, Dart; C++
  /\b[xf](?:it|describe|test|context|specify)\b\s*[('"]/, // JavaScript, Ruby
  /@(?:pytest\.mark\.|unittest\.)(?:skip|xfail|expectedFailure)|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore|tag :skip)\b/, // Python, Go, Rust, Java, Elixir
  /\bSkip\s*=|\[Ignore\b|\bmarkTest(?:Skipped|Incomplete)\b|\bXCTSkip/, // C#, PHP, Swift
  /^[ \t]*(?:(?:skip|pending)(?:$|[ \t]*["'(])|(?:SKIP|TODO):[ \t]*\{)/, // Ruby, Bats; Perl
);

/** Languages whose tests are in the file of the code that they test. */
const HAS_INNER_TESTS = /\.(?:rs|zig)$/;

/** The maximum length of a scanned text, in characters. */
const MAX_TEXT = 8 << 20;

/** A summary of a file's tests from a quick scan; null if the file does not concern tests. */
export interface TestFileScan {
  readonly tests: number;
  readonly skipped: number;
  readonly scripts: { readonly [name: string]: string };
}

/** Scans a test file or a `package.json`. null for any other file, a missing text and a text that is too long. */
export function scanTestFile(path: string, text: string | null): TestFileScan | null {
  if (text === null || text.length > MAX_TEXT) return null;
  if (/(?:^|\/)package\.json$/i.test(path)) return { tests: 0, skipped: 0, scripts: testScripts(text) };
  if (!isTestFile(path) && !HAS_INNER_TESTS.test(path)) return null;
  return { tests: text.match(TESTS)?.length ?? 0, skipped: text.match(SKIPPED)?.length ?? 0, scripts: {} };
}

function testScripts(text: string): TestFileScan['scripts'] {
  const all = Object.entries(fieldsOf(fieldsOf(parseJson(text))['scripts']));
  return Object.fromEntries(
    all.filter((pair): pair is [string, string] => /test/i.test(pair[0]) && typeof pair[1] === 'string'),
  );
}

/** Explains how a change weakens the tests; null if the scans show nothing. `after` is null if the file was deleted. */
export function describeWeakenedTests(before: TestFileScan | null, after: TestFileScan | null): string | null {
  if (before === null)
    return after !== null && after.skipped > 0
      ? `the file skips or singles out tests in ${plural(after.skipped, 'place')}`
      : null;
  if (after === null) return before.tests > 0 ? `the file was deleted, with ${plural(before.tests, 'test')}` : null;
  const changed = Object.entries(before.scripts).find(([name, run]) => after.scripts[name] !== run);
  if (changed)
    return `the script "${changed[0]}" was changed from "${shorten(changed[1], 100)}" to "${shorten(after.scripts[changed[0]] ?? '', 100)}"`;
  if (after.tests < before.tests)
    return `the file contains ${plural(before.tests - after.tests, 'test')} fewer than before`;
  return after.skipped > before.skipped
    ? `the file skips or singles out tests in ${plural(after.skipped - before.skipped, 'more place')}`
    : null;
}

/** Explains that fewer tests passed than in earlier full runs (`fewerTests` of the tool's result); null if not. */
export function describeFewerTests(run: { readonly [key: string]: Json | undefined }): string | null {
  const { before, now } = fieldsOf(run['fewerTests']);
  return typeof before === 'number' && typeof now === 'number'
    ? `${plural(before - now, 'fewer test')} passed than before (${now} of ${before})`
    : null;
}
