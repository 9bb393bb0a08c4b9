import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { DelegateOptions } from '../../session/calls/delegate.ts';
import type { Session } from '../../session/session.ts';

type Answer = { readonly ok: true } | { readonly ok: false; readonly denial: Denial };

export async function sendRequest(session: Session, asked: AuditRequest): Promise<Answer> {
  switch (asked.kind) {
    case 'start':
      return session.start(asked.peripheral, asked);
    case 'step':
      return session.step(asked);
    case 'hop':
      return session.hop(asked);
    case 'stop':
      return session.stop('enough', asked);
    case 'mode':
      return session.setMode({ ...asked, to: asked.to as never });
    case 'delegate':
      return session.delegate(delegation(asked));
    case 'close':
      return session.close();
    default:
      return asked satisfies never;
  }
}

function delegation({ agency, to, reason, by }: Extract<AuditRequest, { kind: 'delegate' }>): DelegateOptions {
  return { to, reason, by, ...(agency ? { agency: { run: 'run', ...agency } } : {}) };
}

/** Asks a session which approval a request lacks. A dry run. */
export async function dryRun(
  session: Session,
  asked: Extract<AuditRequest, { kind: 'hop' | 'mode' | 'delegate' }>,
): Promise<ApprovalRequest | null> {
  if (asked.kind === 'delegate') return session.wants({ delegate: delegation(asked) });
  return session.wants(asked.kind === 'hop' ? { hop: asked } : { mode: { ...asked, to: asked.to as never } });
}
