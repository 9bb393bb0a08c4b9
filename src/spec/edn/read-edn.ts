import { parseEDNString } from 'edn-data';
import { MAX_YAML_NESTING } from '../policy/limits.ts';
import { type EdnNode, type EdnProblem, ednIdentityOf } from './edn-node.ts';
import { type EdnToken, tokenizeEdn } from './tokenize-edn.ts';

const CLOSES: { readonly [open: string]: string } = { '{': '}', '#{': '}', '[': ']', '(': ')' };
const NUMBER = /^[-+]?(?:0|[1-9][0-9]*)(?:N|M|(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?M?)$/;
const SYMBOL = /^(?:\/|[A-Za-z.*+!\-_?$%&=<>][\w.*+!\-?$%&=<>:#']*(?:\/[A-Za-z.*+!\-_?$%&=<>][\w.*+!\-?$%&=<>:#']*)?)$/;
const CHAR = /^\\(?:newline|return|space|tab|u[0-9a-fA-F]{4}|[\s\S])$/u;

/**
 * Reads exactly one EDN form, strictly: unbalanced brackets, a second form, a map with a key and no value, duplicate
 * keys, duplicate members of a set and malformed atoms are problems with line and column. `edn-data`, which decodes the
 * atoms, would accept all of them.
 */
export function parseEdn(text: string): { ok: true; node: EdnNode } | { ok: false; problems: EdnProblem[] } {
  const { tokens, problem } = tokenizeEdn(text);
  if (problem) return { ok: false, problems: [problem] };
  const reader = new Reader(tokens);
  try {
    const node = reader.readAll();
    return reader.problems.length === 0 ? { ok: true, node } : { ok: false, problems: reader.problems };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { ok: false, problems: [...reader.problems, error.problem] };
  }
}

class Malformed extends Error {
  readonly problem: EdnProblem;
  constructor(at: { line: number; column: number }, message: string) {
    super(message);
    this.problem = { line: at.line, column: at.column, message };
  }
}

const nestedTooDeeply = (token: EdnToken): Malformed =>
  new Malformed(token, `nested deeper than ${MAX_YAML_NESTING} forms`);

class Reader {
  readonly problems: EdnProblem[] = [];
  readonly #tokens: readonly EdnToken[];
  #next = 0;

  constructor(tokens: readonly EdnToken[]) {
    this.#tokens = tokens;
  }

  readAll(): EdnNode {
    const first = this.#form(0, null);
    if (first === null) throw new Malformed({ line: 1, column: 1 }, 'there is nothing to read');
    const extra = this.#form(0, null);
    if (extra) throw new Malformed(extra, 'a second form follows; put everything into one map');
    return first;
  }

  /** Reads the next form; null at the end of the text or before the closing bracket of `within`. */
  #form(depth: number, within: EdnToken | null): EdnNode | null {
    for (;;) {
      const token = this.#tokens[this.#next];
      if (token === undefined) {
        if (within) throw new Malformed(within, `"${within.text}" is never closed`);
        return null;
      }
      if (token.kind === 'close') {
        if (within && CLOSES[within.text] === token.text) return null;
        const expected = within ? `; "${within.text}" of line ${within.line} is open` : '; nothing is open';
        throw new Malformed(token, `unexpected "${token.text}"${expected}`);
      }
      this.#next++;
      if (token.kind === 'discard') {
        if (depth > MAX_YAML_NESTING) throw nestedTooDeeply(token);
        if (this.#form(depth + 1, within) === null) throw new Malformed(token, 'no form follows #_');
        continue;
      }
      return this.#begin(token, depth, within);
    }
  }

  #begin(token: EdnToken, depth: number, within: EdnToken | null): EdnNode {
    if (depth > MAX_YAML_NESTING) throw nestedTooDeeply(token);
    if (token.kind === 'open') return this.#collection(token, depth);
    if (token.kind === 'tag') {
      const form = this.#form(depth + 1, within);
      if (form === null) throw new Malformed(token, `no form follows the tag ${token.text}`);
      return { kind: 'tagged', tag: token.text.slice(1), form, line: token.line, column: token.column };
    }
    return atom(token);
  }

  #collection(token: EdnToken, depth: number): EdnNode {
    const items: EdnNode[] = [];
    for (let item = this.#form(depth + 1, token); item; item = this.#form(depth + 1, token)) items.push(item);
    this.#next++;
    const position = { line: token.line, column: token.column };
    if (token.text === '[') return { kind: 'vector', items, ...position };
    if (token.text === '(') return { kind: 'list', items, ...position };
    if (token.text === '#{') {
      this.#noDuplicates(items, 'is twice in the set');
      return { kind: 'set', items, ...position };
    }
    const last = items.at(-1);
    if (items.length % 2 === 1 && last) {
      this.problems.push({ line: last.line, column: last.column, message: 'this key of the map has no value' });
      items.pop();
    }
    const entries = items.flatMap((key, index) => (index % 2 === 0 ? [[key, items[index + 1]!] as const] : []));
    this.#noDuplicates(
      entries.map(([key]) => key),
      'is twice a key of the map',
    );
    return { kind: 'map', entries, ...position };
  }

  #noDuplicates(items: readonly EdnNode[], what: string): void {
    const seen = new Set<string>();
    for (const item of items) {
      const identity = ednIdentityOf(item);
      if (seen.has(identity))
        this.problems.push({ line: item.line, column: item.column, message: `${identity} ${what}` });
      seen.add(identity);
    }
  }
}

function atom(token: EdnToken): EdnNode {
  const position = { line: token.line, column: token.column };
  const { text } = token;
  if (token.kind === 'string') {
    try {
      return { kind: 'string', text: parseEDNString(text) as string, ...position };
    } catch (error) {
      throw new Malformed(token, (error as Error).message);
    }
  }
  if (token.kind === 'char') {
    if (!CHAR.test(text)) throw new Malformed(token, `${text} is not a character`);
    return { kind: 'char', text: charOf(text), ...position };
  }
  if (text === 'nil') return { kind: 'nil', ...position };
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true', ...position };
  if (text.startsWith(':') && SYMBOL.test(text.slice(1)) && text !== ':/')
    return { kind: 'keyword', text: text.slice(1), ...position };
  if (NUMBER.test(text)) return { kind: 'number', value: parseEDNString(text) as number | bigint, ...position };
  if (SYMBOL.test(text) && !/^[-+.]?[0-9]/.test(text)) return { kind: 'symbol', text, ...position };
  throw new Malformed(token, `${text} is not EDN`);
}

/** Reads a single character such as `\(`, because `edn-data` cannot. */
function charOf(text: string): string {
  const rest = text.slice(1);
  return [...rest].length === 1 ? rest : (parseEDNString(text, { charAs: 'string' }) as string);
}
