import { valueOr } from '../../base/value-or.ts';
import type { EdnProblem } from './edn-node.ts';

export interface EdnToken {
  readonly kind: 'open' | 'close' | 'string' | 'char' | 'atom' | 'tag' | 'discard';
  /** The original text, including quotes. */
  readonly text: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

// The patterns of the tokens. They are sticky, so that each match begins where the last one ended. An atom ends before
// a bracket, a quote, a comment or a set.
const FORMS: readonly (readonly [EdnToken['kind'] | 'blank', RegExp])[] = [
  ['blank', /[\s,]+|;[^\n]*/y],
  ['open', /#\{|[([{]/y],
  ['close', /[)\]}]/y],
  ['string', /"(?:[^"\\]|\\[\s\S])*"/y],
  ['char', /\\(?:[^\s,()[\]{}";\\]+|[\s\S])/y],
  ['discard', /#_/y],
  ['tag', /#[^\s,()[\]{}";#\\]+/y],
  ['atom', /(?:[^\s,()[\]{}";#\\]|(?<=[^\s,()[\]{}";\\])#(?!\{))+/y],
];

/** Splits EDN text into tokens; comments and white space are dropped. */
export function tokenizeEdn(text: string): { tokens: EdnToken[]; problem: EdnProblem | null } {
  const tokens: EdnToken[] = [];
  let offset = 0;
  let line = 1;
  let lineStart = 0;
  while (offset < text.length) {
    const position = { line, column: offset - lineStart + 1 };
    // A regular expression that runs out of stack throws.
    const found = valueOr(() => matchAt(text, offset), undefined);
    if (!found) {
      const stray = text[offset] === '"' ? 'a string has no closing "' : `stray ${JSON.stringify(text[offset])}`;
      const message = found === null ? stray : 'this is too long for EDN; write it as JSON';
      return { tokens, problem: { ...position, message } };
    }
    if (found.kind !== 'blank') tokens.push({ kind: found.kind, text: found.text, offset, ...position });
    for (let at = found.text.indexOf('\n'); at >= 0; at = found.text.indexOf('\n', at + 1)) {
      line++;
      lineStart = offset + at + 1;
    }
    offset += found.text.length;
  }
  return { tokens, problem: null };
}

function matchAt(text: string, offset: number): { kind: EdnToken['kind'] | 'blank'; text: string } | null {
  for (const [kind, pattern] of FORMS) {
    pattern.lastIndex = offset;
    const match = pattern.exec(text);
    if (match) return { kind, text: match[0] };
  }
  return null;
}
