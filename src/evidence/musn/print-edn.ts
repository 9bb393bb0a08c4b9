/** An EDN keyword: the name `a` prints as `:a`. */
class Keyword {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A printable value: JSON that may contain keywords. */
export type EdnValue =
  | string
  | number
  | boolean
  | null
  | Keyword
  | readonly EdnValue[]
  | { readonly [key: string]: EdnValue };

const NAME = /^[A-Za-z_][\w.*+!?-]*(?:\/[A-Za-z_][\w.*+!?-]*)?$/;

/** Returns an EDN keyword if the text is a valid keyword name, else the text. */
export const toKeywordIfValid = (text: string): Keyword | string => (NAME.test(text) ? new Keyword(text) : text);

/**
 * Prints one EDN form on one line. Arrays become vectors; objects become maps whose keys are keywords where possible.
 * Reading it back, with each keyword as its name, gives the same value; -0 becomes 0.
 *
 * @example printEdn({ 'evidence/type': new Keyword('coordination') }) // {:evidence/type :coordination}
 */
export function printEdn(value: EdnValue): string {
  if (value === null) return 'nil';
  if (value instanceof Keyword) return `:${value.name}`;
  if (typeof value === 'string') return printString(value);
  if (typeof value === 'number') return printNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(printEdn).join(' ')}]`;
  const pairs = Object.entries(value as { readonly [key: string]: EdnValue });
  return `{${pairs.map(([key, member]) => `${printEdn(toKeywordIfValid(key))} ${printEdn(member)}`).join(', ')}}`;
}

const ESCAPES: { readonly [char: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

const printString = (text: string): string => `"${text.replace(/["\\\n\r\t]/g, (char) => ESCAPES[char]!)}"`;

/** Integers beyond 2^53 are printed as floats, because EDN would read them as big integers. */
const printNumber = (value: number): string =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
