import type { ApprovalRequest, Approver } from '../ports/approver.ts';

type Answer = boolean | string | Awaited<ReturnType<Approver['approve']>>;

/** Answers an approval request in this process: true or a name approves it, and so does an answer of an `Approver`. */
export type ApproveFunction = (request: ApprovalRequest) => Answer | Promise<Answer>;

export function toApprover(approver: Approver | ApproveFunction): Approver {
  if (typeof approver !== 'function') return approver;
  return {
    via: 'approver',
    async approve(request) {
      const answer = await approver(request);
      if (answer === false || answer === '') return null;
      if (answer === true) return { by: 'operator' };
      return typeof answer === 'string' ? { by: answer } : answer;
    },
  };
}
