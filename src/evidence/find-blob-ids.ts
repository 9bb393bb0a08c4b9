import type { Json } from '../spec/types.ts';

const HASH = /^[0-9a-f]{64}$/;

/** Returns the ids of the blobs that a body refers to (`{ blob, bytes }`). An erased body has none. */
export function findBlobIds(body: Json): readonly string[] {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      for (const member of value) visit(member);
      return;
    }
    const { blob, bytes } = value;
    if (typeof blob === 'string' && HASH.test(blob) && typeof bytes === 'number') found.add(blob);
    for (const member of Object.values(value)) visit(member);
  };
  visit(body);
  return [...found];
}
