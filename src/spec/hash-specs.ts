import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { SpecSet } from './types.ts';

/** sha256 (hex) of the RFC 8785 form of everything in a spec set but its hash. */
export function hashSpecs(specs: Omit<SpecSet, 'hash'>): string {
  const { modeGate: gate, tools, scopes, conditions, peripherals, edges, properties } = specs;
  const bytes = canonicalize({
    gate,
    tools,
    scopes,
    conditions,
    peripherals,
    edges,
    ...(properties ? { properties } : {}),
  })!;
  return createHash('sha256').update(bytes).digest('hex');
}
