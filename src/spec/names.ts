import { distance } from 'fastest-levenshtein';
import type { EntrySource } from './types.ts';

/** Ids that no peripheral may have: two mean outside of every peripheral; `from-any` is an entry source. */
export const RESERVED_PERIPHERALS: readonly string[] = ['outside', 'closed', 'any'];

export function findSimilarName(name: string, candidates: Iterable<string>): string | null {
  const plain = name.toLowerCase().replaceAll(/[_\s]/g, '-');
  let best: string | null = null;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const steps = distance(plain, candidate);
    if (steps < least && steps < candidate.length) {
      best = candidate;
      least = steps;
    }
  }
  return best;
}

/** Returns `did you mean "edit"?`, or else the list of names. */
export function describeSimilarName(name: string, candidates: Iterable<string>): string {
  const names = [...new Set(candidates)].sort();
  const near = findSimilarName(name, names);
  if (near !== null) return `did you mean "${near}"?`;
  return names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`;
}

/** Returns `Did you mean edit? ` for a remedy; empty if no name is similar. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = findSimilarName(name, candidates);
  return near === null ? '' : `Did you mean ${near}? `;
}

/** Returns a remedy that names the similar name, or else all of them. */
export function nameRemedy(name: string, candidates: readonly string[]): string {
  const near = didYouMean(name, candidates).trimEnd();
  return near || (candidates.length === 0 ? 'None is defined.' : `Name one of these: ${candidates.join(', ')}.`);
}

/** Returns a record's own value: a name like `constructor` must not find an inherited member. */
export function getOwn<T>(record: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** An entry source as a spec writes it: `default`, `from-test`, … */
export const formatEntrySource = (source: EntrySource): string =>
  source.kind === 'from' ? `from-${source.peripheral}` : source.kind;

/** The peripheral that the exit's name opens: x of `hop-x`; null for any other exit. */
export const targetOfHopExit = (exit: string): string | null =>
  exit.startsWith('hop-') ? exit.slice('hop-'.length) : null;
