/** One word of a POSIX shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
