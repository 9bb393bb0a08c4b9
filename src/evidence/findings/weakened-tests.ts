import { fieldsOf, type Json, parseJson } from '../../base/json.ts';
import { plural, shorten } from '../../base/text.ts';
import { isTestFile } from '../../spec/test-files.ts';

const TESTS = /\b(?:it|test)(?:\.\w+)*\s*\(|\bdef test_\w*|\bfunc Test\w*|#\[(?:\w+::)*test\]|@Test\b|\bscenario\s*\(/g;
const SKIPPED =
  /\.(?:skip|only|todo|skipIf|fails)\b|\bx(?:it|describe|test)\s*\(|\bf(?:it|describe)\s*\(|\bskip\s*:\s*true|@(?:pytest\.mark\.|unittest\.)(?:skip|xfail|expectedFailure)|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b/g;

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
  if (!isTestFile(path)) return null;
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
