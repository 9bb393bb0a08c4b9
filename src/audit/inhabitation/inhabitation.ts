import type { Entry } from '../../evidence/entry.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import type { SpecSet } from '../../spec/types.ts';
import { confinement } from './confinement.ts';
import { contextInjection } from './context-injection.ts';
import { explicitExit } from './explicit-exit.ts';
import type { Inhabitation } from './finding.ts';
import { interleavedStreams } from './interleaved-streams.ts';
import { lifeOf } from './life.ts';
import { situatedVoice } from './situated-voice.ts';
import { worldReplacement } from './world-replacement.ts';

export type { Inhabitation } from './finding.ts';

/**
 * Was the session inhabited? P-1 to P-6 over what the agent lived through, the spec that it was pinned to and the evidence of what was done. A
 * program that plays a session from outside can keep to every rule of the spec, and fails here.
 */
export function judgeInhabitation(
  transcript: Transcript,
  specs: SpecSet,
  entries: readonly Entry[],
): readonly Inhabitation[] {
  const life = lifeOf(transcript, specs, entries);
  return [
    worldReplacement(life),
    contextInjection(life),
    confinement(life),
    explicitExit(life),
    situatedVoice(life),
    interleavedStreams(life),
  ];
}
