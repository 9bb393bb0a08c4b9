import { fieldsOf, isObject } from '../../base/json.ts';
import type { Body, EffectRecord } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { type Finding, findingsOfEffects } from '../../evidence/findings/findings.ts';
import { decide } from '../../gate/decide.ts';
import { effectiveScope, type StepPlan } from '../../gate/decide-step.ts';
import type { Denial } from '../../gate/denial.ts';
import { makeDenial } from '../../gate/make-denial.ts';
import type { StepRequest } from '../../gate/request.ts';
import type { NativeCallWatcher, ToolCall, ToolOutcome } from '../../ports/tool-backend.ts';
import { recordsIntent, TOOL_EFFECT_FACTS } from '../../spec/policy/tool-effects.ts';
import type { Fields, Json } from '../../spec/types.ts';
import type { RefusedCall } from '../call-results.ts';
import { toStepRequest } from '../calls/gate-requests.ts';
import { recordMissedEvents } from '../calls/record-missed-events.ts';
import { storeLargeOutcome } from '../calls/run-tool.ts';
import type { SessionCalls } from '../calls/session-calls.ts';
import { toolRefusalDetails, wouldRefuseField } from '../calls/step.ts';
import { toPlainJson } from '../convert-input.ts';
import { isSessionClosed } from '../state/session-state.ts';

/** A call that another program wants to run. */
export interface NativeCall {
  readonly tool: string;
  readonly args?: unknown;
  /**
   * The refusal by an enclosing session, such as the session of a sub-agent's parent; absent if that session allows the
   * call.
   */
  readonly above?: Denial;
}

/** The record of an admitted call, to be passed to `conclude`. Plain JSON: another process may conclude the call. */
export interface NativeTicket {
  readonly visit: string;
  /** Id of the intent's entry; null for a tool that only observes or talks. */
  readonly intent: string | null;
  readonly tool: string;
  readonly args: Fields;
  readonly before: Json;
}

export type AdmitCallResult =
  | { readonly ok: true; readonly ticket: NativeTicket; readonly evidence: readonly Entry[] }
  | RefusedCall;

/** The outcome of a call that another program ran, as that program reports it. */
export type NativeCallOutcome = Exclude<ToolOutcome, { readonly status: 'refused' }>;

export type ConcludeCallResult =
  | {
      readonly ok: true;
      /** False if the outcome came too late, because the evidence already says that the outcome is unknown. */
      readonly recorded: boolean;
      readonly evidence: readonly Entry[];
      /** Facts about the changed files that a person must know before they ship. */
      readonly findings: readonly Finding[];
    }
  | RefusedCall;

/** Decides a call that another program will run. A refusal in `call.above` is recorded instead of a decision. */
export async function admitNativeCall(calls: SessionCalls, call: NativeCall): Promise<AdmitCallResult> {
  const request = toStepRequest(call);
  const { above } = fieldsOf(call) as Partial<NativeCall>;
  const look = above ? null : await admitObserving(calls, request);
  if (look) return look;
  await recordMissedEvents(calls);
  return above ? calls.refuse(request, above) : admit(calls, request);
}

/** Records the refusal of a call that runs nevertheless; see `Session.admitUncovered`. */
export async function admitUncoveredCall(calls: SessionCalls, call: NativeCall): Promise<{ readonly ok: true }> {
  const request = toStepRequest(call);
  const decision = decide(calls.context(), request);
  // No entry may come between an intent and its outcome.
  if (!decision.ok && !calls.writer.state.facts.pending)
    await calls.refuse(request, decision.denial, { enforced: false });
  return { ok: true };
}

/** Records the outcome of an admitted call; see `Session.conclude`. */
export async function concludeNativeCall(
  calls: SessionCalls,
  ticket: NativeTicket,
  outcome: NativeCallOutcome,
): Promise<ConcludeCallResult> {
  const { state } = calls.writer;
  const late = { ok: true as const, recorded: false, evidence: [], findings: [] };
  const plan = isObject(ticket) ? watchedPlan(calls, ticket) : null;
  if (!plan || isSessionClosed(state) || ticket.visit !== visitName(calls)) return late;
  const hasIntentEntry = ticket.intent !== null;
  if (hasIntentEntry && state.facts.pending?.id !== ticket.intent) return late;
  const { tool } = ticket;
  const effects = await effectsOf(calls, calls.toolCall(plan), ticket.before);
  const stored = await storeLargeOutcome(calls.parts.store, toPlainJson(outcome) as ToolOutcome<Json>);
  if (hasIntentEntry) {
    const bodies: Body[] = [{ event: 'outcome', tool, outcome: stored, effects }, ...calls.deferredSteps];
    calls.deferredSteps = [];
    const findings = effects === 'unobserved' ? [] : findingsOfEffects(effects);
    return { ok: true, recorded: true, evidence: await calls.writer.append(bodies), findings };
  }
  const args = await calls.storedArguments(plan, ticket.args);
  const step: Body = { event: 'step', tool, args, outcome: stored, effects, ...wouldRefuseField(plan) };
  if (state.facts.pending) {
    // No entry may come between an intent and its outcome.
    calls.deferredSteps = [...calls.deferredSteps, step];
    return { ok: true, recorded: true, evidence: [], findings: [] };
  }
  return { ok: true, recorded: true, evidence: await calls.writer.append([step]), findings: [] };
}

/** Admits an observing call without interrupting the acting call that runs. null for any other call. */
async function admitObserving(calls: SessionCalls, request: StepRequest): Promise<AdmitCallResult | null> {
  if (!calls.writer.state.facts.pending) return null;
  const decision = decide(calls.context(), request);
  if (!decision.ok || recordsIntent(decision.plan.tool)) return null;
  const seen = await nativeWatch(calls, decision.plan.tool.id).before(calls.toolCall(decision.plan));
  return 'refused' in seen
    ? null
    : { ok: true, ticket: ticketOf(calls, decision.plan, null, seen.before), evidence: [] };
}

async function admit(calls: SessionCalls, request: StepRequest): Promise<AdmitCallResult> {
  const decision = decide(calls.context(), request);
  if (!decision.ok) return calls.refuse(request, decision.denial);
  const { plan } = decision;
  const tool = plan.tool.id;
  const seen = await nativeWatch(calls, tool).before(calls.toolCall(plan));
  if ('refused' in seen) {
    const details = toolRefusalDetails(tool, seen.refused);
    return calls.refuse(request, makeDenial(calls.context(), seen.refused.code, details).denial);
  }
  const args = recordsIntent(plan.tool) ? await calls.storedArguments(plan, plan.args) : null;
  const evidence = args ? await calls.writer.append([{ event: 'intent', tool, args, ...wouldRefuseField(plan) }]) : [];
  return { ok: true, ticket: ticketOf(calls, plan, evidence[0]?.id ?? null, seen.before), evidence };
}

const ticketOf = (
  calls: SessionCalls,
  { tool, args }: StepPlan,
  intent: string | null,
  before: Json,
): NativeTicket => ({ visit: visitName(calls), intent, tool: tool.id, args, before });

/**
 * The plan of an admitted call. null if the ticket is invalid, or if the call only observed and the visit does not
 * allow it any more. An acting call has already run, so its plan does not depend on a second judgement.
 */
function watchedPlan(calls: SessionCalls, { tool: id, args, intent }: NativeTicket): StepPlan | null {
  const tool = calls.tool(id);
  const { visit, files } = calls.writer.state.facts;
  if (!tool || !visit) return null;
  const judged = decide(calls.context(), { kind: 'step', tool: id, args });
  if (!judged.ok && intent === null) return null;
  if (judged.ok && judged.plan.overridden) return judged.plan;
  const { peripheral } = visit;
  const scope = effectiveScope(calls.parts.compiled.specs, calls.parts.config, peripheral);
  return { tool, args, peripheral, scope, readableFiles: scope.read === 'session-log' ? files : null };
}

/** The effects of a call that another program ran; `unobserved` if an acting call could not be watched. */
async function effectsOf(
  calls: SessionCalls,
  call: ToolCall,
  before: Json,
): Promise<readonly EffectRecord[] | 'unobserved'> {
  try {
    const seen = await nativeWatch(calls, call.tool.id).after(call, before);
    return seen === 'unobserved' ? seen : seen.map((effect) => ({ ...effect }));
  } catch {
    return TOOL_EFFECT_FACTS[call.tool.effect].mayChangeTree ? 'unobserved' : [];
  }
}

function nativeWatch(calls: SessionCalls, tool: string): NativeCallWatcher {
  const watch = calls.backendOf(tool)?.native;
  if (!watch) throw new Error(`no backend can watch "${tool}" being run by another program; call step instead`);
  return watch;
}

/** A name of the present visit that no other visit of this session has. */
function visitName({ writer }: SessionCalls): string {
  const { visit, visits } = writer.state.facts;
  return visit ? `${visit.peripheral} ${visits[visit.peripheral]}` : '';
}
