import type { Approver } from '../ports/approver.ts';

/**
 * Asks the second where the first has no answer; a no is one. One approver serves one
 * session: its `via` is that of whoever answered last.
 *
 * @example withFallback(approving(['execute']), pendingApprover({ stateDir, root }))
 */
export function withFallback(first: Approver, second: Approver): Approver {
  let answered = first;
  return {
    get via() {
      return answered.via;
    },
    async approve(request) {
      answered = first;
      const answer = await first.approve(request);
      if (answer) return answer;
      answered = second;
      return second.approve(request);
    },
  };
}

/** Approves beforehand what leads to these destinations and modes; `all`: everything. Says nothing to the rest. */
export const approving = (names: readonly string[], by = 'operator'): Approver => ({
  via: 'approver',
  approve: async ({ action }) => (names.includes('all') || names.includes(action.to) ? { by } : null),
});
