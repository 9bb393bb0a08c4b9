import { assertArgument } from '../base/assert-argument.ts';
import { isObject } from '../base/json.ts';
import { decideMode, type ModePlan } from './decide-mode.ts';
import { decideStep, type StepPlan } from './decide-step.ts';
import {
  decideClose,
  decideHop,
  decideStart,
  decideStop,
  type HopPlan,
  type StartPlan,
  type StopPlan,
} from './decide-visit.ts';
import { type DelegatePlan, decideDelegate } from './delegation/decide-delegate.ts';
import type { Decision, GateContext, HopRequest, Request } from './request.ts';

interface Plans {
  start: StartPlan;
  step: StepPlan;
  hop: HopPlan;
  stop: StopPlan;
  mode: ModePlan;
  close: null;
  delegate: DelegatePlan;
}
export type PlanOfRequest<R extends Request> = Plans[R['kind']];

const DECIDERS: {
  readonly [Kind in Request['kind']]: (
    context: GateContext,
    request: Extract<Request, { readonly kind: Kind }>,
  ) => Decision<Plans[Kind]>;
} = {
  start: decideStart,
  step: decideStep,
  hop: decideHop,
  stop: decideStop,
  mode: decideMode,
  close: decideClose,
  delegate: decideDelegate,
};

/**
 * The gate. Pure: no clock and no I/O; `context.view` contains the time and the facts. Returns the plan that the
 * session carries out, or the denial that the agent gets. The session records the decision before it acts on it.
 * @throws TypeError if the context or the request has no such form
 * @example
 * const decision = decide(context, { kind: 'step', tool: 'write', args: { path: 'src/a.ts', content: '' } });
 * if (!decision.ok) console.log(decision.denial.remedy);
 */
export function decide<R extends Request>(context: GateContext, request: R): Decision<PlanOfRequest<R>> {
  assertContext(context, 'decide');
  const isRequest = isObject(request) && Object.hasOwn(DECIDERS, request.kind);
  assertArgument(isRequest, 'decide: request', `a request of kind ${Object.keys(DECIDERS).join(', ')}`, request);
  return DECIDERS[request.kind](context, request as never) as Decision<PlanOfRequest<R>>;
}

/**
 * Decides a hop from the session's current state without taking it. Pure.
 * @throws TypeError if the context or the hop has no such form
 * @example validateHop(context, { to: 'edit', exit: 'ready-to-edit', reason: 'found it' }).ok
 */
export function validateHop(
  context: GateContext,
  hop: Omit<HopRequest, 'kind' | 'by'> & Partial<Pick<HopRequest, 'by'>>,
): Decision<HopPlan> {
  assertContext(context, 'validateHop');
  assertArgument(isObject(hop), 'validateHop: hop', '{ to, reason, exit? }', hop);
  return decideHop(context, { by: 'agent', ...hop, kind: 'hop' });
}

function assertContext(context: GateContext, name: string): void {
  const isContext = isObject(context) && isObject(context.specs) && isObject(context.config) && isObject(context.view);
  assertArgument(isContext, `${name}: context`, 'an object { specs, config, view }', context);
}
