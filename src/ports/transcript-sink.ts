import type { Attribution, TranscriptEvent } from '../evidence/transcript.ts';

export type { Attribution, Situation, TranscriptEvent } from '../evidence/transcript.ts';

/** Takes what an agent lives through, in the order in which it is told, and keeps it. Must not throw; must not block for long. */
export interface TranscriptSink {
  add(event: TranscriptEvent & Attribution): void;
}
