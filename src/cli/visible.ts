/** Control, zero-width and bidirectional characters: they could make a terminal show something else than what is there. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Text on one line with everything that does not show escaped: `a\nb` becomes `a\u{a}b`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** {@link visible}, cut to `length` characters. */
export function excerpt(text: string, length: number): string {
  const chars = [...visible(text)];
  return chars.length <= length ? chars.join('') : `${chars.slice(0, length - 1).join('')}…`;
}

/** A word as a shell takes it: quoted where it has to be. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
