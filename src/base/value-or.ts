/**
 * The value that `work` returns; `otherwise` if it throws.
 * @param codes the codes of system errors, such as ENOENT; any other error is then rethrown
 */
export function valueOr<T, U>(work: () => T, otherwise: U, codes?: readonly string[]): T | U {
  try {
    return work();
  } catch (error) {
    if (codes?.includes((error as NodeJS.ErrnoException).code ?? '') === false) throw error;
    return otherwise;
  }
}
