import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

let msecs = 0;
let seq = 0;
/** Random bytes for the next ids. They are generated together, because each call of the generator is slow. */
let pool = Buffer.alloc(0);

/**
 * Returns a UUID v7 that sorts after every earlier one of this process, so that an index grows at its end. The random
 * bytes come from Node, because uuid's default loads WebCrypto.
 */
export function makeTimeOrderedId(): string {
  if (pool.length === 0) pool = randomBytes(64 * 16);
  const random = pool.subarray(0, 16);
  pool = pool.subarray(16);
  const now = Date.now();
  // The counter starts in the lower half, so that it does not overflow within a millisecond.
  seq = now > msecs ? random.readUInt32BE(6) >>> 2 : seq + 1;
  msecs = Math.max(now, msecs);
  return v7({ msecs, seq, random });
}
