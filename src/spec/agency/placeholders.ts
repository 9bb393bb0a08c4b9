const PLACEHOLDER = /\{\{\s*([\w./-]+)\s*\}\}/g;
/** A line that would look like the block of the user's own request. */
const HEADING = /(^|[\n\r\v\f\u0085\u2028\u2029])([^\S\n\r]*)(?=user[^\S\n\r]+request)/giu;

/** The names in a template's placeholders. */
export const placeholdersIn = (template: string): readonly string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!);

/** True if a line of the text begins with the heading of the block of the user's request. */
export const isReservedHeading = (text: string): boolean => text.search(HEADING) >= 0;

/**
 * Replaces each placeholder once; a value is never read as a template. A line that would then begin with "User
 * request" is quoted with "> ", so that only {@link withUserRequest} writes that block.
 */
export function fillTemplate(template: string, valueFor: (name: string) => string): string {
  return quotedHeadings(template.replaceAll(PLACEHOLDER, (_whole, name: string) => valueFor(name)));
}

/** Quotes each line that would begin with "User request" with "> ". */
export const quotedHeadings = (text: string): string =>
  text.replaceAll(HEADING, (_whole, start: string, space: string) => `${start}${space}> `);

/** Appends the block of the user's own request. */
export const withUserRequest = (text: string, request: string): string => `${text}\n\nUser request:\n${request}`;
