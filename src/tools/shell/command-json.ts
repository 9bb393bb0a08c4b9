import type { Json } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';

/** A command's result as the agent sees it. */
export function commandJson(result: CommandResult): { [key: string]: Json } {
  const { exit, signal, stdout, stderr, truncated, timedOut, flooded, seconds } = result;
  return {
    exit,
    ...(signal === null ? {} : { signal }),
    stdout,
    stderr,
    truncated,
    timedOut,
    ...(flooded ? { flooded } : {}),
    seconds,
  };
}
