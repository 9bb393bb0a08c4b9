import type { ApprovalRequest, Approver } from '../ports/approver.ts';

/** Answers an approval request in this process: true or a name approves it, anything else does not. */
export type ApproveFunction = (request: ApprovalRequest) => boolean | string | Promise<boolean | string>;

export function toApprover(approver: Approver | ApproveFunction): Approver {
  if (typeof approver !== 'function') return approver;
  return {
    via: 'approver',
    async approve(request) {
      const answer = await approver(request);
      if (answer === false || answer === '' || (answer !== true && typeof answer !== 'string')) return null;
      return { by: answer === true ? 'operator' : answer };
    },
  };
}
