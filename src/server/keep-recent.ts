/** Adds a value that is being read; drops it if it cannot be read, and the oldest of more than `most` values. */
export function keepRecent<T>(kept: Map<string, Promise<T>>, key: string, value: Promise<T>, most: number): Promise<T> {
  kept.delete(key);
  kept.set(key, value);
  value.catch(() => kept.delete(key));
  if (kept.size > most) kept.delete(kept.keys().next().value!);
  return value;
}
