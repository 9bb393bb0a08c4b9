/**
 * The words of a command line that a shell would run as exactly these words: one command, nothing quoted, expanded,
 * joined or redirected. Null for everything else, about which nothing is safely known.
 */
export function unquotedWords(line: string): readonly string[] | null {
  const words = line.trim().split(/\s+/);
  return words.every((word) => /^[\w./:@%+,=-]+$/.test(word)) && !/^\w+=/.test(words[0]!) ? words : null;
}
