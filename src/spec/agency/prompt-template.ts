const PLACEHOLDER = /\{\{\s*([\w./-]+)\s*\}\}/g;
/** Matches a line that looks like the heading of a block that hopgate writes: the user's request, or context. */
const HEADING =
  /(^|[\n\r\v\f\u0085\u2028\u2029])([^\S\n\r]*)(?=user[^\S\n\r]+request|context[^\S\n\r]*:[^\S\n\r]*(?:files|last-turns|evidence)\b)/giu;

export const placeholdersIn = (template: string): readonly string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!);

/** True if a line of the text imitates the heading of a block that hopgate writes. */
export const isReservedHeading = (text: string): boolean => text.search(HEADING) >= 0;

/** Replaces each placeholder once. A line that imitates hopgate's headings is quoted with "> ". */
export function fillTemplate(template: string, valueFor: (name: string) => string): string {
  return quotedHeadings(template.replaceAll(PLACEHOLDER, (_whole, name: string) => valueFor(name)));
}

/** Quotes each line that imitates the heading of a block of hopgate with "> ". */
export const quotedHeadings = (text: string): string =>
  text.replaceAll(HEADING, (_whole, start: string, space: string) => `${start}${space}> `);

/** Appends the block of the user's own request. */
export const withUserRequest = (text: string, request: string): string => `${text}\n\nUser request:\n${request}`;
