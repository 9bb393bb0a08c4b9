/** Caches a promise. A promise that rejects is removed, and the oldest one if there are more than `most`. */
export function keepRecent<T>(kept: Map<string, Promise<T>>, key: string, value: Promise<T>, most: number): Promise<T> {
  kept.delete(key);
  kept.set(key, value);
  value.catch(() => kept.delete(key));
  if (kept.size > most) kept.delete(kept.keys().next().value!);
  return value;
}
