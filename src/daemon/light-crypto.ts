import type * as Crypto from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { Sha256 } from './sha256.ts';

/**
 * Stands for `node:crypto` in the hook's bundle (see tsdown.config.ts): a hook hashes a few short texts and needs a few random bytes, and loading
 * Node's module takes a fifth of the time in which Node starts. Everything else is Node's own, loaded when it is asked for.
 */

/** More than this is hashed faster by Node, whose module is worth loading then. In bytes. */
const SHORT = 1 << 18;

const node = (): typeof Crypto => process.getBuiltinModule('node:crypto');

let sha256: Sha256 | null | undefined;

/** null: this Node runs no WebAssembly. */
function ours(): Sha256 | null {
  if (sha256 !== undefined) return sha256;
  try {
    sha256 = new Sha256();
  } catch {
    sha256 = null;
  }
  return sha256;
}

type Data = string | NodeJS.ArrayBufferView;

const bytesOf = (data: Data): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** As Node's; sha256 in hex is ours. */
export function hash(algorithm: string, data: Data, encoding: 'hex' | 'buffer' = 'hex'): string | Buffer {
  const isOurs = algorithm === 'sha256' && encoding === 'hex';
  const bytes = isOurs ? bytesOf(data) : null;
  const small = bytes && bytes.length <= SHORT ? ours() : null;
  return bytes && small ? small.hex(bytes) : node().hash(algorithm, data, encoding);
}

/** As much of Node's `Hash` as hopgate uses. */
export interface Hashing {
  update(data: Data): Hashing;
  digest(encoding: 'hex'): string;
}

export function createHash(algorithm: string): Hashing {
  return algorithm === 'sha256' && ours() ? new SmallHash() : node().createHash(algorithm);
}

class SmallHash implements Hashing {
  #parts: Uint8Array[] = [];
  #size = 0;
  #large: Hashing | null = null;

  update(data: Data): this {
    const bytes = bytesOf(data);
    if (this.#large) this.#large.update(bytes);
    else {
      this.#parts.push(bytes.slice());
      this.#size += bytes.length;
      if (this.#size > SHORT) this.#becomeLarge();
    }
    return this;
  }

  digest(encoding: 'hex'): string {
    return this.#large ? this.#large.digest(encoding) : String(hash('sha256', Buffer.concat(this.#parts)));
  }

  #becomeLarge(): void {
    this.#large = node().createHash('sha256');
    for (const part of this.#parts) this.#large.update(part);
    this.#parts = [];
  }
}

/** What is read from the kernel at a time, in bytes. */
const POOL = 256;
let pool: Buffer = Buffer.of();

/** From the kernel's own source, each byte given out once. */
export function randomBytes(size: number): Buffer {
  if (size > POOL) return node().randomBytes(size);
  if (pool.length < size) {
    const fresh = fromKernel();
    if (!fresh) return node().randomBytes(size);
    pool = fresh;
  }
  const bytes = Buffer.from(pool.subarray(0, size));
  pool = pool.subarray(size);
  return bytes;
}

/** null where there is no such file. */
function fromKernel(): Buffer | null {
  let fd: number;
  try {
    fd = openSync('/dev/urandom', 'r');
  } catch {
    return null;
  }
  try {
    const bytes = Buffer.alloc(POOL);
    return readSync(fd, bytes) === POOL ? bytes : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

export const timingSafeEqual: typeof Crypto.timingSafeEqual = (a, b) => node().timingSafeEqual(a, b);
export const randomUUID: typeof Crypto.randomUUID = (options) => node().randomUUID(options);
export const randomInt = (max: number): number => node().randomInt(max);
export const createHmac: typeof Crypto.createHmac = (algorithm, key, options) =>
  node().createHmac(algorithm, key, options);
