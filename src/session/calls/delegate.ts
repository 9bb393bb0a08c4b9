import { fieldsOf } from '../../base/json.ts';
import type { DelegateRequest } from '../../gate/request.ts';
import type { Principal } from '../../spec/types.ts';
import type { DelegateResult } from '../call-results.ts';
import { toPrincipal, toText } from '../convert-input.ts';
import { type CallApprover, decideRequestWithTree } from './decide-with-approval.ts';
import type { SessionCalls } from './session-calls.ts';

/** A start of a sub-agent in another peripheral. */
export interface DelegateOptions extends Pick<DelegateRequest, 'to' | 'reason' | 'agency'> {
  readonly by?: Principal;
}

export function toDelegateRequest(options: DelegateOptions): DelegateRequest {
  const { to, reason, by, agency } = fieldsOf(options);
  const run = agency ? { agency: agency as NonNullable<DelegateRequest['agency']> } : {};
  return { kind: 'delegate', to: toText(to), reason: toText(reason), by: toPrincipal(by), ...run };
}

/** Records that a sub-agent starts in another peripheral, and makes the id of the sub-agent's session. */
export async function recordDelegation(
  calls: SessionCalls,
  options: DelegateOptions,
  ask?: CallApprover,
): Promise<DelegateResult> {
  const request = toDelegateRequest(options);
  const { decision, approval } = await decideRequestWithTree(calls, request, ask);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { from, delegate, context: carried } = decision.plan;
  const { agency } = request;
  const session = agency ? null : calls.parts.ids.next('session');
  const evidence = await calls.writer.append([
    ...(approval?.bodies ?? []),
    {
      event: 'delegation',
      from,
      ...delegate,
      session,
      ...(agency ? { agency: { ...agency } } : {}),
      context: carried,
      reason: request.reason,
      by: request.by,
      approval: approval?.body.record.id ?? null,
    },
  ]);
  return { ok: true, session, delegation: evidence.at(-1)!.id, ...delegate, context: carried, evidence };
}
