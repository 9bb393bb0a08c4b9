import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { getOrInsert } from '../base/get-or-insert.ts';
import type { SpecSet } from './types.ts';

const hashes = new WeakMap<object, string>();

/** sha256 (hex) of the RFC 8785 form of everything in a spec set but its hash. Computed once for each spec set. */
export const hashSpecs = (specs: Omit<SpecSet, 'hash'>): string => getOrInsert(hashes, specs, () => hashNew(specs));

function hashNew(specs: Omit<SpecSet, 'hash'>): string {
  const { modeGate: gate, hash: _, ...parts } = specs as Partial<SpecSet>;
  const bytes = canonicalize({ gate, ...parts })!;
  return createHash('sha256').update(bytes).digest('hex');
}
