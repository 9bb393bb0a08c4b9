import type { Json } from '../../../spec/types.ts';

/** Characters that a shell interprets. A simple command line has them only within quotes. */
const SYNTAX = '|&;<>()$`*?[';

/** Words at the beginning of a line that is not a simple command, such as `if`. */
const RESERVED =
  'if then elif else fi for while until do done case esac select function time coproc in { } ! [[ ]]'.split(' ');

/** Placeholder for a quoted or escaped part of a word. */
const PROTECTED = '\u0001';

/** Commands whose further words may assign variables. */
const DECLARES = ['declare', 'typeset', 'local', 'export', 'readonly'];

const MAX_LENGTH = 32_768;

interface ReadWord {
  readonly value: string;
  /** The word with {@link PROTECTED} for each part in quotes or behind a backslash. */
  readonly bare: string;
  readonly end: number;
}

/** Splits a simple command line into words: blanks separate, quotes join. null if it has any other shell syntax. */
export function splitSimpleCommand(text: string): readonly string[] | null {
  if (text.length > MAX_LENGTH || text.includes('\0') || text.trim() === '') return null;
  const line = text.replace(/^(?:[ \t\n]|\\\n)+/, '');
  const words: ReadWord[] = [];
  let at = 0;
  while (at < line.length) {
    if (/^[ \t\n]*$/.test(line.slice(at))) break;
    at += /^(?:[ \t]|\\\n)*/.exec(line.slice(at))![0].length;
    const word = readWord(line, at);
    if (word === null || word.end === at || !isPlain(word.bare, words[0]?.bare ?? null)) return null;
    words.push(word);
    at = word.end;
  }
  return words.length === 0 ? null : words.map(({ value }) => value);
}

function readWord(line: string, from: number): ReadWord | null {
  let [value, bare, at] = ['', '', from];
  const add = (text: string, bareText = PROTECTED) => {
    value += text;
    bare += bareText;
  };
  for (; at < line.length && !' \t\n'.includes(line[at]!); at++) {
    const char = line[at]!;
    if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return null;
      add(line.slice(at + 1, end));
      at = end;
    } else if (char === '"') {
      const inside = /^"((?:[^"\\$`]|\\[\s\S])*)"/.exec(line.slice(at));
      if (inside === null) return null;
      add(inside[1]!.replace(/\\([\\"$`\n])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped)));
      at += inside[0].length - 1;
    } else if (char === '\\') {
      at += 1;
      if (line[at] !== '\n') add(line[at] ?? '\\');
    } else if (SYNTAX.includes(char)) return null;
    else add(char, char);
  }
  return { value, bare, end: at };
}

/** True if a shell does not change an unquoted word of a line with this first word (null for the first word itself). */
function isPlain(bare: string, first: string | null): boolean {
  if (bare.startsWith('#') || bare.startsWith('~')) return false;
  // A shell expands ~ behind the first = and behind any later = or colon.
  const [, ...values] = bare.split('=');
  if (values.some((value) => value.startsWith('~')) || values.join('=').includes(':~')) return false;
  const braces = bare.includes('{') ? bare.split('{').slice(1).join('{').split('}').slice(0, -1).join('}') : '';
  if (braces.includes(',') || braces.includes('..')) return false;
  const mayAssign = first === null || DECLARES.includes(first);
  return !(first === null && RESERVED.includes(bare)) && !(mayAssign && /^[A-Za-z_]\w*\+?=/.test(bare));
}

/** The words of an argument that is a list of words or a text; null if it is not a simple command. */
export function readCommandWords(value: Json | undefined): readonly string[] | null {
  if (typeof value === 'string') return splitSimpleCommand(value);
  const isList = Array.isArray(value) && value.length > 0;
  return isList && value.every((word) => typeof word === 'string' && !word.includes('\0')) ? (value as string[]) : null;
}
