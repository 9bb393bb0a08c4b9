import { hash } from 'node:crypto';
import type { ObservedEffect } from '../ports/tool-backend.ts';

/** sha256 (hex) of some bytes, or of a string's UTF-8. */
export const sha256Hex = (content: Uint8Array | string): string => hash('sha256', content, 'hex');

/** The effect of a written file. @param before sha256 of the previous content; null if the file did not exist */
export const effectOfWrittenFile = (path: string, before: string | null, after: string): ObservedEffect =>
  before === null ? { path, op: 'create', after } : { path, op: 'modify', before, after };
