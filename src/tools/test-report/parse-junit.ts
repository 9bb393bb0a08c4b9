import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { type ReportProblem, type TestRunReport, TestTally } from './test-run-report.ts';

/** With `preserveOrder` an element is `{ <name>: children, ':@': attributes }`, and a text `{ '#text': … }`. */
type Node = { readonly [name: string]: readonly Node[] | string } & {
  readonly ':@'?: { readonly [name: string]: string };
};

interface Case {
  readonly name: string;
  readonly group: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

/**
 * Parses an untrusted JUnit XML report. If a report lists a test and its subtests side by side (`T` and `T/one`, as for
 * Go), only the subtests count, unless none of them explains the failure. A document type is refused, because only
 * attacks have one.
 */
export function parseJunit(xml: string): TestRunReport | ReportProblem {
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) return { problem: 'the report declares a document type' };
  const valid = XMLValidator.validate(xml);
  if (valid !== true)
    return { problem: `the report is not well-formed XML: ${valid.err.msg} (line ${valid.err.line})` };
  const document = parse(xml);
  if ('problem' in document) return document;
  const root = document.find((node) => 'testsuites' in node || 'testsuite' in node);
  if (!root) return { problem: 'the report has neither <testsuites> nor <testsuite>' };
  const cases: Case[] = [];
  const tally = new TestTally();
  collect(document, '', cases, tally);
  for (const found of leafCases(cases)) {
    if (found.outcome === 'passed') tally.pass();
    else if (found.outcome === 'skipped') tally.skip();
    else tally.fail(found.name, found.message);
  }
  return tally.report('junit');
}

/** The parser throws at its limits, such as the limit on nesting. */
function parse(xml: string): Node[] | ReportProblem {
  try {
    return parser.parse(xml) as Node[];
  } catch (error) {
    return { problem: `the report cannot be read: ${(error as Error).message}` };
  }
}

/**
 * Collects the cases in some nodes. A suite that failed outside of its cases (a hook, a file that does not load) has
 * its own failure element, or states more failures and errors than its cases show; each counts as a failure.
 * @returns the number of failures and errors that these nodes explain
 */
function collect(nodes: readonly Node[], group: string, cases: Case[], tally: TestTally): number {
  let failures = 0;
  for (const node of nodes) {
    const suite = node['testsuites'] ?? node['testsuite'];
    if (Array.isArray(suite)) {
      const name = attribute(node, 'name') || group;
      const listed = collect(suite, name, cases, tally);
      const stated = countOf(node, 'failures') + countOf(node, 'errors');
      if (stated > listed)
        tally.fail(name || 'test suite', `it states ${stated} failures and errors but lists ${listed}`);
      failures += Math.max(stated, listed);
    }
    const children = node['testcase'];
    if (Array.isArray(children)) {
      cases.push(readCase(node, children, group));
      failures += children.filter((child) => 'failure' in child || 'error' in child).length;
    }
    if (children === undefined && ('failure' in node || 'error' in node)) {
      tally.fail(group || 'test suite', attribute(node, 'message') || textIn(node));
      failures += 1;
    }
  }
  return failures;
}

const countOf = (node: Node, name: string): number => {
  const count = Number(attribute(node, name) || 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
};

function readCase(node: Node, children: readonly Node[], group: string): Case {
  const child = (name: string) => children.find((each) => name in each);
  const className = attribute(node, 'classname');
  const own = attribute(node, 'name');
  const name = className === '' || className === 'test' || own.startsWith(className) ? own : `${className} > ${own}`;
  const failure = child('failure') ?? child('error');
  // A to-do test may have the elements for a skip and for a failure; its failure does not count.
  const outcome = child('skipped') ? 'skipped' : failure ? 'failed' : 'passed';
  const message = failure ? attribute(failure, 'message') || textIn(failure) : '';
  // In Go's reports the message is only "Failed".
  const detail = failure && /^(failed)?$/i.test(message.trim()) ? textIn(failure) || message : message;
  return { name, group: `${group}\0${className}`, outcome, message: detail };
}

function leafCases(cases: readonly Case[]): Case[] {
  const failedUnder = new Map<string, boolean>();
  for (const { group, name, outcome } of cases)
    for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
      const parent = `${group}\0${name.slice(0, at)}`;
      failedUnder.set(parent, failedUnder.get(parent) === true || outcome === 'failed');
    }
  return cases.filter(({ group, name, outcome }) => {
    const failedBelow = failedUnder.get(`${group}\0${name}`);
    return failedBelow === undefined || (outcome === 'failed' && !failedBelow);
  });
}

const attribute = (node: Node, name: string): string => decode(node[':@']?.[name] ?? '');

function textIn(node: Node): string {
  return Object.entries(node)
    .map(([name, value]) => {
      if (name === ':@') return '';
      if (typeof value === 'string') return decode(value);
      return Array.isArray(value) ? value.map(textIn).join('') : '';
    })
    .join('');
}

const NAMED: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Decodes the five entities of XML and numeric references; a report without a document type has no others. */
function decode(text: string): string {
  return text.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (whole, name, decimal, hex) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()]!;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
