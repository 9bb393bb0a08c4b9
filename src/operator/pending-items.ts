import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { pathExists } from '../base/files.ts';
import { listPendingRequests, type RequestAndAnswer } from './answer-request.ts';

export interface PendingItem extends RequestAndAnswer {
  readonly stateDir: string;
}

/** The requests of one state folder, the oldest first. */
export function listPendingItems(dir: string): readonly PendingItem[] {
  if (!pathExists(join(dir, 'approvals'))) return [];
  return (
    listPendingRequests(dir)
      // A request that names the root of another state folder is skipped: it would show that repository's diff.
      .filter(({ pending }) => basename(dir) === hash('sha256', pending.root).slice(0, 16))
      .map((item) => ({ ...item, stateDir: dir }))
  );
}
