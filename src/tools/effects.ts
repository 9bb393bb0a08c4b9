import { hash } from 'node:crypto';
import type { ObservedEffect } from '../ports/effects.ts';

/** sha256 (hex) of some bytes, or of a string's UTF-8. */
export const sha256Hex = (content: Uint8Array | string): string => hash('sha256', content, 'hex');

/**
 * The effect of a file's content having been put in place.
 * @param before sha256 of what was there; null if nothing was
 */
export function contentEffect(path: string, before: string | null, after: string): ObservedEffect {
  return before === null ? { path, op: 'create', after } : { path, op: 'modify', before, after };
}
