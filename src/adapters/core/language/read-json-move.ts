import { isObject, parseJson } from '../../../base/json.ts';
import { type ModelCallArguments, readCallArguments } from '../calls/control-calls.ts';

/** A call that an agent wrote as text, because its model has no tool calls. */
export interface JsonMove {
  readonly name: string;
  readonly input: ModelCallArguments;
}

const FENCE = /^ {0,3}```[ \t]*(?:([\w-]+)[ \t]*)?\n([\s\S]*?)^ {0,3}```[ \t]*$/gm;

/**
 * Reads a call from an agent's text: `{"hop": "edit", "reason": …}`, `{"mode": …}`, or `{"tool": …, "args":
 * {…}}` (also with `name`, `arguments` or `input`, or as a chat API's `{"function": {…}}`). It must be the whole
 * message, or its only fenced block, and strict JSON. null if there is none.
 */
export function readJsonMove(text: string): JsonMove | null {
  const json = jsonIn(text);
  return json === null ? null : moveOf(json);
}

/** True if a text begins like a call. If `readJsonMove` cannot read it, the agent needs a hint. */
export const looksLikeJsonMove = (text: string): boolean =>
  /^\{\s*"(?:hop|mode|tool|name|function)"\s*:/.test(jsonIn(text) ?? '');

/** The text that may be a call: the whole message, or its only block; null if there is none. */
function jsonIn(text: string): string | null {
  if (typeof text !== 'string') return null;
  const whole = text.trim();
  if (whole.startsWith('{')) return whole;
  const blocks = [...text.matchAll(FENCE)];
  const [block] = blocks;
  if (!block || blocks.length > 1 || (text.match(/^ {0,3}```/gm) ?? []).length !== 2) return null;
  return ['', 'json'].includes((block[1] ?? '').toLowerCase()) ? (block[2] ?? '').trim() : null;
}

function moveOf(json: string): JsonMove | null {
  const fields = parseFields(json);
  if (!fields) return null;
  const { hop, mode } = fields;
  if (typeof hop === 'string') return { name: 'hop', input: fields };
  if (isObject(hop)) return { name: 'hop', input: hop };
  if (typeof mode === 'string') {
    const { mode: to, ...rest } = fields;
    return { name: 'mode', input: { ...rest, to: to ?? '' } };
  }
  if (isObject(mode)) return { name: 'mode', input: mode };
  return callOf(isObject(fields['function']) ? fields['function'] : fields);
}

/** A call by the tool's name. Some models write the arguments as JSON within a string, as chat APIs do. */
function callOf({ tool, name = tool, ...rest }: ModelCallArguments): JsonMove | null {
  if (typeof name !== 'string' || name === '') return null;
  const args = rest['args'] ?? rest['arguments'] ?? rest['input'] ?? rest['parameters'] ?? {};
  const input = typeof args === 'string' ? parseFields(args) : args;
  return isObject(input) ? { name, input } : null;
}

function parseFields(json: string): ModelCallArguments | null {
  const value: unknown = parseJson(json);
  return isObject(value) ? readCallArguments(value) : null;
}
