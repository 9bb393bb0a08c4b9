import { fieldsOf, isObject, type Json } from '../base/json.ts';
import { excerpt, plural, stripTerminalColours } from '../base/text.ts';
import { describeFewerTests } from '../evidence/findings/weakened-tests.ts';
import { type OptionalJsonFields, summariseValue } from './summarise-value.ts';

export const shortenValue = (value: Json | undefined, length = 60): string =>
  excerpt(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), length);

const LAST_LINES = 10;

/** The last output of a failed command or test run; empty if it did not fail, or if the output is a blob. */
export function lastFailureLines(value: Json): readonly string[] {
  const { exit, verdict, stdout, stderr } = fieldsOf(value);
  const hasRun = typeof exit === 'number' || exit === null;
  if (!hasRun || (exit === 0 && (verdict === undefined || verdict === 'pass'))) return [];
  const describeOutput = (printed: Json | undefined) =>
    typeof printed === 'string' ? stripTerminalColours(printed).trimEnd().split('\n') : [];
  const all = [...describeOutput(stdout), ...describeOutput(stderr)].filter((line) => line.trim() !== '');
  return all.slice(-LAST_LINES);
}

/** Describes the result of a tool in one line, by the first describer that knows its fields. */
export function describeValue(value: Json): string {
  if (!isObject(value)) return shortenValue(value, 160);
  for (const describe of DESCRIBERS) {
    const description = describe(value);
    if (description !== null) return description;
  }
  return shortenValue(value, 160);
}

/** Describers of results by kind, in the order in which they are tried. Each returns null for any other kind. */
const DESCRIBERS: readonly ((result: OptionalJsonFields) => string | null)[] = [
  ({ blob, bytes }) =>
    typeof blob === 'string' ? `${plural(Number(bytes), 'byte')}, kept as ${shortenValue(blob, 12)}` : null,
  ({ replacements, lines }) =>
    typeof replacements === 'number' ? `${replacements} replaced, ${plural(Number(lines), 'line')}` : null,
  ({ created, bytes }) =>
    typeof created === 'boolean' ? `${created ? 'created' : 'overwritten'}, ${plural(Number(bytes), 'byte')}` : null,
  describeWait,
  ({ sentAt, to }) => (typeof sentAt === 'string' ? `sent to ${shortenValue(to)}` : null),
  ({ job, running, stdout }) =>
    typeof job === 'string' && running === true
      ? `job ${job} is running${stdout ? `: ${describeOutput(stdout)}` : ''}`
      : null,
  ({ candidates }) =>
    Array.isArray(candidates)
      ? `${plural(candidates.length, 'pattern')}: ${shortenValue(candidates.map((one) => fieldsOf(one)['id']).join(' '), 120)}`
      : null,
  ({ pattern, kind, outcome }) => {
    if (typeof pattern !== 'string') return null;
    if (kind === 'selection') return `${shortenValue(pattern)} is selected`;
    return typeof outcome === 'string' ? `${shortenValue(pattern)}: ${shortenValue(outcome)}` : null;
  },
  // Describes a turn of a world by the world's own text.
  ({ observation }) => (typeof observation === 'string' ? shortenValue(inOneLine(observation), 160) : null),
  ({ text, path }) => {
    if (typeof text !== 'string') return null;
    if (path === undefined) return shortenValue(inOneLine(text), 160);
    return `${shortenValue(path)}: ${plural(text === '' ? 0 : text.split(/\n(?!$)/).length, 'line')}`;
  },
  ({ matches }) =>
    Array.isArray(matches)
      ? `${plural(matches.length, 'match', 'matches')}${matches[0] ? `, first ${matchOf(matches[0])}` : ''}`
      : null,
  ({ files }) =>
    Array.isArray(files) ? `${plural(files.length, 'file')}: ${shortenValue(files.join(' '), 120)}` : null,
  describeTests,
  ({ committed, sha }) => describeRelease('committed', committed, sha),
  ({ pushed, sha }) => describeRelease('pushed', pushed, sha),
  ({ entries }) => (Array.isArray(entries) ? plural(entries.length, 'entry', 'entries') : null),
  describeCommand,
  // Describes a result of which a long part is stored as a blob.
  (result) => {
    const [stored] = Object.entries(result).filter(([, part]) => typeof fieldsOf(part)['blob'] === 'string');
    return stored ? `${stored[0]}: ${describeValue(stored[1]!)}` : null;
  },
];

const describeRelease = (verb: string, isDone: Json | undefined, sha: Json | undefined): string | null =>
  isDone === undefined ? null : isDone ? `${verb} ${shortenValue(sha, 12)}` : `nothing was ${verb}`;

/** Describes a test run, or the runs of several test commands. */
function describeTests(result: OptionalJsonFields): string | null {
  const { verdict, runs, report, reportProblem, timedOut, flooded } = result;
  if (typeof verdict !== 'string') return null;
  const hint = hintOf(result);
  const why = verdict !== 'pass' && hint !== undefined ? `; ${shortenValue(hint, 400)}` : '';
  if (Array.isArray(runs)) return `verdict ${verdict}: ${shortenValue(runs.map(describeRun).join('; '), 140)}${why}`;
  const end = endOf(result);
  const counts = report
    ? `${timedOut || flooded ? `, ${end}` : ''}, ${shortenValue(summariseReport(report), 140)}`
    : `, ${end}, no report`;
  const fewer = describeFewerTests(result);
  const problem = reportProblem ? `: ${shortenValue(reportProblem, 140)}` : '';
  return `verdict ${verdict}${counts}${fewer === null ? '' : `, ${fewer}`}${problem}${why}`;
}

function describeCommand(result: OptionalJsonFields): string | null {
  const { dropped, exit, stdout, stderr } = result;
  const hint = hintOf(result);
  const end = `${endOf(result)}${hint === undefined ? '' : `: ${shortenValue(hint, 400)}`}`;
  if (Array.isArray(dropped) && dropped.length > 0)
    return `dropped: ${shortenValue(dropped.map(describeDropped).join('; '), 140)}; ${end}`;
  if (hint !== undefined) return end;
  if (exit === undefined) return null;
  const output = stdout || stderr;
  return `${end}${output ? `: ${describeOutput(output)}` : ''}`;
}

/** Describes the end of a command: its exit status, or the reason why it was killed. */
function endOf({ timedOut, flooded, seconds, exit }: OptionalJsonFields): string {
  if (timedOut) return `timed out after ${shortenValue(seconds)} s`;
  if (flooded) return 'killed: too much output';
  return exit === null ? 'killed' : `exit ${shortenValue(exit)}`;
}

/** The reason why a command may not have worked in the sandbox; undefined if the result names none. */
const hintOf = (result: OptionalJsonFields): Json | undefined =>
  result['noNetwork'] ??
  result['notShown'] ??
  result['linkedOutside'] ??
  result['masked'] ??
  (result['refusedHosts'] || result['verdict'] === 'error' || (result['exit'] !== undefined && result['exit'] !== 0)
    ? result['remedy']
    : undefined);

/** Describes the wait for the answer to a whistle, or for the response of an agency run. */
function describeWait({ waitedMs, status, answer, response, note }: OptionalJsonFields): string | null {
  if (typeof waitedMs !== 'number') return null;
  const reply = fieldsOf(answer)['text'] ?? response ?? '';
  if (status !== 'answered') return shortenValue(note ?? status ?? 'waited', 160);
  return `answered: ${typeof reply === 'string' ? shortenValue(inOneLine(reply), 140) : describeValue(reply)}`;
}

/** Prints a match of grep: `src/a.ts:3: const a = 1;`. */
function matchOf(match: Json): string {
  const { path, line, text } = fieldsOf(match);
  return path === undefined ? shortenValue(match, 100) : shortenValue(`${path}:${line}: ${String(text).trim()}`, 100);
}

const inOneLine = (text: string): string => stripTerminalColours(text).trim().replaceAll(/\s+/g, ' ');

/** Describes the output of a command. A long output is stored as a blob. */
const describeOutput = (printed: Json): string =>
  typeof printed === 'string' ? shortenValue(inOneLine(printed), 120) : describeValue(printed);

function describeRun(run: Json): string {
  const { command, verdict } = fieldsOf(run);
  return `${Array.isArray(command) ? command.join(' ') : ''} ${shortenValue(verdict)}`;
}

function summariseReport(report: Json): Json {
  if (!isObject(report)) return report;
  const { total, passed, failed, failures } = report;
  const names = Array.isArray(failures)
    ? failures.map((failure) => summariseValue(fieldsOf(failure)['name'] ?? ''))
    : [];
  return `${plural(Number(total), 'test')}, ${passed} passed, ${failed} failed${names.length > 0 ? `: ${names.join('; ')}` : ''}`;
}

const describeDropped = (drop: Json): string => {
  const { path, why } = fieldsOf(drop);
  return `${shortenValue(path)} (${shortenValue(why)})`;
};
