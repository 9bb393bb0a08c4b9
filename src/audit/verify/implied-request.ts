import { listBlobArguments } from '../../evidence/blob-values.ts';
import type { Body, IntentBody, StepBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import type { AuditRequest, RequestOfKind } from '../rules/audit-request.ts';
import type { AuditState } from '../rules/audit-state.ts';

/** The request whose success an entry records; null if it records something else. */
export function requestImpliedByEntry(state: AuditState, body: Body): AuditRequest | null {
  const { arriving, leaving } = state;
  switch (body.event) {
    case 'start':
      return arriving ? null : { kind: 'start', peripheral: body.peripheral, by: body.by, context: body.context };
    case 'step':
      return stepOf(state, body);
    case 'intent':
      return { ...stepOf(state, body), approves: body.approval !== undefined };
    case 'stop':
      return { kind: 'stop', fruit: body.fruit };
    case 'hop': {
      const { to, exit, reason, by, approval } = body;
      return leaving && { kind: 'hop', to, exit, reason, by, approves: approval !== null };
    }
    case 'delegation': {
      const { to, by, reason, approval, agency } = body;
      return { kind: 'delegate', to, by, reason, approves: approval !== null, ...(agency ? { agency } : {}) };
    }
    case 'mode': {
      const { to, how, by, approval, summary } = body;
      const whose = how === 'timeout' ? 'clock' : by;
      return {
        kind: 'mode',
        to,
        by: whose,
        reset: how === 'reset',
        approves: approval !== null,
        ...(summary === null ? {} : { summary }),
      };
    }
    case 'session-closed':
      return { kind: 'close' };
    default:
      return null;
  }
}

function stepOf(
  { pinned, visit }: AuditState,
  { tool, args }: Pick<StepBody | IntentBody, 'tool' | 'args'>,
): RequestOfKind<'step'> {
  return { kind: 'step', tool, args, apart: listBlobArguments(getOwn(pinned.specs.tools, tool), visit?.spec, args) };
}
