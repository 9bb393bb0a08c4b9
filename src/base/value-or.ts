/** The value that `work` returns; `otherwise` if it throws. */
export function valueOr<T, U>(work: () => T, otherwise: U): T | U {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
