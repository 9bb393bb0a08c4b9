import { fieldsOf, type Json, parseJson } from '../../base/json.ts';
import { plural, shorten } from '../../base/text.ts';
import { isTestFile } from '../../spec/test-files.ts';

/** Patterns of a language: one matches its tests, the other matches the marks that skip tests or single them out. */
interface TestPatterns {
  readonly tests: RegExp;
  readonly skipped: RegExp;
}

interface LanguagePatterns extends TestPatterns {
  readonly files: RegExp;
  /** Set if source files of the language also contain tests. */
  readonly inCode?: true;
}

const either = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'gm');

/** Languages whose ordinary code would match patterns of the others: `.skip(1)` in Rust, `.only('id')` in Django. */
const BY_EXTENSION: readonly LanguagePatterns[] = [
  {
    files: /\.(?:rs|zig)$/,
    inCode: true,
    tests: /#\[(?:\w+::)*test\b|^[ \t]*test\s+"/gm,
    skipped: /#\[ignore\b|\bSkipZigTest\b/g,
  },
  // In Perl, each assertion is a test.
  {
    files: /\.t$/,
    tests: /^[ \t]*(?:subtest|ok|is|isnt|like|unlike|is_deeply|cmp_ok)\b\s*[('"$]/gm,
    skipped: /^[ \t]*(?:SKIP|TODO):[ \t]*\{|\bskip_all\b/gm,
  },
  {
    files: /\.java$/,
    tests: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b/g,
    skipped: /@(?:Disabled|Ignore)|\bassume(?:True\(false|False\(true)\b/g,
  },
  {
    files: /\.py$/,
    tests: /\bdef test/g,
    skipped: /\b(?:pytest|mark)\.(?:skip|xfail)|@(?:\w+\.)?(?:skip|expectedFailure)|\bskipTest\b|\bSkipTest\b/g,
  },
];

const IN_TEST_FILES: TestPatterns = {
  tests: either(
    /\b(?:it|test|scenario)(?:\.\w+){0,4}\s*\(/, // JavaScript, Dart, Scala
    /^[ \t]*(?:it|specify|scenario|test)\s+["']/, // Ruby, Elixir, Haskell
    /^[ \t]*Scenario(?: Outline)?:/, // Cucumber
    /\bdef test_\w*|\bfunc(?:tion)? [Tt]est\w*/, // Ruby; Go, Swift, PHP
    /@(?:Parameterized)?[Tt]est\b/, // Kotlin, Bats
    /\[(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bTEST(?:_[FP])?\s*\(/, // C#; C++
  ),
  skipped: either(
    /\.(?:skip|only|todo|skipIf|fails)\b|\b(?:skip\s*:\s*true|GTEST_SKIP)\b|\bDISABLED_/, // JavaScript, Dart; C++
    /\b[xf](?:it|describe|test|context|specify)\b\s*[('"]/, // JavaScript, Ruby
    /\bt\.Skip|@(?:Disabled|Ignore|tag :skip)\b/, // Go; Kotlin, Elixir
    /\bSkip\s*=|\[Ignore\b|\bmarkTest(?:Skipped|Incomplete)\b|\bXCTSkip/, // C#, PHP, Swift
    /^[ \t]*(?:skip|pending)(?:$|[ \t]*["'(])/, // Ruby, Bats
  ),
};

/** The maximum length of a scanned text, in characters. */
const MAX_TEXT = 8 << 20;

/** A summary of a file's tests from a quick scan; null if the file does not concern tests. */
export interface TestFileScan {
  readonly tests: number;
  readonly skipped: number;
  readonly scripts: { readonly [name: string]: string };
}

/**
 * Scans a test file, a file of Rust or Zig, or a `package.json`. null for any other file, a missing text and a text
 * that is too long.
 */
export function scanTestFile(path: string, text: string | null): TestFileScan | null {
  if (text === null || text.length > MAX_TEXT) return null;
  if (/(?:^|\/)package\.json$/i.test(path)) return { tests: 0, skipped: 0, scripts: testScripts(text) };
  const own = BY_EXTENSION.find(({ files }) => files.test(path));
  if (!own?.inCode && !isTestFile(path)) return null;
  const { tests, skipped } = own ?? IN_TEST_FILES;
  return { tests: text.match(tests)?.length ?? 0, skipped: text.match(skipped)?.length ?? 0, scripts: {} };
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
