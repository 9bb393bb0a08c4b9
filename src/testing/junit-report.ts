export interface JunitTestResult {
  readonly group: string;
  readonly name: string;
  readonly seconds: number;
  /** The failure's text; null if the test passed. */
  readonly failure: string | null;
}

const inXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    // Removes the characters that XML 1.0 cannot express.
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');

/** A JUnit XML report, with one `testsuite` for each group. */
export function writeJunitReport(results: readonly JunitTestResult[]): string {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, tests]) => {
    const failures = tests.filter(({ failure }) => failure !== null).length;
    const seconds = tests.reduce((sum, test) => sum + test.seconds, 0).toFixed(3);
    const cases = tests.map(({ name, seconds: took, failure }) => {
      const head = `    <testcase classname="hopgate.${inXml(group)}" name="${inXml(name)}" time="${took.toFixed(3)}"`;
      if (failure === null) return `${head}/>`;
      return `${head}>\n      <failure message="${inXml(failure.split('\n').at(-1)?.trim() ?? '')}">${inXml(failure)}</failure>\n    </testcase>`;
    });
    return `  <testsuite name="${inXml(group)}" tests="${tests.length}" failures="${failures}" time="${seconds}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}
