import type { ServerContext } from '@modelcontextprotocol/server';

/**
 * Tells the client every `every` milliseconds that its call still runs, if it has asked to be told. Returns how to stop; it stops by itself when
 * the call is cancelled.
 */
export function heartbeat({ mcpReq }: ServerContext, what: string, every: number): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || every <= 0 || mcpReq.signal.aborted) return () => {};
  const since = Date.now();
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
    const seconds = Math.round((Date.now() - since) / 1000);
    const params = { progressToken, progress: beats, message: `${what} for ${seconds} s` };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => stop());
  }, every);
  const stop = (): void => clearInterval(timer);
  mcpReq.signal.addEventListener('abort', stop, { once: true });
  return stop;
}
