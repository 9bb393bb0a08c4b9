import type { Attribution, TranscriptEvent } from '../evidence/transcript.ts';

// Exported for adapters, which may import ports/ but not evidence/.
export type { Attribution, SituationData, TranscriptEvent } from '../evidence/transcript.ts';

/** Records the events of an agent's transcript in order. Must not throw; must not block for long. */
export interface TranscriptSink {
  add(event: TranscriptEvent & Attribution): void;
}
