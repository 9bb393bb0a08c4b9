import type { ToolBackend, ToolOutcome } from '../../../src/ports/tool-backend.ts';

/** A `glob` that runs until it is released or aborted. */
export function slowGlob() {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const aborted: boolean[] = [];
  const backend: ToolBackend = {
    name: 'slow',
    tools: ['glob'],
    async run({ signal }) {
      started.resolve();
      await Promise.race([release.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      aborted.push(signal.aborted);
      const outcome: ToolOutcome = signal.aborted
        ? { status: 'failed', code: 'aborted', message: 'The call was aborted.' }
        : { status: 'ok', result: { files: [] } };
      return { outcome, effects: [] };
    },
  };
  return { backend, started: started.promise, release: release.resolve, aborted };
}
