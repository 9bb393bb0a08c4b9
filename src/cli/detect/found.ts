import type { TestReport } from '../../spec/types.ts';

/** A command that a repository seems to be tested with, and why we think so. */
export interface FoundTest {
  readonly run: readonly string[];
  readonly report: TestReport;
  readonly because: string;
}

/** A command that a repository seems to be shipped with, under the name that an agent would ask for. */
export interface FoundDeploy {
  readonly name: string;
  readonly run: readonly string[];
  readonly because: string;
}

/** Where a test run leaves its JUnit report. Test runs write to a throwaway overlay, so it never dirties the tree. */
export const JUNIT_FILE = 'hopgate-junit.xml';
