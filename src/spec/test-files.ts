const TEST_FOLDERS = new Set(['test', 'tests', '__tests__', 'spec', 'specs', 'e2e', 'testing']);
const TEST_NAME =
  /(?:^|[._-])(?:test|tests|spec|specs)(?:[._-]|$)|^conftest\.py$|(?:Test|Tests|Spec|IT)\.(?:java|kt|scala|cs|php|groovy)$/;

/** Test files as masks or exclusions of a scope, which ignore letter case. */
export const TEST_PATTERNS: readonly string[] = [
  '{test,tests,__tests__,spec,specs,e2e,testing}/',
  '{test,tests,spec,specs}{.,_,-}*',
  '*{.,_,-}{test,tests,spec,specs}{.,_,-}*',
  'conftest.py',
  '*{Test,Tests,Spec}.{java,kt,scala,cs,php,groovy}',
];

/** True if a root-relative path belongs to the tests. */
export function isTestFile(path: string): boolean {
  const names = path.split('/');
  return TEST_NAME.test(names.at(-1)!) || names.slice(0, -1).some((name) => TEST_FOLDERS.has(name.toLowerCase()));
}
