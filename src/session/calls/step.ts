import { fieldsOf } from '../../base/json.ts';
import type { Body, WouldBeRefusal } from '../../evidence/bodies.ts';
import type { StepPlan } from '../../gate/decide-step.ts';
import { makeDenial } from '../../gate/make-denial.ts';
import type { Request } from '../../gate/request.ts';
import type { BackgroundCommand, CallControls, ToolRefusal } from '../../ports/tool-backend.ts';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import type { Fields } from '../../spec/types.ts';
import type { StepResult } from '../call-results.ts';
import { toPlainJson } from '../convert-input.ts';
import { markReturnedAnswer } from '../session-messages.ts';
import { trustedCommandKind } from '../state/observations.ts';
import { addTestedTree } from '../state/tested-tree.ts';
import type { GivenApproval } from './ask-approval.ts';
import { type CallApprover, decideRequest } from './decide-with-approval.ts';
import { type StepCall, toStepRequest } from './gate-requests.ts';
import { runToolBackend, storeLargeOutcome } from './run-tool.ts';
import type { SessionCalls } from './session-calls.ts';
import { observeWorkingTree, shippableChanges } from './working-tree.ts';

/** Decides a call of a tool and runs it; see `Session.step`. */
export async function takeStep(
  calls: SessionCalls,
  call: StepCall & CallControls,
  ask?: CallApprover,
): Promise<StepResult> {
  const request = toStepRequest(call);
  const { signal, onOutput, onBackground: tell, messageId } = fieldsOf(call) as CallControls;
  let files = await calls.boundFiles(request);
  const { decision, approval } = await decideRequest(
    calls,
    {
      request: () => ({ ...request, ...files }),
      observeAgain: async () => {
        files = await calls.boundFiles(request);
      },
    },
    { ...ask, signal: signal ?? ask?.signal },
  );
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const onBackground = (command: BackgroundCommand) => {
    calls.holdLeaseDuring(command.ended);
    tell?.(command);
  };
  return runStep(calls, request, decision.plan, { signal, onOutput, messageId, onBackground, approval });
}

/** Runs an allowed step: records the intent of an acting tool, calls the backend, and records the outcome. */
async function runStep(
  calls: SessionCalls,
  request: Request,
  plan: StepPlan,
  how: CallControls & { readonly approval: GivenApproval | null },
): Promise<StepResult> {
  const { approval, ...watch } = how;
  const { store } = calls.parts;
  const backend = calls.backendOf(plan.tool.id);
  const args = await calls.storedArguments(plan, plan.args);
  const shipping = await shippableChanges(calls, plan);
  const tool = plan.tool.id;
  const hasIntentEntry = recordsIntent(plan.tool);
  const used = approval ? { approval: approval.body.record.id } : {};
  const would = wouldRefuseField(plan);
  const wouldRefuse = plan.overridden ? { wouldRefuse: plan.overridden.denial } : {};
  const intent = hasIntentEntry
    ? await calls.writer.append([...(approval?.bodies ?? []), { event: 'intent', tool, args, ...used, ...would }])
    : [];
  const isTest = trustedCommandKind(calls.parts.compiled.specs, plan.peripheral, tool) === 'test';
  const before = isTest ? await observeWorkingTree(calls) : undefined;
  const ran = await calls.writer.keepLeaseDuring(() =>
    runToolBackend(
      backend,
      plan,
      { ...calls.envelopeOf(plan), ...shipping },
      {
        sessionId: calls.writer.state.facts.sessionId,
        assertLease: calls.writer.assertLease,
        ...calls.toolState(plan.tool),
        ...watch,
      },
    ),
  );
  const report = before
    ? await addTestedTree(before, ran, async () => (await observeWorkingTree(calls)) ?? before)
    : ran;
  const { outcome, observed, state } = report;
  const reported = { ...(observed ? { observed } : {}), ...(state ? { state } : {}) };
  const effects = report.effects === 'unobserved' ? 'unobserved' : report.effects.map((effect) => ({ ...effect }));
  const stored = await storeLargeOutcome(store, outcome);
  if (outcome.status === 'refused') {
    const body: Body = hasIntentEntry
      ? { event: 'outcome', tool, outcome: stored, effects }
      : { event: 'step', tool, args, outcome: stored, effects };
    // An observing tool may have connected or read before its refusal.
    const recorded = hasIntentEntry || effects.length > 0 ? await calls.writer.append([body]) : [];
    const refused = await calls.refuse(
      request,
      makeDenial(calls.context(), outcome.code, toolRefusalDetails(tool, outcome)).denial,
    );
    return { ...refused, evidence: [...intent, ...recorded, ...refused.evidence] };
  }
  const body: Body = hasIntentEntry
    ? { effects, event: 'outcome', outcome: stored, tool, ...reported }
    : { args, effects, event: 'step', outcome: stored, tool, ...reported, ...would };
  const evidence = [...intent, ...(await calls.writer.append([body]))];
  if (outcome.status === 'ok') {
    if (tool === 'whistle') await markReturnedAnswer(calls, outcome.result);
    return { ok: true, outcome: 'ok', result: outcome.result, evidence, ...wouldRefuse };
  }
  const { code, message } = outcome;
  const result = outcome.result ?? null;
  return { ok: true, outcome: 'failed', result, error: { code, message }, evidence, ...wouldRefuse };
}

/** The field `wouldRefuse` of a call that enforcement would refuse; an empty object for any other call. */
export function wouldRefuseField({ overridden }: StepPlan): { readonly wouldRefuse?: WouldBeRefusal } {
  if (!overridden) return {};
  const { code, message, remedy, about } = overridden.denial;
  return { wouldRefuse: { code, message, remedy, about: toPlainJson(about) as Fields } };
}

export const toolRefusalDetails = (tool: string, { message, remedy, argument }: ToolRefusal) => ({
  tool,
  why: message,
  remedy,
  ...(argument ? { argument } : {}),
});
