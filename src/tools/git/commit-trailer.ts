import type { CommitConfig } from '../../spec/types.ts';

/** The line that names the agent in a commit: the configured one, or `Assisted-by`; null if it is turned off. */
export function commitTrailerFor(commits: CommitConfig | undefined, agent: string): string | null {
  const stated = commits?.trailer;
  if (stated === false) return null;
  const name = agent.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return stated ?? (name === '' ? null : `Assisted-by: ${name}`);
}

const TRAILER = /^[A-Za-z][A-Za-z0-9-]*: \S/;

/**
 * The message with the trailer in its last paragraph if that has only trailers, else in a new paragraph; unchanged if
 * the message has this line. Git's own `interpret-trailers` is not used, because a repository's configuration can make
 * it run programs.
 *
 * @example appendCommitTrailer('fix: x', 'Assisted-by: claude-code') // 'fix: x\n\nAssisted-by: claude-code'
 */
export function appendCommitTrailer(message: string, trailer: string | null): string {
  const text = message.trimEnd();
  if (trailer === null || text === '') return message;
  const lines = text.split('\n');
  if (lines.some((line) => line.trim().toLowerCase() === trailer.toLowerCase())) return message;
  const paragraphs = text.split(/\n\s*\n/);
  const last = paragraphs.length > 1 ? paragraphs.at(-1)!.split('\n') : [];
  const joins = last.length > 0 && last.every((line) => TRAILER.test(line));
  return `${text}\n${joins ? '' : '\n'}${trailer}`;
}
