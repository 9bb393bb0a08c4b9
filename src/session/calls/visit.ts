import type { AnyFields, Fields } from '../../base/json.ts';
import { decide } from '../../gate/decide.ts';
import type { HopRequest, StartRequest, StopRequest } from '../../gate/request.ts';
import type { Principal } from '../../spec/types.ts';
import type { HopResult, StartResult, StopResult } from '../call-results.ts';
import { toPlainJson, toPrincipal, toText } from '../convert-input.ts';
import { sessionStatusOf } from '../session-status.ts';
import type { HopOptions, ShortHop } from '../short-hop.ts';
import { type CallApprover, decideRequestWithTree } from './decide-with-approval.ts';
import { toFruitFields, toHopRequest } from './gate-requests.ts';
import type { SessionCalls } from './session-calls.ts';
import { makeHopBodies, makeStartBody, makeStopBody } from './visit-bodies.ts';
import { observeTreeIfNeeded } from './working-tree.ts';

export async function startVisit(
  calls: SessionCalls,
  peripheral: string,
  options: { readonly context?: AnyFields; readonly by?: Principal },
): Promise<StartResult> {
  const request: StartRequest = {
    kind: 'start',
    peripheral: toText(peripheral),
    by: toPrincipal(options.by),
    ...(options.context ? { context: toPlainJson(options.context) as Fields } : {}),
  };
  const decision = decide(calls.context(await observeTreeIfNeeded(calls, request)), request);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { context, event, tree } = decision.plan;
  const { compiled, clock } = calls.parts;
  const at = { by: request.by, context, facts: event.facts, ...(tree ? { tree } : {}), now: clock.now() };
  const evidence = await calls.writer.append([makeStartBody(compiled, request.peripheral, at)]);
  return { ok: true, peripheral: request.peripheral, context, evidence };
}

/** Ends the visit; the session is then outside of every peripheral. */
export async function stopVisit(
  calls: SessionCalls,
  reason: string,
  options: { readonly fruit?: AnyFields; readonly by?: Principal },
): Promise<StopResult> {
  const request: StopRequest = {
    kind: 'stop',
    reason: toText(reason),
    by: toPrincipal(options.by),
    ...(options.fruit ? { fruit: toFruitFields(options.fruit) } : {}),
  };
  const review = await calls.review(request.fruit);
  const decision = decide(calls.contextWithReview(review), request);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  await calls.endBackground();
  const evidence = await calls.writer.append([
    ...(review ? [review] : []),
    makeStopBody(calls.writer.state, decision.plan, { by: request.by, reason: request.reason, exit: null }),
  ]);
  return { ok: true, fruit: decision.plan.fruit, context: sessionStatusOf(calls.view()).backpack, evidence };
}

/** Leaves a peripheral and enters another in one append: stop, hop, start. If refused, the visit continues. */
export async function makeHop(calls: SessionCalls, to: HopOptions | ShortHop, ask?: CallApprover): Promise<HopResult> {
  const request = hopRequestOfSession(calls, to);
  const review = await calls.review(request.fruit);
  const { decision, approval } = await decideRequestWithTree(calls, request, ask, review);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { plan } = decision;
  const { compiled, clock } = calls.parts;
  await calls.endBackground();
  const evidence = await calls.writer.append([
    ...(review ? [review] : []),
    ...(approval?.bodies ?? []),
    ...makeHopBodies(compiled, calls.writer.state, plan, { by: request.by, approval, now: clock.now() }),
  ]);
  return {
    ok: true,
    from: plan.edge.from,
    to: plan.edge.to,
    exit: plan.edge.exit,
    fruit: plan.fruit,
    context: plan.context,
    evidence,
  };
}

export function hopRequestOfSession({ writer, parts }: SessionCalls, hop: HopOptions | ShortHop): HopRequest {
  const { visit } = writer.state.facts;
  const { peripherals } = parts.compiled.specs;
  return toHopRequest(hop, Object.keys((visit && peripherals[visit.peripheral]?.fruit) ?? {}));
}
