import type { ServerContext } from '@modelcontextprotocol/server';

/**
 * Notifies the client every `every` milliseconds that its call is still running, if it requested progress. Returns the
 * function that stops it; cancelling the call stops it too.
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
