/** The result of `work`. Rejects if the signal is aborted first; `work` then continues, and its error is ignored. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', stop));
}

/** The result of `work`, or `late` if it takes longer than `ms` milliseconds; `work` then continues. */
export function resultWithin<Result, Late>(ms: number, work: Promise<Result>, late: Late): Promise<Result | Late> {
  const { promise: timeout, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(resolve, Math.max(0, ms), late);
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
