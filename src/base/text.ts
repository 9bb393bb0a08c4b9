/** Cyrillic and Greek letters that look like Latin ones. */
const LOOKALIKES = String.raw`[\u0430\u0435\u0456\u0458\u043e\u0440\u0441\u0455\u0443\u0445\u0501\u04bb\u051b\u051d\u0410\u0412\u0415\u0406\u0408\u041a\u041c-\u041e\u0420-\u0423\u0405\u0425\u03bf\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7]`;

/**
 * Characters that could disguise a text: invisible characters (control, zero-width, bidirectional, blank letters and
 * others), and letters that look like Latin ones in a word with Latin letters. `\ufe0f` after an emoji, which chooses
 * its variant, does not count.
 */
const HIDDEN = new RegExp(
  String.raw`(?!(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]|${LOOKALIKES}(?:(?<=\p{Script=Latin}\p{L}{1,20})|(?=\p{L}{0,20}\p{Script=Latin}))`,
  'gu',
);

/** Text on one line with all invisible characters and disguised letters escaped: `a\nb` becomes `a\u{a}b`. */
export const escapeInvisible = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** {@link escapeInvisible} for a text of several lines; a tab becomes four spaces. */
export const escapeInvisibleInLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => escapeInvisible(line.replaceAll('\t', '    ')))
    .join('\n');

/** Codes of a terminal's colours (SGR). */
const COLOURS = /\u001b\[[\d;:]*m/g;
/** The allowed codes: weights and foreground colours. Concealed text and background colours could hide text. */
const HARMLESS = /^\u001b\[(?:;|(?:[0-479]|2[2-479]|3[1-79]|9[1-7])(?=[;m]))*m$/;

/** A program's output as plain text: without colours, and with spaces instead of tabs. */
export const stripTerminalColours = (output: string): string => output.replaceAll(COLOURS, '').replaceAll('\t', '    ');

/** {@link escapeInvisible} for a line of a program. Keeps tabs and, with `inColour`, colours up to the line's end. */
export function escapeTerminalLine(line: string, inColour: boolean): string {
  const parts = line.split(/(\u001b\[[\d;:]*m|\t)/).map((part, at) => {
    if (at % 2 === 0) return escapeInvisible(part);
    return part === '\t' || (inColour && HARMLESS.test(part)) ? part : '';
  });
  const hasColours = parts.some((part) => part.startsWith('\u001b'));
  return parts.join('') + (hasColours ? '\u001b[0m' : '');
}

/** Equivalent JSON in which invisible characters are escaped. JSON itself escapes control characters below U+0020. */
export const escapeInvisibleInJson = (json: string): string =>
  json.replace(HIDDEN, (char) =>
    char < ' ' ? char : char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

/** {@link escapeInvisible}, cut to `length` characters. */
export function excerpt(text: string, length: number): string {
  // Each character is one or two UTF-16 units, so the rest of the text is not needed.
  const chars = [...escapeInvisible(text.slice(0, 2 * length))];
  if (chars.length <= length && text.length <= 2 * length) return chars.join('').toWellFormed();
  return `${chars
    .slice(0, length - 1)
    .join('')
    .toWellFormed()}…`;
}

/** Text cut to `most` UTF-16 units, with an ellipsis instead of the rest. */
export const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;

export const quoteShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** One word of a POSIX shell, in quotes only if it needs them. */
export const toShellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteShell(word));

/**
 * A count with its noun.
 *
 * @example plural(1, 'line') // "1 line"
 * @example plural(2, 'entry', 'entries') // "2 entries"
 */
export const plural = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : nouns}`;

/** The message of an error; of anything else that was thrown, its text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The words of a list that is written as text, without quotes and commas. */
export const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/);

/** A text as sentences: it begins with a capital letter and ends with a period, unless it has an end mark. */
export const toSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) || text === '' ? '' : '.'}`;

/** True for a text without a visible character: only blanks, controls and characters of no width. */
export const isBlank = (value: unknown): boolean =>
  typeof value === 'string' && !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(value);
