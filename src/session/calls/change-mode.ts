import type { ModeResult } from '../call-results.ts';
import { type CallApprover, decideRequest } from './decide-with-approval.ts';
import { type ModeOptions, toModeRequest } from './gate-requests.ts';
import type { SessionCalls } from './session-calls.ts';

export async function changeSessionMode(
  calls: SessionCalls,
  options: ModeOptions,
  ask?: CallApprover,
): Promise<ModeResult> {
  const request = toModeRequest(options);
  const { decision, approval } = await decideRequest(calls, { request: () => request }, ask);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { from, how, event } = decision.plan;
  await calls.endBackgroundForMode(request.to);
  const evidence = await calls.writer.append([
    ...(approval?.bodies ?? []),
    {
      event: 'mode',
      from,
      to: request.to,
      how,
      by: request.by,
      summary: request.summary ?? null,
      reason: request.reason ?? null,
      exitCriteria: request.exitCriteria ?? null,
      approval: approval?.body.record.id ?? null,
      facts: event.facts,
    },
  ]);
  return { ok: true, mode: request.to, evidence };
}
