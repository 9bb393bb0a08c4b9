import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandResult } from '../sandbox/sandbox.ts';
import type { Repository } from './repository.ts';

/**
 * Runs a command that may write the index. A killed command leaves its lock, and every later commit would fail; so the
 * lock is removed if it was created while the command ran.
 */
export async function withoutStaleLock(
  { gitDir }: Repository,
  run: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const lock = join(gitDir, 'index.lock');
  const madeAt = () => statSync(lock, { throwIfNoEntry: false })?.birthtimeMs;
  const before = madeAt();
  const result = await run();
  const ended = Date.now();
  const killed = result.timedOut || result.aborted || result.flooded;
  const made = killed && before === undefined ? madeAt() : undefined;
  if (made !== undefined && made <= ended) rmSync(lock, { force: true });
  return result;
}
