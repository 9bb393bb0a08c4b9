import { escapeInvisible } from '../../base/text.ts';
import type { Entry } from '../../evidence/entry.ts';
import { type Finding, SessionFindings } from '../../evidence/findings/findings.ts';
import { formatHeading, type Io, paint, print } from '../io.ts';

function findingsOf(entries: Iterable<Entry>): readonly Finding[] {
  const findings = new SessionFindings();
  for (const entry of entries) findings.add(entry);
  return findings.list();
}

/** Prints the findings of a session; prints nothing if there are none. */
export function printFindings(io: Io, entries: Iterable<Entry>): void {
  const found = findingsOf(entries);
  if (found.length === 0) return;
  print(io);
  print(io, formatHeading(io, 'Findings'));
  for (const finding of found) print(io, formatFinding(io, finding));
}

export const formatFinding = (io: Io, { path, why }: Finding): string =>
  `  ${paint(io, 'yellow', escapeInvisible(path))}: ${escapeInvisible(why)}`;
