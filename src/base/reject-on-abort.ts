/** The result of `work`. Rejects if the signal is aborted first; `work` then continues, and its error is ignored. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', stop));
}
