import { fieldsOf, isObject, type Json } from '../base/json.ts';
import { excerpt, plainOutput, plural } from '../base/text.ts';
import { fewerTestsIn } from '../evidence/findings/weakened-tests.ts';
import { summariseValue } from './summarise-value.ts';

export const shortValue = (value: Json | undefined, length = 60): string =>
  excerpt(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), length);

const LAST_LINES = 10;

/**
 * The last lines that a failed command or test run printed; empty if it did not fail, or if its output is stored as a
 * blob.
 */
export function lastLines(value: Json): readonly string[] {
  const { exit, verdict, stdout, stderr } = fieldsOf(value);
  const hasRun = typeof exit === 'number' || exit === null;
  if (!hasRun || (exit === 0 && (verdict === undefined || verdict === 'pass'))) return [];
  const describeOutput = (printed: Json | undefined) =>
    typeof printed === 'string' ? plainOutput(printed).trimEnd().split('\n') : [];
  const all = [...describeOutput(stdout), ...describeOutput(stderr)].filter((line) => line.trim() !== '');
  return all.slice(-LAST_LINES);
}

export function describeValue(value: Json): string {
  if (!isObject(value)) return shortValue(value, 160);
  const {
    text,
    matches,
    files,
    path,
    verdict,
    report,
    exit,
    stdout,
    stderr,
    committed,
    pushed,
    sha,
    entries,
    dropped,
    timedOut,
    flooded,
    seconds,
    blob,
    bytes,
    replacements,
    lines,
  } = value;
  const ended = timedOut
    ? `timed out after ${shortValue(seconds)} s`
    : flooded
      ? 'killed: too much output'
      : exit === null
        ? 'killed'
        : `exit ${shortValue(exit)}`;
  if (typeof blob === 'string') return `${plural(Number(bytes), 'byte')}, kept as ${shortValue(blob, 12)}`;
  if (typeof replacements === 'number') return `${replacements} replaced, ${plural(Number(lines), 'line')}`;
  if (typeof value['waitedMs'] === 'number') return describeWait(value);
  // A turn of a world: the world's own answer, without the added parts.
  if (typeof value['observation'] === 'string') return shortValue(inOneLine(value['observation']), 160);
  if (typeof text === 'string' && path === undefined) return shortValue(inOneLine(text), 160);
  if (typeof text === 'string') return `${shortValue(path)}: ${plural(text.split('\n').length, 'line')}`;
  if (Array.isArray(matches))
    return `${plural(matches.length, 'match', 'matches')}${matches[0] ? `, first ${matchOf(matches[0])}` : ''}`;
  if (Array.isArray(files)) return `${plural(files.length, 'file')}: ${shortValue(files.join(' '), 120)}`;
  const hint =
    value['noNetwork'] ??
    value['notShown'] ??
    value['linkedOutside'] ??
    value['masked'] ??
    (value['refusedHosts'] || (exit !== undefined && exit !== 0) ? value['remedy'] : undefined);
  if (typeof verdict === 'string') {
    const why = verdict !== 'pass' && hint !== undefined ? `; ${shortValue(hint, 240)}` : '';
    if (Array.isArray(value['runs']))
      return `verdict ${verdict}: ${shortValue(value['runs'].map(eachRun).join('; '), 140)}${why}`;
    const fewer = fewerTestsIn(value);
    const drop = fewer === null ? '' : `, ${fewer}`;
    const problem = value['reportProblem'] ? `: ${shortValue(value['reportProblem'], 140)}` : '';
    return `verdict ${verdict}${report ? `${timedOut || flooded ? `, ${ended}` : ''}, ${shortValue(summaryOf(report), 140)}` : `, ${ended}, no report`}${drop}${problem}${why}`;
  }
  if (committed !== undefined) return committed ? `committed ${shortValue(sha, 12)}` : 'nothing was committed';
  if (pushed !== undefined) return pushed ? `pushed ${shortValue(sha, 12)}` : 'nothing was pushed';
  if (Array.isArray(entries)) return `${plural(entries.length, 'entry', 'entries')}`;
  if (Array.isArray(dropped) && dropped.length > 0)
    return `dropped: ${shortValue(dropped.map(nameWhy).join('; '), 140)}; ${ended}`;
  if (hint !== undefined) return `${ended}: ${shortValue(hint, 240)}`;
  if (exit !== undefined)
    return `${ended}${stdout ? `: ${describeOutput(stdout)}` : stderr ? `: ${describeOutput(stderr)}` : ''}`;
  const [stored] = Object.entries(value).filter(([, part]) => typeof fieldsOf(part)['blob'] === 'string');
  if (stored) return `${stored[0]}: ${describeValue(stored[1])}`;
  return shortValue(value, 160);
}

/** The wait of a whistle or of a run of the agency. */
function describeWait({ status, answer, response, note }: { readonly [field: string]: Json }): string {
  const reply = fieldsOf(answer)['text'] ?? response ?? '';
  if (status !== 'answered') return shortValue(note ?? status ?? 'waited', 160);
  return `answered: ${typeof reply === 'string' ? shortValue(inOneLine(reply), 140) : describeValue(reply)}`;
}

/** A match of grep: `src/a.ts:3: const a = 1;`. */
function matchOf(match: Json): string {
  const { path, line, text } = fieldsOf(match);
  return path === undefined ? shortValue(match, 100) : shortValue(`${path}:${line}: ${String(text).trim()}`, 100);
}

const inOneLine = (text: string): string => plainOutput(text).trim().replaceAll(/\s+/g, ' ');

/** The output of a command; a long output is stored in a blob. */
const describeOutput = (printed: Json): string =>
  typeof printed === 'string' ? shortValue(inOneLine(printed), 120) : describeValue(printed);

function eachRun(run: Json): string {
  const { command, verdict } = fieldsOf(run);
  return `${Array.isArray(command) ? command.join(' ') : ''} ${shortValue(verdict)}`;
}

function summaryOf(report: Json): Json {
  if (!isObject(report)) return report;
  const { total, passed, failed, failures } = report;
  const names = Array.isArray(failures)
    ? failures.map((failure) => summariseValue(fieldsOf(failure)['name'] ?? ''))
    : [];
  return `${plural(Number(total), 'test')}, ${passed} passed, ${failed} failed${names.length > 0 ? `: ${names.join('; ')}` : ''}`;
}

const nameWhy = (drop: Json): string => {
  const { path, why } = fieldsOf(drop);
  return `${shortValue(path)} (${shortValue(why)})`;
};
