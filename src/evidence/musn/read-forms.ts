import { type Fields, isObject, type Json, parseJson } from '../../base/json.ts';
import { type EdnNode, type EdnProblem, ednIdentityOf } from '../../spec/edn/edn-node.ts';
import { ednToPlain } from '../../spec/edn/edn-to-plain.ts';
import { parseEdn } from '../../spec/edn/read-edn.ts';

export interface ImportFormProblem {
  readonly path: string;
  readonly message: string;
}

type ReadForms =
  | { readonly ok: true; readonly forms: readonly Fields[] }
  | { readonly ok: false; readonly problems: readonly ImportFormProblem[] };

/**
 * Reads the forms of an export: JSON (a value, a list, one per line, or a page that `hopgate activity --json` printed)
 * or EDN (a form, a collection, a sequence).
 */
export function readForms(text: string): ReadForms {
  const json = readJson(text);
  const read = json === null ? readEdnForms(text) : { ok: true as const, values: json };
  if (!read.ok) return STARTS_AS_JSON.test(text) ? { ok: false, problems: [jsonProblem(text)] } : read;
  const [only] = read.values.length === 1 ? read.values : [];
  const list = isObject(only) && 'next' in only ? (only['entries'] ?? only['events']) : only;
  const values = Array.isArray(list) ? list : read.values;
  const problems = values.flatMap((value, index) =>
    !isObject(value) ? [{ path: `[${index}]`, message: 'must be an entry or an event, a map' }] : [],
  );
  if (values.length === 0) return { ok: false, problems: [{ path: '', message: 'there is nothing to read' }] };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, forms: values as { [key: string]: Json }[] };
}

function readJson(text: string): Json[] | null {
  const whole = parseJson(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map((line) => parseJson(line));
  return values.includes(undefined) ? null : (values as Json[]);
}

const STARTS_AS_JSON = /^\s*(?:\[\s*)?\{\s*"[^"]*"\s*:/;

/** The problem of a text that is not JSON. If its first line is JSON, the problem of the first line that is not. */
function jsonProblem(text: string): ImportFormProblem {
  const lines = text.split('\n');
  const isByLine = parseJson(lines[0]!) !== undefined;
  const at = lines.findIndex((line) => line.trim() !== '' && parseJson(line) === undefined);
  let message = '';
  try {
    JSON.parse(isByLine ? lines[at]! : text);
  } catch (error) {
    ({ message } = error as Error);
  }
  return { path: isByLine ? `line ${at + 1}` : '', message: `is not JSON: ${message}` };
}

function readEdnForms(text: string): { ok: true; values: Json[] } | { ok: false; problems: ImportFormProblem[] } {
  const single = parseEdn(text);
  // The brackets join several forms to one; the line break ends a trailing comment.
  const many = single.ok ? single : parseEdn(`[${text}\n]`);
  if (!many.ok) {
    const isOne = !single.ok && !single.problems.some(({ message }) => message.startsWith('a second form'));
    return {
      ok: false,
      problems: isOne
        ? single.problems.map((problem) => formProblemOf(problem))
        : many.problems.map((problem) => formProblemOf(problem, 1)),
    };
  }
  const { value, problems } = ednToPlain(withoutTags(many.node));
  if (problems.length > 0)
    return { ok: false, problems: problems.map((problem) => formProblemOf(problem, single.ok ? 0 : 1)) };
  return { ok: true, values: single.ok ? [value as Json] : (value as Json[]) };
}

/** @param shift number of characters that were inserted before the text */
const formProblemOf = ({ line, column, message }: EdnProblem, shift = 0): ImportFormProblem => ({
  path: `line ${line}, column ${line === 1 ? column - shift : column}`,
  message,
});

/** Replaces `#inst "…"` and `#uuid "…"` by their strings. */
function withoutTags(node: EdnNode): EdnNode {
  switch (node.kind) {
    case 'tagged':
      return ['inst', 'uuid'].includes(node.tag) && node.form.kind === 'string' ? node.form : node;
    case 'map':
      return { ...node, entries: node.entries.map(([key, value]) => [key, withoutTags(value)] as const) };
    case 'set':
      return {
        ...node,
        items: node.items.toSorted((a, b) => (ednIdentityOf(a) < ednIdentityOf(b) ? -1 : 1)).map(withoutTags),
      };
    case 'list':
    case 'vector':
      return { ...node, items: node.items.map(withoutTags) };
    default:
      return node;
  }
}
