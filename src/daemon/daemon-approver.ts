import type { Env } from '../base/user-folders.ts';
import type { Approver } from '../ports/approver.ts';
import { ensureStateDir } from '../project/state-dir.ts';
import type { ConversationFiles } from './conversation-files.ts';

/** The approver of a session without a terminal: approvals given in advance, else an answer by `hopgate approve`. */
export function makeDaemonApprover(files: ConversationFiles, root: string, env: Env): Approver {
  let approver: Approver | null = null;
  const load = async (): Promise<Approver> => {
    const [{ pendingApprover }, { approverInAdvance, fallbackApprover }] = await Promise.all([
      import('../operator/pending-approver.ts'),
      import('../operator/fallback-approver.ts'),
    ]);
    const ahead: Approver = {
      via: 'approver',
      approve: (request) => approverInAdvance(files.owner(request.sessionId)?.approve ?? []).approve(request),
    };
    return fallbackApprover(ahead, pendingApprover({ stateDir: ensureStateDir(root, env), root }));
  };
  return {
    get via() {
      return approver?.via ?? 'approver';
    },
    async approve(request) {
      approver ??= await load();
      return approver.approve(request);
    },
  };
}
