import { decideHop, type HopPlan } from './decide-visit.ts';
import type { Decision, GateContext, HopRequest } from './request.ts';

/**
 * Decides a hop from the session's current state without taking it. Pure.
 * @example validateHop(context, { to: 'edit', exit: 'ready-to-edit', reason: 'found it' }).ok
 */
export function validateHop(
  context: GateContext,
  hop: Omit<HopRequest, 'kind' | 'by'> & Partial<Pick<HopRequest, 'by'>>,
): Decision<HopPlan> {
  return decideHop(context, { by: 'agent', ...hop, kind: 'hop' });
}
