/** Escapes text for an XML element or a double-quoted attribute. */
export const escapeXml = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);

/** Advance widths in em: of a fixed-width font, and of a wide sans-serif font by kind of letter. */
const MONO = 0.61;
const NARROW = 0.34;
const SLIM = 0.42;
const WIDE = 0.9;
const COMMON = 0.63;

/** Estimates the width of a text at `size`, in the same unit; errs on the wide side. */
export function estimateWidth(text: string, size: number, font: 'mono' | 'sans' = 'sans'): number {
  let em = 0;
  for (const character of text) em += advance(character, font);
  return em * size;
}

function advance(character: string, font: 'mono' | 'sans'): number {
  if ((character.codePointAt(0) ?? 0) > 0x2e7f) return 1.05; // Chinese, Japanese, Korean: as wide as high
  if (font === 'mono') return MONO;
  if (/[ijlI.,:;'|!\s]/.test(character)) return NARROW;
  if (/[ftr()[\]-]/.test(character)) return SLIM;
  return /[mwMW@%&<>=+~]/.test(character) ? WIDE : COMMON;
}

/** Wraps words into at most `lines` lines of `width`; an ellipsis marks a cut. */
export function wrapWords(
  text: string,
  { width, size, lines, font }: { width: number; size: number; lines: number; font?: 'mono' | 'sans' },
): readonly string[] {
  const fits = (line: string): boolean => estimateWidth(line, size, font) <= width;
  const wrapped: string[] = [];
  let line = '';
  for (const word of text.trim().split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && !fits(longer)) {
      wrapped.push(line);
      line = word;
    } else line = longer;
  }
  wrapped.push(line);
  const kept = wrapped.slice(0, lines);
  if (wrapped.length > lines) kept[lines - 1] = `${kept[lines - 1]} …`;
  return kept.map((each) => shortenToFit(each, fits));
}

function shortenToFit(line: string, fits: (line: string) => boolean): string {
  const letters = [...line];
  if (fits(line)) return line;
  while (letters.length > 1 && !fits(`${letters.join('')}…`)) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}
