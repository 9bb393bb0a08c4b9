import { decide } from '../../gate/decide.ts';
import type { CloseRequest } from '../../gate/request.ts';
import type { Principal } from '../../spec/types.ts';
import type { CloseResult } from '../call-results.ts';
import { toPrincipal, toText } from '../convert-input.ts';
import type { SessionCalls } from './session-calls.ts';

/** Closes the session and names the pattern selections that are still open. */
export async function closeSession(
  calls: SessionCalls,
  reason: string,
  by: Principal | undefined,
): Promise<CloseResult> {
  const request: CloseRequest = { kind: 'close', reason: toText(reason), by: toPrincipal(by) };
  const decision = decide(calls.context(), request);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { patterns } = calls.writer.state.facts;
  const openSelections = Object.keys(patterns).filter((pattern) => patterns[pattern] === 'selected');
  const evidence = await calls.writer.append([
    {
      event: 'session-closed',
      reason: request.reason,
      by: request.by,
      ...(openSelections.length === 0 ? {} : { openSelections }),
    },
  ]);
  return { ok: true, openSelections, evidence };
}
