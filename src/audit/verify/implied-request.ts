import type { Body } from '../../evidence/bodies.ts';
import type { AuditRequest } from '../rules/request.ts';
import type { AuditState } from '../rules/state.ts';

/** The request that an entry is the answer to; null if it records something else. */
export function requestOf({ arriving, leaving }: AuditState, body: Body): AuditRequest | null {
  switch (body.event) {
    case 'start':
      return arriving ? null : { kind: 'start', peripheral: body.peripheral, by: body.by, context: body.context };
    case 'step':
      return { kind: 'step', tool: body.tool, args: body.args };
    case 'intent':
      return { kind: 'step', tool: body.tool, args: body.args, approves: body.approval !== undefined };
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
