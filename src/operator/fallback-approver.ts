import type { Approver } from '../ports/approver.ts';

/**
 * Asks the second approver if the first has no answer. `via` names the approver that was asked last, so each fallback
 * approver serves only one session.
 */
export function fallbackApprover(first: Approver, second: Approver): Approver {
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

/** Approves in advance the requests for the named destinations and modes; the name `all` covers every request. */
export const approverInAdvance = (names: readonly string[], by = 'operator'): Approver => ({
  via: 'approver',
  approve: async ({ action }) => (names.includes('all') || names.includes(action.to) ? { by } : null),
});
