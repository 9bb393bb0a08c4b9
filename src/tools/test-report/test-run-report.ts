interface TestFailure {
  readonly name: string;
  readonly message: string;
}

/** The result of a test run: leaf tests, each counted once. */
export interface TestRunReport {
  readonly format: 'tap' | 'junit';
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  /** Skipped or to-do tests, including failing to-do tests. */
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
}

/** The reason for which a report cannot be read. */
export interface ReportProblem {
  readonly problem: string;
}

const MAX_FAILURES = 50;
const MAX_MESSAGE = 2000;

/** Adds up leaf tests. */
export class TestTally {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly failures: TestFailure[] = [];

  pass(): void {
    this.passed += 1;
  }

  skip(): void {
    this.skipped += 1;
  }

  fail(name: string, message: string): void {
    this.failed += 1;
    if (this.failures.length < MAX_FAILURES)
      this.failures.push({ name: name.slice(0, MAX_MESSAGE), message: message.trim().slice(0, MAX_MESSAGE) });
  }

  report(format: TestRunReport['format']): TestRunReport {
    const { passed, failed, skipped, failures } = this;
    return { format, total: passed + failed + skipped, passed, failed, skipped, failures };
  }
}
