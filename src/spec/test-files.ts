const FOLDERS = 'test tests __tests__ __snapshots__ spec specs e2e testing testdata cypress t xt'.split(' ');
/** Source sets of Gradle and Kotlin: `src/androidTest/`. */
const SOURCE_SETS = 'android common functional integration ios js jvm native ui unit'.split(' ');
/** Languages whose test files are named in camel case: `CartTest.java`. */
const CAMEL_CASE = 'java kt kts scala groovy cs fs vb php swift hs m'.split(' ');
/** Extensions of files that are always tests: Perl, Bats, Cucumber, Robot Framework, snapshots of Jest. */
const EXTENSIONS = 't bats feature robot snap'.split(' ');

const TEST_FOLDER = new RegExp(`^(?:${FOLDERS.join('|')})$|[._-]tests?$`, 'i');
const CAMEL_CASE_FOLDER = new RegExp(`[a-zA-Z\\d]Tests$|^(?:${SOURCE_SETS.join('|')})Test$`);
const TEST_NAME = new RegExp(
  `(?:^|[._-])(?:test|tests|spec|specs)(?:[._-]|$)|^conftest\\.py$|\\.(?:${EXTENSIONS.join('|')})$|(?:Tests?|TestCase|Spec|IT)\\.(?:${CAMEL_CASE.join('|')})$`,
);

/** Files that are never tests: documents, lists of dependencies, and RPM package descriptions. */
const NO_TEST = /\.(?:mdx?|markdown|rst|rdoc|adoc|txt|spec)$/i;

/**
 * Patterns of test files, for masks or for exclusions of a scope. They match in any letter case, and so more than
 * `isTestFile`: documents, and `latest.java`. `CartIT.java` is not among them, because `Commit.java` would match too.
 */
export const TEST_FILE_PATTERNS: readonly string[] = [
  `{${FOLDERS.join(',')}}/`,
  '*{.,_,-}{test,tests}/',
  '*Tests/',
  `{${SOURCE_SETS.join(',')}}Test/`,
  '{test,tests,spec,specs}{.,_,-}*',
  '*{.,_,-}{test,tests,spec,specs}{.,_,-}*',
  '*{.,_,-}{test,tests,spec,specs}',
  'conftest.py',
  `*.{${EXTENSIONS.join(',')}}`,
  `*{Test,Tests,TestCase,Spec}.{${CAMEL_CASE.join(',')}}`,
];

/** True if a root-relative path belongs to the tests. */
export function isTestFile(path: string): boolean {
  const names = path.split('/');
  const name = names.at(-1)!;
  const isInFolder = names.slice(0, -1).some((folder) => TEST_FOLDER.test(folder) || CAMEL_CASE_FOLDER.test(folder));
  return isInFolder || (TEST_NAME.test(name) && !NO_TEST.test(name));
}
