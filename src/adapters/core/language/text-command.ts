/** A line of an agent: a command for the world, a message to somebody, or a request to leave the world. */
export type TextCommand =
  | { readonly kind: 'world'; readonly command: string }
  | { readonly kind: 'bell' | 'whistle'; readonly to: string; readonly message: string }
  | { readonly kind: 'hop-out'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The first word of every command that an ALFWorld game may know. */
const VERBS: ReadonlySet<string> = new Set(
  'look inventory help examine go open close take move put clean heat cool use slice'.split(' '),
);

/** An address such as `joe`, `agent:codex` or `session:s-1`. "joe:" begins a sentence, not an address. */
const NAME = /^@?([A-Za-z0-9](?:[A-Za-z0-9._/:-]{0,126}[A-Za-z0-9])?)$/;

/**
 * Reads one line: `bell NAME "…"`, `whistle NAME "…"`, `hop-out "…"`, or a command of the world. A leading `> ` is
 * allowed. In quotes, `\"` is a quote, `\\` a backslash and `\n` a new line. The line must contain nothing else: a
 * sentence about a bell is not a bell. null for any other text.
 */
export function readTextCommand(line: string): TextCommand | null {
  const text = line.trim().replace(/^>\s*/, '');
  if (/[\r\n]/.test(text)) return null;
  const [, word = '', rest = ''] = /^(\S+)\s*(.*)/s.exec(text) ?? [];
  if (word === 'hop-out') {
    if (rest !== '' && !rest.startsWith('"')) return null;
    const reason = readQuoted(rest);
    return typeof reason === 'string' ? { kind: 'hop-out', reason } : unreadable('hop-out "the reason"', reason.why);
  }
  if (word === 'bell' || word === 'whistle') {
    const [, name = '', tail = ''] = /^(\S+)\s*(.*)/s.exec(rest) ?? [];
    const to = NAME.exec(name)?.[1];
    // "bell joe about it" is ordinary text; a message has quotes, even if its end was cut off.
    if (to === undefined || (tail !== '' && !tail.startsWith('"'))) return null;
    const message = readQuoted(tail);
    return typeof message === 'string'
      ? { kind: word, to, message }
      : unreadable(`${word} ${to} "the message"`, message.why);
  }
  return VERBS.has(word) && text.length <= 200 ? { kind: 'world', command: text } : null;
}

const unreadable = (form: string, why: string): TextCommand => ({ kind: 'unreadable', why: `${why}; write: ${form}` });

function readQuoted(text: string): string | { readonly why: string } {
  if (!text.startsWith('"')) return { why: 'the quotes are missing' };
  let content = '';
  for (let i = 1; i < text.length; i++) {
    const character = text[i]!;
    if (character === '"') {
      if (text.slice(i + 1).trim() !== '') return { why: 'something follows the closing quote' };
      return content.trim() === '' ? { why: 'the quotes are empty' } : content;
    }
    if (character !== '\\') content += character;
    else {
      const next = text[++i];
      if (next !== '"' && next !== '\\' && next !== 'n') return { why: 'a backslash escapes only ", \\ and n' };
      content += next === 'n' ? '\n' : next;
    }
  }
  return { why: 'the closing quote is missing' };
}

/** Writes a text so that {@link readTextCommand} reads it again. */
export const quoteWord = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
