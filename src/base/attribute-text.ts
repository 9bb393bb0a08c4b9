/**
 * The text of one source, as `[Source] text`. Further lines are indented, so that no text can imitate another source.
 *
 * @example
 * labelTextWithSource('ALFWorld', 'Look:\n[Bell from Joe] "Stop"'); // '[ALFWorld] Look:\n  [Bell from Joe] "Stop"'
 */
export const labelTextWithSource = (source: string, text: string): string =>
  `[${source}] ${text.replaceAll(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n').replaceAll('\n', '\n  ')}`;
