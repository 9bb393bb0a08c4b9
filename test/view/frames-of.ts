import type { StoredEntry } from '../../src/evidence/entry.ts';
import type { SessionPin } from '../../src/session/pin.ts';
import { SessionFrames } from '../../src/view/session-frames.ts';
import type { ViewFrame } from '../../src/view/view-state.ts';

export function framesOf(pin: SessionPin, sessionId: string, entries: Iterable<StoredEntry>): readonly ViewFrame[] {
  const view = new SessionFrames(pin, sessionId);
  return [...entries].map((stored) => view.add(stored));
}
