import { approvalHash } from '../../src/gate/approvals/approval.ts';
import type { ApprovalRequest } from '../../src/ports/approver.ts';

export function requestOf(changes: Partial<Omit<ApprovalRequest, 'hash'>> = {}): ApprovalRequest {
  const whole = {
    sessionId: 's-1',
    agent: 'builder',
    action: { kind: 'hop', from: 'test', exit: 'pass', to: 'deploy' } as const,
    reason: 'the tests pass',
    view: { changes: { 'src/a.ts': 'f'.repeat(64) } },
    ...changes,
  };
  return { ...whole, hash: approvalHash(whole) };
}
