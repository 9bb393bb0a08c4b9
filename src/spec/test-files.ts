const TEST_FOLDERS = new Set(['test', 'tests', '__tests__', 'spec', 'specs', 'e2e', 'testing']);
const TEST_NAME =
  /(?:^|[._-])(?:test|tests|spec|specs)(?:[._-]|$)|^conftest\.py$|(?:Test|Tests|Spec|IT)\.(?:java|kt|scala|cs|php|groovy)$/;

/** Files that are never tests: documents, and RPM package descriptions. */
const NO_TEST = /\.(?:mdx?|markdown|rst|rdoc|adoc|spec)$/i;

/** Patterns of test files, for masks or for exclusions of a scope; in any letter case. Documents match as well. */
export const TEST_FILE_PATTERNS: readonly string[] = [
  '{test,tests,__tests__,spec,specs,e2e,testing}/',
  '{test,tests,spec,specs}{.,_,-}*',
  '*{.,_,-}{test,tests,spec,specs}{.,_,-}*',
  'conftest.py',
  '*{Test,Tests,Spec}.{java,kt,scala,cs,php,groovy}',
];

/** True if a root-relative path belongs to the tests. */
export function isTestFile(path: string): boolean {
  const names = path.split('/');
  const name = names.at(-1)!;
  const isInFolder = names.slice(0, -1).some((folder) => TEST_FOLDERS.has(folder.toLowerCase()));
  return isInFolder || (TEST_NAME.test(name) && !NO_TEST.test(name));
}
