import { type AuditedPin, type AuditState, testFactsOf } from '../../audit/rules/audit-state.ts';
import { computeObservedFruit } from '../../audit/rules/audited-observations.ts';
import type { Approval } from '../../gate/approvals/approval.ts';
import { decide } from '../../gate/decide.ts';
import type { GateContext, HopRequest, ModeRequest } from '../../gate/request.ts';
import type { Move } from '../plan/move.ts';

/** A nonce that an earlier approval of the session had. */
const USED_NONCE = 'approval-used';
const HOUR = 3_600_000;

/** Invalid copies of a valid approval, by the reason why each is invalid. */
const forgeries = (good: Approval): { readonly [what: string]: Approval } => ({
  'another session': { ...good, sessionId: `${good.sessionId}-other` },
  'something else': { ...good, requestHash: good.requestHash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
  'a time that is over': { ...good, expiresAt: good.expiresAt - 2 * HOUR },
  'another use': { ...good, nonce: USED_NONCE },
});

/**
 * Asks the gate for a hop or a mode change that only lacks an approval, with approvals for other requests. A session
 * cannot test this, because it creates the approval record itself.
 * @returns a description of the forged approval that the gate accepted; null if it accepted only the valid one
 */
export function tryForgedApprovals(pinned: AuditedPin, state: AuditState, { asked }: Move): string | null {
  if (asked.kind !== 'hop' && asked.kind !== 'mode') return null;
  const context = contextOf(pinned, state);
  const request = asked as HopRequest | ModeRequest;
  const { ok, wanted } = { wanted: null, ...decide(context, request) };
  if (ok || !wanted) return 'it requires no approval';
  const good: Approval = {
    id: 'approval-1',
    nonce: 'approval-fresh',
    sessionId: state.sessionId,
    requestHash: wanted.hash,
    by: 'operator',
    expiresAt: state.lastAt + HOUR,
  };
  if (!decide(context, { ...request, approval: good }).ok) return 'it refuses a valid approval';
  for (const [what, approval] of Object.entries(forgeries(good))) {
    const decision = decide(context, { ...request, approval });
    if (decision.ok) return `it accepts an approval for ${what}`;
    if (decision.denial.code !== 'approval-invalid') return `for ${what} it answers ${decision.denial.code}`;
  }
  return null;
}

function contextOf({ specs, config }: AuditedPin, state: AuditState): GateContext {
  const { sessionId, agent, root, lastAt, closed, mode, visits, steps, denials, visit } = state;
  const spec = visit && specs.peripherals[visit.peripheral];
  return {
    specs,
    config,
    unsafeNoSandbox: false,
    view: {
      sessionId,
      agent,
      root,
      now: lastAt,
      closed,
      mode,
      visit: visit && {
        peripheral: visit.peripheral,
        status: visit.expired ? 'expired' : 'active',
        steps: visit.steps,
        denials: visit.denials,
        deadline: visit.deadline,
        observedFruit: spec ? computeObservedFruit(spec, visit.observations) : {},
      },
      visits,
      steps,
      denials,
      naturalClose: state.successes > 0 && !state.pending,
      tests: testFactsOf(state),
      checks: [...state.checks],
      patterns: state.patterns,
      backpack: state.backpack,
      fruits: state.fruits,
      files: [...state.files],
      changes: {},
      usedNonces: [USED_NONCE],
    },
  };
}
