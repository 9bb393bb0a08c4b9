/** A name, or one with a single `*` in it: what most masks are. */
const PLAIN = /^[\w.~-]*\*?[\w.~-]*$/;
/** The beginning of a name, and what may not come behind it: names, or their ends. */
const ALL_BUT = /^([\w.~-]+)!\((\*?[\w.~-]+(?:\|\*?[\w.~-]+)*)\)$/;

/**
 * A mask as a test of a path's names; null where it needs the language of globs, which takes longer to load than a decision takes. Says of every
 * path what picomatch says of the mask and of the mask with `/**` behind it (a test holds it to that); of a folder's name that may not go on in some
 * ways (`.env.!(example)`) it says the same as of a file's.
 *
 * @param glob root-relative, without a slash at its ends; `**` + `/name` (or more names) at any depth
 */
export function plainMask(glob: string): ((names: readonly string[]) => boolean) | null {
  const parts = glob.split('/');
  const floats = parts[0] === '**';
  if (floats) parts.shift();
  const tests = parts.map(nameTest);
  if (!tests.every((test) => test !== null)) return null;
  if (tests.length === 0) return null;
  const fits = (names: readonly string[], at: number) =>
    names.length >= at + tests.length && tests.every((test, i) => test(lower(names[at + i] as string)));
  return floats ? (names) => names.some((_, at) => fits(names, at)) : (names) => fits(names, 0);
}

function nameTest(pattern: string): ((name: string) => boolean) | null {
  const [, start, but] = ALL_BUT.exec(lower(pattern)) ?? [];
  if (start !== undefined && but !== undefined) {
    const excepted = but.split('|').map((each) => nameTest(each));
    if (excepted.includes(null)) return null;
    return (name) => name.startsWith(start) && !excepted.some((isIt) => isIt!(name.slice(start.length)));
  }
  if (!PLAIN.test(pattern) || /^[.*]*$/.test(pattern)) return null;
  const [before = '', after] = lower(pattern).split('*');
  if (after === undefined) return (name) => name === before;
  return (name) => name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

/** ASCII alone, as a regular expression without `u` ignores case in a pattern of ASCII. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
