import type { EntryDraft, Subject } from '../../evidence/entry.ts';
import type { ValidatedQuery } from '../../evidence/evidence-query.ts';

/**
 * Returns the values by which an entry can be found, one per line, as one text. The first letter of a line is the kind
 * of value. Values contain no control characters, so none can imitate a line.
 */
export const facetsOfEntry = ({ type, claim, author, peripheral, tags }: EntryDraft): string =>
  `\nt${type}\nc${claim}\na${author}\np${peripheral ?? ''}\n${tags.map((tag) => `#${tag}\n`).join('')}`;

/** Returns the lines that the facets of an entry must contain if the entry is to match a query. */
export function facetsOfQuery({ type, claim, author, peripheral, tags = [] }: ValidatedQuery): readonly string[] {
  return [
    ...(type === undefined ? [] : [`\nt${type}\n`]),
    ...(claim === undefined ? [] : [`\nc${claim}\n`]),
    ...(author === undefined ? [] : [`\na${author}\n`]),
    ...(peripheral === undefined ? [] : [`\np${peripheral ?? ''}\n`]),
    ...tags.map((tag) => `\n#${tag}\n`),
  ];
}

/** The indexed text of a subject; null if the subject is the entry's own session. */
export const subjectIndexKey = ({ type, id }: Subject, sessionId: string | null): string | null =>
  type === 'session' && id === sessionId ? null : `${type} ${id}`;
