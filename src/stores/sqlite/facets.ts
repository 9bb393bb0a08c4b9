import type { EntryDraft, Subject } from '../../evidence/entry.ts';
import type { ResolvedQuery } from '../../evidence/evidence-query.ts';

/**
 * Returns the filterable values of an entry as one text, one line per value; its first letter is the kind. Names
 * contain no control characters, so no value can imitate a line.
 */
export const facetsOf = ({ type, claim, author, peripheral, tags }: EntryDraft): string =>
  `\nt${type}\nc${claim}\na${author}\np${peripheral ?? ''}\n${tags.map((tag) => `#${tag}\n`).join('')}`;

/** Returns the lines that an entry's facets must contain to match a query. */
export function facetsInQuery({ type, claim, author, peripheral, tags = [] }: ResolvedQuery): readonly string[] {
  return [
    ...(type === undefined ? [] : [`\nt${type}\n`]),
    ...(claim === undefined ? [] : [`\nc${claim}\n`]),
    ...(author === undefined ? [] : [`\na${author}\n`]),
    ...(peripheral === undefined ? [] : [`\np${peripheral ?? ''}\n`]),
    ...tags.map((tag) => `\n#${tag}\n`),
  ];
}

/** Lookup key of a subject; null if the subject is the entry's own session. */
export const subjectKey = ({ type, id }: Subject, sessionId: string | null): string | null =>
  type === 'session' && id === sessionId ? null : `${type} ${id}`;
