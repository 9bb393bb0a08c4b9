import { fieldsOf, type Fields } from './controls.ts';

/** A call that an agent wrote as text, because it has no other way. */
export interface JsonMove {
  readonly name: string;
  readonly input: Fields;
}

const FENCE = /^ {0,3}```[ \t]*([\w-]*)[ \t]*\n([\s\S]*?)^ {0,3}```[ \t]*$/gm;

/**
 * A call in an agent's text: the seeds' `{"hop": "edit", "reason": …}`, `{"mode": …}`, or `{"tool": …, "args": {…}}` (`name`, and `arguments` or
 * `input`, do as well). It has to be the whole message, or the one fenced block of it, and strict JSON. null: there is none.
 */
export function readJsonMove(text: string): JsonMove | null {
  if (typeof text !== 'string') return null;
  const whole = text.trim();
  if (whole.startsWith('{')) return moveOf(whole);
  const blocks = [...text.matchAll(FENCE)];
  const [block] = blocks;
  if (!block || blocks.length > 1 || (text.match(/^ {0,3}```/gm) ?? []).length !== 2) return null;
  return ['', 'json'].includes((block[1] ?? '').toLowerCase()) ? moveOf((block[2] ?? '').trim()) : null;
}

function moveOf(json: string): JsonMove | null {
  const fields = parsed(json);
  if (!fields) return null;
  const { hop, mode, tool, name = tool } = fields;
  if (typeof hop === 'string') return { name: 'hop', input: fields };
  if (typeof mode === 'string') {
    const { mode: to, ...rest } = fields;
    return { name: 'mode', input: { ...rest, to: to ?? '' } };
  }
  if (typeof name !== 'string' || name === '') return null;
  const input = fields['args'] ?? fields['arguments'] ?? fields['input'] ?? fields['parameters'] ?? {};
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return null;
  return { name, input };
}

function parsed(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? fieldsOf(value) : null;
  } catch {
    return null;
  }
}
