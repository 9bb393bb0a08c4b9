import { replaceMethod } from '../base/replace-method.ts';
import type { ToolBackend, ToolCall } from '../ports/tool-backend.ts';

/** Maximum time in milliseconds that a backend may take to answer after the limit, after an abort, and to close. */
const GRACE_MS = 5_000;

/** The time limit of a call in milliseconds: the limit of the tool, or a longer limit of a configured command. */
function limitOf({ tool, envelope: { config } }: ToolCall): number {
  const minutes = [...config.test, ...(config.install ?? [])].map((command) => command.minutes ?? 0);
  return Math.max(tool.limits.seconds * 1000, ...minutes.map((each) => each * 60_000));
}

/**
 * Wraps a user's backend, so that none of its calls waits for ever. 5 seconds after the time limit, the signal of the
 * call aborts. 5 seconds after an abort, the call fails without an answer. `close` fails after 5 seconds.
 */
export const withTimeLimit = (backend: ToolBackend): ToolBackend =>
  replaceMethod(
    replaceMethod(backend, 'run', async (call) => {
      const overdue = new AbortController();
      const signal = AbortSignal.any([call.signal, overdue.signal]);
      const { promise: gaveUp, reject } = Promise.withResolvers<never>();
      let last: NodeJS.Timeout | undefined;
      const giveUpSoon = () => {
        const error = new Error(`the call did not end within ${GRACE_MS / 1000} s after its signal aborted`);
        last = setTimeout(() => reject(error), GRACE_MS);
      };
      const limit = setTimeout(() => overdue.abort(), limitOf(call) + GRACE_MS);
      signal.addEventListener('abort', giveUpSoon, { once: true });
      try {
        return await Promise.race([gaveUp, backend.run({ ...call, signal })]);
      } finally {
        clearTimeout(limit);
        clearTimeout(last);
        signal.removeEventListener('abort', giveUpSoon);
      }
    }),
    'close',
    async () => {
      const { promise: gaveUp, reject } = Promise.withResolvers<never>();
      const error = new Error(`[tools/${backend.name}] close did not end within ${GRACE_MS / 1000} s`);
      const limit = setTimeout(() => reject(error), GRACE_MS);
      await Promise.race([gaveUp, backend.close?.()]).finally(() => clearTimeout(limit));
    },
  );
