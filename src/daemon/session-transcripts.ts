import { type TranscriptFile, transcriptPath, transcriptTo } from '../adapters/core/transcript/transcript-file.ts';
import { offeredToolsItem } from '../adapters/core/transcript/transcript-items.ts';
import { getOrInsert } from '../base/get-or-insert.ts';
import type { Env } from '../base/user-folders.ts';
import { ensureStateDir } from '../project/state-dir.ts';

/** The transcript of a session, which also remembers the last recorded tool list. */
export interface SessionTranscript extends TranscriptFile {
  /** Records the tool list, unless it equals the last recorded one. */
  offers(tools: readonly string[]): void;
}

export type FindTranscript = (root: string, sessionId: string) => SessionTranscript;

export function openSessionTranscripts(env: Env): FindTranscript {
  const transcripts = new Map<string, SessionTranscript>();
  return (root, sessionId) =>
    getOrInsert(transcripts, `${sessionId} ${root}`, () => {
      const file = transcriptTo(transcriptPath(ensureStateDir(root, env), sessionId));
      let last = '';
      return {
        ...file,
        offers(tools) {
          const names = tools.join(' ');
          if (names !== last) file.add(offeredToolsItem(tools));
          last = names;
        },
      };
    });
}
