import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { DelegateOptions } from '../../session/calls/delegate.ts';
import type { Session } from '../../session/session.ts';

type Answer = { readonly ok: true } | { readonly ok: false; readonly denial: Denial };

export async function sendRequest(session: Session, request: AuditRequest): Promise<Answer> {
  if (request.kind === 'start') return session.start(request.peripheral, request);
  if (request.kind === 'step') return session.step(request);
  if (request.kind === 'hop') return session.hop(request);
  if (request.kind === 'stop') return session.stop('enough', request);
  if (request.kind === 'mode') return session.setMode(request);
  if (request.kind === 'delegate') return session.delegate(delegation(request));
  request.kind satisfies 'close';
  return session.close();
}

function delegation({ agency, to, reason, by }: Extract<AuditRequest, { kind: 'delegate' }>): DelegateOptions {
  return { to, reason, by, ...(agency ? { agency: { run: 'run', ...agency } } : {}) };
}

/** Asks a session which approval a request lacks. A dry run. */
export async function dryRunRequest(
  session: Session,
  request: Extract<AuditRequest, { kind: 'hop' | 'mode' | 'delegate' }>,
): Promise<ApprovalRequest | null> {
  if (request.kind === 'delegate') return session.wants({ delegate: delegation(request) });
  return session.wants(request.kind === 'hop' ? { hop: request } : { mode: request });
}
