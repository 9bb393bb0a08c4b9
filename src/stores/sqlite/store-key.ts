import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders, writeNewFile } from '../../base/files.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';
import type { StoredFold } from '../../ports/evidence-store.ts';
import type { LeaseRow } from '../rules/append-rules.ts';

const KEY_BYTES = 32;

/**
 * The file of the key that signs this user's folds and leases. It is outside of every store, so whoever replaces or
 * changes a store cannot forge a fold or a lease.
 */
export const keyFileOfUser = (): string => join(userStateFolder(process.env), 'kept-states.key');

/** Reads the key in a file. If `create`, makes a key that is missing or was cut off; otherwise returns null for it. */
function keyIn(file: string, create: boolean): Buffer | null {
  const key = valueOr(() => readFileSync(file), null);
  if (key?.length === KEY_BYTES) return key;
  if (!create) return null;
  try {
    makeFolders(dirname(file), 0o700);
    if (key !== null) rmSync(file);
    writeNewFile(file, randomBytes(KEY_BYTES));
  } catch {
    return null; // Without a writable folder there is no key.
  }
  return keyIn(file, false);
}

/** Signs folds and leases. Without a key, folds are neither stored nor read, and leases are not signed. */
export class StoreKey {
  readonly #file: string | null;
  #key: Buffer | null;

  /** @param file the file of the key; null for a key that exists as long as this object */
  constructor(file: string | null) {
    this.#file = file;
    this.#key = file === null ? randomBytes(KEY_BYTES) : null;
  }

  /** The signature of a fold as hexadecimal digits; null without a key. */
  signFold(sessionId: string, { head, text }: StoredFold, create: boolean): string | null {
    return this.#sign(`${sessionId}\n${head.seq}\n${head.hash}\n${text}`, create);
  }

  /** The signature of a lease as hexadecimal digits; null without a key. */
  signLease(sessionId: string, { holder, until, ttl }: LeaseRow, create: boolean): string | null {
    return this.#sign(JSON.stringify(['lease', sessionId, holder, until, ttl]), create);
  }

  #sign(text: string, create: boolean): string | null {
    if (this.#file !== null) this.#key ??= keyIn(this.#file, create);
    return this.#key && createHmac('sha256', this.#key).update(text).digest('hex');
  }
}
