import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

let msecs = 0;
let seq = 0;

/**
 * A UUID v7 that sorts behind every earlier one of this process, so that a store's index grows at its end. With Node's own randomness: for that of
 * the web, which uuid takes by itself, all of WebCrypto is loaded.
 */
export function timeOrderedId(): string {
  const random = randomBytes(16);
  const now = Date.now();
  // From the lower half, so that it does not run over within a millisecond.
  seq = now > msecs ? random.readUInt32BE(6) >>> 2 : seq + 1;
  msecs = Math.max(now, msecs);
  return v7({ msecs, seq, random });
}
