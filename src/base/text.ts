/** Control, zero-width, bidirectional, tag and other characters that do not show: with them a text could look like another one. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text on one line with everything that does not show escaped: `a\nb` becomes `a\u{a}b`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** {@link visible}, cut to `length` characters. */
export function excerpt(text: string, length: number): string {
  // Each character is one or two units; what lies beyond is never looked at.
  const chars = [...visible(text.slice(0, 2 * length))];
  if (chars.length <= length && text.length <= 2 * length) return chars.join('').toWellFormed();
  return `${chars
    .slice(0, length - 1)
    .join('')
    .toWellFormed()}…`;
}
