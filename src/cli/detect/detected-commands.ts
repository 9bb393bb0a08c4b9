import type { TestReportFormat } from '../../spec/types.ts';

/** A command that seems to test a repository, and the reason to think so. */
export interface DetectedTest {
  readonly run: readonly string[];
  readonly report: TestReportFormat;
  readonly because: string;
}

/** A command that seems to ship a repository, with the name that an agent would ask for. */
export interface DetectedDeploy {
  readonly name: string;
  readonly run: readonly string[];
  readonly because: string;
}

/** The file name of a test run's JUnit report. Test runs write to a temporary overlay, so it never dirties the tree. */
export const JUNIT_REPORT_NAME = 'hopgate-junit.xml';
