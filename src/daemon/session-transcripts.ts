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

export class SessionTranscripts {
  readonly #env: Env;
  readonly #transcripts = new Map<string, SessionTranscript>();

  constructor(env: Env) {
    this.#env = env;
  }

  transcriptOf(root: string, sessionId: string): SessionTranscript {
    return getOrInsert(this.#transcripts, `${sessionId} ${root}`, () => {
      const file = transcriptTo(transcriptPath(ensureStateDir(root, this.#env), sessionId));
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
}
