export { excerpt, visible } from '../base/text.ts';

/** What JSON leaves as it is, and a terminal may obey or hide. */
const UNESCAPED =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** JSON that means the same and holds nothing that does not show. */
export const visibleJson = (json: string): string =>
  json.replace(UNESCAPED, (char) =>
    char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

/** A word as a shell takes it: quoted where it has to be. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
