/** A PDDL expression: a symbol in lower case (PDDL ignores case), or a list. */
export type PddlExpression = string | readonly PddlExpression[];

/** Thrown if a text is not a PDDL expression. Its message begins with the line, from 1. */
export class PddlError extends Error {
  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`);
    this.name = 'PddlError';
  }
}

/** Maximum number of nested parentheses in a file. */
const MAX_DEPTH = 200;

/** Reads all expressions of a text; `;` starts a comment. @throws PddlError */
export function parsePddlExpressions(text: string): readonly PddlExpression[] {
  const top: PddlExpression[] = [];
  const open: { list: PddlExpression[]; line: number }[] = [];
  let line = 1;
  for (const [token] of text.matchAll(/\n|;[^\n]*|[()]|[^\s();]+/g)) {
    if (token === '\n') line++;
    else if (token.startsWith(';')) continue;
    else if (token === '(') {
      if (open.length === MAX_DEPTH) throw new PddlError(`more than ${MAX_DEPTH} parentheses are open`, line);
      open.push({ list: [], line });
    } else if (token === ')') {
      const closed = open.pop();
      if (!closed) throw new PddlError('")" closes nothing', line);
      (open.at(-1)?.list ?? top).push(closed.list);
    } else (open.at(-1)?.list ?? top).push(token.toLowerCase());
  }
  const unclosed = open.at(-1);
  if (unclosed) throw new PddlError('"(" is never closed', unclosed.line);
  return top;
}

export const writePddlExpression = (expression: PddlExpression): string =>
  typeof expression === 'string' ? expression : `(${expression.map(writePddlExpression).join(' ')})`;

/** A list `a b - type c - other` as pairs. As in Fast Downward, a comma is a part of the name before it. */
export function readPddlTypedList(list: readonly PddlExpression[]): readonly (readonly [name: string, type: string])[] {
  const pairs: [string, string][] = [];
  let names: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const word = list[i]!;
    if (typeof word !== 'string') continue;
    if (word === '-') {
      const type = list[++i];
      for (const name of names) pairs.push([name, typeof type === 'string' ? type : 'object']);
      names = [];
    } else names.push(word);
  }
  for (const name of names) pairs.push([name, 'object']);
  return pairs;
}
