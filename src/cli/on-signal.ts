/** Calls `act` at the first SIGINT (Ctrl-C), SIGTERM and SIGHUP. Returns a function that stops listening. */
export function onTerminationSignal(act: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, act);
  return () => {
    for (const signal of signals) process.off(signal, act);
  };
}
