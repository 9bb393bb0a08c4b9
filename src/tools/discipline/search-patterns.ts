import { splitWords } from '../../base/text.ts';
import type { LibraryPattern } from './pattern-file.ts';

interface FoundPattern {
  readonly pattern: LibraryPattern;
  /** Share of the question's words that match, 0 to 1. */
  readonly score: number;
}

const WEIGHTS: { readonly [field in 'id' | 'title' | 'tags' | 'when' | 'do' | 'because']: number } = {
  id: 3,
  title: 3,
  tags: 3,
  when: 2,
  do: 1,
  because: 1,
};

/** Returns the patterns that match words of the question, best first; ties in order of id. */
export function searchPatterns(patterns: readonly LibraryPattern[], question: string): readonly FoundPattern[] {
  const queryWords = [...new Set(wordsOf(question))];
  if (queryWords.length === 0) return [];
  return patterns
    .map((pattern) => ({
      pattern,
      score: queryWords.reduce((sum, word) => sum + weightOf(pattern, word), 0) / (3 * queryWords.length),
    }))
    .filter(({ score }) => score > 0)
    .map((found) => ({ ...found, score: Math.round(found.score * 100) / 100 }))
    .sort((a, b) => b.score - a.score || (a.pattern.id < b.pattern.id ? -1 : 1));
}

function weightOf(pattern: LibraryPattern, word: string): number {
  let best = 0;
  for (const [field, weight] of Object.entries(WEIGHTS)) {
    const value = pattern[field as keyof typeof WEIGHTS];
    if (
      weight > best &&
      wordsOf(typeof value === 'string' ? value : value.join(' ')).some((one) => isSameWord(one, word))
    )
      best = weight;
  }
  return best;
}

/** Returns the words of three letters or more, without stop words. */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => !STOP_WORDS.has(word));

/** True for the same word or an inflection: `edit` and `edited`. */
const isSameWord = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= 4 && (a.startsWith(b) || b.startsWith(a)));

const STOP_WORDS = new Set(
  splitWords(
    'the and for that this with from are was not you your how what when then has have one its out into does should can',
  ),
);
