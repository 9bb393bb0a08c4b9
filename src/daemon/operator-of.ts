import { ensureStateDir } from '../cli/state-dir.ts';
import { pendingApprover } from '../operator/pending-approver.ts';
import { approving, withFallback } from '../operator/with-fallback.ts';
import type { Approver } from '../ports/approver.ts';
import type { Env } from './places.ts';
import type { SeatFiles } from './seat-files.ts';

/** The operator of a session that no terminal belongs to: what was approved ahead of it, then `hopgate approve`. */
export function operatorOf(files: SeatFiles, root: string, env: Env): Approver {
  const ahead: Approver = {
    via: 'approver',
    approve: (request) => approving(files.binding(request.sessionId)?.approve ?? []).approve(request),
  };
  return withFallback(ahead, pendingApprover({ stateDir: ensureStateDir(root, env), root }));
}
