/** A compiled glob. It tests a path that is split into its names. */
export type Glob = (names: readonly string[]) => boolean;

/** Maximum number of alternatives to which braces may expand a pattern. */
const MAX_ALTERNATIVES = 64;

/**
 * Compiles a glob. `*` and `?` stay within one name. `**` as a whole name spans folders. `[a-z]`, `[!a]` and `{a,b}`
 * mean the same as in a shell. `name!(a|*b)` at the end of a name matches names that do not continue with `a` or `*b`.
 * Names that begin with a dot are like others; case matters. A name that equals the pattern's text always matches:
 * `[id].pem` is a file's name too.
 *
 * A match always takes time proportional to pattern × path. Libraries compile globs to regular expressions, which
 * backtrack, and both patterns and paths come from untrusted repositories.
 * @throws Error with {@link globProblem} as its message
 */
export const compileGlob = (pattern: string): Glob => compileGlobAlternatives(expandGlob(pattern));

/** Compiles globs without braces into one glob, which matches a path if any of the given globs matches. */
export function compileGlobAlternatives(alternatives: readonly string[]): Glob {
  const compiled = alternatives.map((each) => each.split('/').map(compileName));
  return (names) => compiled.some((parts) => matches(parts, names, GLOBSTAR, (part, name) => part(name)));
}

/**
 * The ways to read a pattern: with its braces expanded, and with its braces as part of a name.
 * @throws Error with {@link globProblem} as its message
 */
export function expandGlob(pattern: string): readonly string[] {
  const expanded = expandBraces(pattern);
  const problem = globProblem(pattern, expanded);
  if (problem !== null) throw new Error(`the pattern "${pattern}" ${problem}`);
  return [...new Set([...expanded, pattern])];
}

/** Explains why a pattern cannot be compiled, as a phrase that follows its name; null if it can. */
export function globProblem(pattern: string, expanded: readonly string[] = expandBraces(pattern)): string | null {
  if (expanded.length > MAX_ALTERNATIVES) return `has more than ${MAX_ALTERNATIVES} alternatives in {…}`;
  if (/\[\[:\w+:\]/.test(pattern)) return 'contains a class such as [:alpha:]; write its characters, such as a-z';
  if (!pattern.includes('(')) return null;
  const rest = expanded.map((each) => each.replace(/(?<=^|\/)[^/*?[(]*!\([^()/]*\)(?=\/|$)/g, ''));
  return rest.some((each) => /[!@+*?]\(|\([^()]*\|/.test(each)) || /!\([^)]*[{}]/.test(pattern)
    ? 'contains an extended glob; the only supported one is name!(a|b) at the end of a name'
    : null;
}

type NameTest = (name: string) => boolean;
const GLOBSTAR: NameTest = () => true;

/** The test of one character of a name; STAR accepts any number of characters. */
type CharacterTest = (character: string) => boolean;
const STAR: CharacterTest = () => true;
const ANY: CharacterTest = () => true;

function compileName(pattern: string): NameTest {
  if (pattern === '**') return GLOBSTAR;
  if (!/[*?[(]/.test(pattern)) return (name) => name === pattern;
  // `endsWith` saves a regular expression: hundreds of names are compiled for each hook, and few end with an exception.
  const [, start, but] = (pattern.endsWith(')') && /^(.*)!\(([^()]*)\)$/s.exec(pattern)) || [];
  if (start !== undefined && but !== undefined && !/[*?[]/.test(start)) {
    const excepted = but.split('|').map(compileName);
    return (name) =>
      name === pattern || (name.startsWith(start) && !excepted.some((test) => test(name.slice(start.length))));
  }
  const parts = charactersOf(pattern);
  return (name) => name === pattern || matches(parts, name, STAR, (part, character) => part(character));
}

function charactersOf(pattern: string): CharacterTest[] {
  const parts: CharacterTest[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    const set = character === '[' ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(at)) : null;
    if (set) {
      parts.push(setTest(set[2]!, set[1] !== ''));
      at += set[0].length - 1;
    } else if (character === '*') {
      if (parts.at(-1) !== STAR) parts.push(STAR);
    } else parts.push(character === '?' ? ANY : (each) => each === character);
  }
  return parts;
}

/** Tests if a character is in a set such as `a-z_`; with `negated`, if it is not. */
function setTest(set: string, negated: boolean): CharacterTest {
  return (character) => {
    let isIn = false;
    for (let at = 0; at < set.length && !isIn; at++) {
      const isRange = set[at + 1] === '-' && at + 2 < set.length;
      isIn = isRange ? character >= set[at]! && character <= set[at + 2]! : character === set[at];
      if (isRange) at += 2;
    }
    return isIn !== negated;
  };
}

/** True if items match the parts of a pattern. A part `many` matches any number of items, as few as possible. */
function matches<Part, Item>(
  parts: readonly Part[],
  items: ArrayLike<Item>,
  many: Part,
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let [part, item, manyAt, taken] = [0, 0, -1, 0];
  while (item < items.length) {
    if (part < parts.length && parts[part] === many) {
      [manyAt, taken] = [part, item];
      part++;
    } else if (part < parts.length && fits(parts[part]!, items[item]!)) {
      part++;
      item++;
    } else if (manyAt >= 0) {
      part = manyAt + 1;
      item = ++taken;
    } else return false;
  }
  while (part < parts.length && parts[part] === many) part++;
  return part === parts.length;
}

/** Expands `a{b,c{d,e}}` to `ab`, `acd`, `ace`, and `{1..3}` to `1`, `2`, `3`, up to one more than the limit. */
export function expandBraces(pattern: string): string[] {
  if (!pattern.includes('{')) return [pattern];
  const done: string[] = [];
  const open = [pattern];
  for (let each = open.pop(); each !== undefined && done.length <= MAX_ALTERNATIVES; each = open.pop()) {
    const braces = firstBraces(each);
    if (braces === null) done.push(each);
    else {
      const { start, end, parts } = braces;
      if (parts.length > MAX_ALTERNATIVES) return parts;
      for (const part of parts.toReversed()) open.push(each.slice(0, start) + part + each.slice(end + 1));
    }
  }
  return done;
}

/** The first pair of braces that directly contains a comma or a range, and its alternatives. */
function firstBraces(text: string): { readonly start: number; readonly end: number; readonly parts: string[] } | null {
  const stack: { start: number; commas: number[] }[] = [];
  let first: { start: number; end: number; parts: string[] } | null = null;
  for (const { 0: mark, index: at } of text.matchAll(/[{,}]/g)) {
    if (mark === '{') stack.push({ start: at, commas: [] });
    else if (mark === ',') stack.at(-1)?.commas.push(at);
    else {
      const braces = stack.pop();
      if (braces === undefined || (first !== null && first.start < braces.start)) continue;
      const bounds = [braces.start, ...braces.commas, at];
      const parts =
        braces.commas.length > 0
          ? bounds.slice(1).map((bound, i) => text.slice(bounds[i]! + 1, bound))
          : rangeOf(text.slice(braces.start + 1, at));
      if (parts !== null) first = { start: braces.start, end: at, parts };
    }
  }
  return first;
}

/** Expands `1..3` to `1`, `2`, `3`, and `c..a` to `c`, `b`, `a`, up to one more than the limit; null if no range. */
function rangeOf(text: string): string[] | null {
  const [, from, to] = /^(\d{1,9}|[a-z])\.\.(\d{1,9}|[a-z])$/i.exec(text) ?? [];
  if (from === undefined || to === undefined || /\d/.test(from) !== /\d/.test(to)) return null;
  const isNumber = /\d/.test(from);
  const [start, end] = [from, to].map((each) => (isNumber ? Number(each) : each.charCodeAt(0))) as [number, number];
  const width = /^0\d/.test(from) || /^0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  return Array.from({ length: Math.min(Math.abs(end - start), MAX_ALTERNATIVES) + 1 }, (_, i) => {
    const each = end < start ? start - i : start + i;
    return isNumber ? `${each}`.padStart(width, '0') : String.fromCharCode(each);
  });
}
