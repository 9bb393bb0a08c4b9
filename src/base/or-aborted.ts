/**
 * The result of `work`. Rejects with the signal's reason as soon as the signal is aborted. The work then continues, and
 * its error is ignored.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', stop));
}
