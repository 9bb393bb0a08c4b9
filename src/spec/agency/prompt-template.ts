const PLACEHOLDER = /\{\{\s*([\w./-]+)\s*\}\}/g;
/** Matches a line that looks like the heading of a block that hopgate writes: the user's request, or context. */
const HEADING =
  /(^|[\n\r\v\f\u0085\u2028\u2029])([^\S\n\r\v\f\u2028\u2029]*)(?=user[^\S\n\r]+request|context[^\S\n\r]*:[^\S\n\r]*(?:files|last-turns|evidence)\b)/giu;

export const findPlaceholders = (template: string): readonly string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!);

export const hasHopgateHeading = (text: string): boolean => text.search(HEADING) >= 0;

/** Replaces each placeholder once. A line that imitates hopgate's headings is quoted with "> ". */
export const fillPromptTemplate = (template: string, valueFor: (name: string) => string): string =>
  quoteHopgateHeadings(template.replaceAll(PLACEHOLDER, (_whole, name: string) => valueFor(name)));

/** Quotes each line that imitates the heading of a block of hopgate with "> ". */
export const quoteHopgateHeadings = (text: string): string =>
  text.replaceAll(HEADING, (_whole, start: string, space: string) => `${start}${space}> `);

export const appendUserRequest = (text: string, request: string): string => `${text}\n\nUser request:\n${request}`;
