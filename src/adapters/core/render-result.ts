import { isDeepStrictEqual } from 'node:util';
import { type Fields, isObject, type Json, parseJson } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';

/** Renders a tool's result for a model. Fields without a special form are rendered as JSON; nothing is left out. */
export function renderResult(result: Json): string {
  if (typeof result === 'string') return result;
  if (!isObject(result)) return JSON.stringify(result);
  // The text of a world's turn is written for the model; the other fields repeat it for programs.
  if (typeof result['text'] === 'string' && typeof result['source'] === 'string') return result['text'];
  if (typeof result['exit'] === 'number' || typeof result['stdout'] === 'string') return renderCommand(result);
  if (typeof result['text'] === 'string' && typeof result['from'] === 'number') return renderFile(result);
  if (isTexts(result['files']) && !('matches' in result)) return renderFiles(result);
  if (Array.isArray(result['matches'])) return renderMatches(result);
  if (typeof result['text'] === 'string' && typeof result['url'] === 'string') return renderPage(result);
  if (Array.isArray(result['content'])) return renderBlocks(result);
  return JSON.stringify(result);
}

const isTexts = (value: Json | undefined): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** The remaining fields of a result as one line of JSON; empty if there are none. */
function remainingFields(result: Fields, shown: readonly string[]): readonly string[] {
  const others = Object.entries(result).filter(([key, value]) => !shown.includes(key) && !isNothing(value));
  return others.length > 0 ? [JSON.stringify(Object.fromEntries(others))] : [];
}

const isNothing = (value: Json): boolean =>
  value === null || value === false || (Array.isArray(value) && value.length === 0);

const joinLines = (...lines: readonly (string | readonly string[])[]): string =>
  lines
    .flat()
    .filter((line) => line !== '')
    .join('\n');

/** The fields of a command's result that its text shows. */
const COMMAND_FIELDS = splitWords(
  'warning job running exit signal stdout stderr truncated timedOut aborted flooded seconds verdict',
);

function renderCommand(result: Fields): string {
  const { exit = null, signal, stdout, stderr, truncated, timedOut, aborted, verdict, warning, running } = result;
  const how = [
    running === true ? `job ${result['job']} is running` : `exit ${exit === null ? 'unknown' : exit}`,
    ...(typeof verdict === 'string' ? [`tests: ${verdict}`] : []),
    ...(typeof signal === 'string' ? [`killed by ${signal}`] : []),
    ...(timedOut === true ? ['it timed out'] : []),
    ...(aborted === true ? ['aborted'] : []),
    ...(truncated === true
      ? ['the output was cut: head and tail are shown; a pipe through sed -n or grep shows the rest']
      : []),
  ];
  const errors = typeof stderr === 'string' && stderr.trim() !== '' ? ['stderr:', trimNewlines(stderr)] : [];
  const out = typeof stdout === 'string' ? trimNewlines(stdout) : '';
  const first = typeof warning === 'string' ? `WARNING: ${warning}` : '';
  return joinLines(first, `(${how.join('; ')})`, out, errors, remainingFields(result, COMMAND_FIELDS));
}

const trimNewlines = (text: string): string => text.replace(/(?<!\n)\n+$/, '');

/** The lines of a file with their numbers, as `cat -n` prints them. */
function renderFile(result: Fields): string {
  const { text = '', from = 1, to, lines, truncated, path } = result;
  const numbered = String(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => `${String(Number(from) + index).padStart(6)}\t${line}`)
    .join('\n');
  const whole = from === 1 && to === lines && truncated !== true;
  const empty = lines === 0;
  return joinLines(
    empty ? `(${path} is empty)` : numbered,
    whole || empty
      ? ''
      : `(lines ${from} to ${to} of ${lines}${Number(to) < Number(lines) ? `; continue with offset ${Number(to) + 1}` : ''}${truncated === true ? '; cut at the size limit' : ''})`,
    remainingFields(result, ['text', 'from', 'to', 'lines', 'truncated', 'path']),
  );
}

function renderFiles(result: Fields): string {
  const names = result['files'] as string[];
  return joinLines(
    names.length > 0 ? names : '(no file matches)',
    result['truncated'] === true ? '(cut: there are more; narrow the pattern or the path)' : '',
    remainingFields(result, ['files', 'truncated']),
  );
}

function renderMatches(result: Fields): string {
  const found = result['matches'] as Json[];
  const lines = found.map((match) => {
    if (!isObject(match)) return JSON.stringify(match);
    return `${match['path']}:${match['line']}:${match['text']}${match['cut'] === true ? ' […]' : ''}`;
  });
  return joinLines(
    lines.length > 0 ? lines : 'longLines' in result ? '' : '(no line matches)',
    result['truncated'] === true ? '(cut: there are more; narrow the pattern or the path)' : '',
    remainingFields(result, ['matches', 'files', 'truncated']),
  );
}

function renderPage(result: Fields): string {
  const { url, title, text, truncated } = result;
  return joinLines(
    `${typeof title === 'string' && title !== '' ? `${title}\n` : ''}${url}`,
    String(text),
    truncated === true ? '(cut at the size limit)' : '',
    remainingFields(result, ['url', 'title', 'text', 'truncated']),
  );
}

/** The answer of an MCP server: its texts, a placeholder for other content, and its data if no text repeats it. */
function renderBlocks(result: Fields): string {
  const content = result['content'] as Json[];
  const data = result['structuredContent'];
  const isRepeated = data !== undefined && content.some((block) => isText(block) && sameJson(block.text, data));
  return joinLines(
    content.map(renderBlock),
    remainingFields(result, ['content', 'isError', ...(isRepeated ? ['structuredContent'] : [])]),
  );
}

const isText = (block: Json): block is { type: 'text'; text: string } =>
  isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';

function renderBlock(block: Json): string {
  if (isText(block)) return block.text;
  if (!isObject(block)) return JSON.stringify(block);
  const { type, mimeType = 'of no stated type', resource } = block;
  if (type === 'image' || type === 'audio') return `(${type}: ${mimeType})`;
  if (type !== 'resource' || !isObject(resource)) return JSON.stringify(block);
  const { uri, text, blob } = resource;
  if (typeof text === 'string') return `(resource ${uri})\n${text}`;
  if (typeof blob === 'string') return `(resource ${uri}: ${resource['mimeType'] ?? 'of no stated type'})`;
  return JSON.stringify(block);
}

const sameJson = (text: string, data: Json): boolean => isDeepStrictEqual(parseJson(text), data);
