import type { Body, EffectRecord } from '../../evidence/bodies.ts';
import { findingsOfEffects } from '../../evidence/findings/findings.ts';
import { decide } from '../../gate/decide.ts';
import { effectiveScope, type StepPlan } from '../../gate/decide-step.ts';
import { makeDenial } from '../../gate/make-denial.ts';
import type { Request, StepRequest } from '../../gate/request.ts';
import { isObserveOnly } from '../../gate/scope/observe-only.ts';
import type { NativeCallWatcher, ToolCall } from '../../ports/tool-backend.ts';
import { recordsIntent, TOOL_EFFECT_FACTS } from '../../spec/policy/tool-effects.ts';
import type { Json } from '../../spec/types.ts';
import { recordMissedEvents } from '../calls/record-missed-events.ts';
import { storeLargeOutcome } from '../calls/run-tool.ts';
import type { SessionCalls } from '../calls/session-calls.ts';
import { toolRefusalDetails, wouldRefuseField } from '../calls/step.ts';
import { toPlainJson, toText } from '../convert-input.ts';
import { isSessionClosed } from '../state/session-state.ts';
import type {
  AdmitCallResult,
  ConcludeCallResult,
  NativeCall,
  NativeCallOutcome,
  NativeTicket,
} from './native-ticket.ts';

/** Calls that the gate allows and another program runs: see {@link Session.admit} and {@link Session.conclude}. */
export class NativeSteps {
  readonly #calls: SessionCalls;

  constructor(calls: SessionCalls) {
    this.#calls = calls;
  }

  /** See {@link Session.admit}. A refusal in `call.above` is recorded instead of a decision. */
  admit(call: NativeCall): Promise<AdmitCallResult> {
    return this.#calls.serially(
      async () => {
        const request: Request = { kind: 'step', tool: toText(call.tool), args: toPlainJson(call.args ?? {}) };
        const { above } = call;
        const look = above ? null : await this.#admitObserving(request);
        if (look) return look;
        await recordMissedEvents(this.#calls);
        if (above) return this.#calls.refuse(request, above);
        return this.#admit(request);
      },
      { settle: false },
    );
  }

  /** See {@link Session.pass}. */
  async pass(call: NativeCall): Promise<boolean> {
    if (!isObserveOnly(this.#calls.parts)) return false;
    const request: Request = { kind: 'step', tool: toText(call.tool), args: toPlainJson(call.args ?? {}) };
    const recorded = await this.#calls.serially(
      async () => {
        const decision = decide(this.#calls.context(), request);
        // No entry may come between an intent and its outcome.
        if (decision.ok || this.#calls.writer.state.facts.pending) return { ok: true as const };
        return { ...(await this.#calls.refuse(request, decision.denial, { enforced: false })), ok: true as const };
      },
      { settle: false },
    );
    return recorded.ok;
  }

  /** See {@link Session.conclude}. */
  conclude(ticket: NativeTicket, outcome: NativeCallOutcome): Promise<ConcludeCallResult> {
    return this.#calls.serially(
      async () => {
        const { facts } = this.#calls.writer.state;
        const late = { ok: true as const, recorded: false, evidence: [], findings: [] };
        const plan = this.#watchedPlan(ticket);
        if (!plan || isSessionClosed(this.#calls.writer.state) || ticket.visit !== this.#visitName()) return late;
        const hasIntentEntry = ticket.intent !== null;
        if (hasIntentEntry ? facts.pending?.id !== ticket.intent : !this.#canRecordStep(ticket)) return late;
        const { store } = this.#calls.parts;
        const { tool } = ticket;
        const effects = await this.#effectsOf(this.#calls.toolCall(plan), ticket.before);
        const stored = await storeLargeOutcome(store, toPlainJson(outcome) as NativeCallOutcome);
        if (hasIntentEntry) {
          const bodies: Body[] = [{ event: 'outcome', tool, outcome: stored, effects }, ...this.#calls.deferredSteps];
          this.#calls.clearDeferred();
          const findings = effects === 'unobserved' ? [] : findingsOfEffects(effects);
          return { ok: true, recorded: true, evidence: await this.#calls.writer.append(bodies), findings };
        }
        const args = await this.#calls.storedArguments(plan, ticket.args);
        const step: Body = { event: 'step', tool, args, outcome: stored, effects, ...wouldRefuseField(plan) };
        if (facts.pending) {
          // No entry may come between an intent and its outcome.
          this.#calls.deferStep(step);
          return { ok: true, recorded: true, evidence: [], findings: [] };
        }
        return { ok: true, recorded: true, evidence: await this.#calls.writer.append([step]), findings: [] };
      },
      { settle: false },
    );
  }

  /** Admits an observing call without interrupting the acting call that runs. null for any other call. */
  async #admitObserving(request: StepRequest): Promise<AdmitCallResult | null> {
    if (!this.#calls.writer.state.facts.pending) return null;
    const decision = decide(this.#calls.context(), request);
    if (!decision.ok || recordsIntent(decision.plan.tool)) return null;
    const seen = await this.#nativeWatch(decision.plan.tool.id).before(this.#calls.toolCall(decision.plan));
    return 'refused' in seen
      ? null
      : { ok: true, ticket: this.#ticket(decision.plan, null, seen.before), evidence: [] };
  }

  async #admit(request: StepRequest): Promise<AdmitCallResult> {
    const decision = decide(this.#calls.context(), request);
    if (!decision.ok) return this.#calls.refuse(request, decision.denial);
    const { plan } = decision;
    const tool = plan.tool.id;
    const seen = await this.#nativeWatch(tool).before(this.#calls.toolCall(plan));
    if ('refused' in seen)
      return this.#calls.refuse(
        request,
        makeDenial(this.#calls.context(), seen.refused.code, toolRefusalDetails(tool, seen.refused)).denial,
      );
    const args = recordsIntent(plan.tool) ? await this.#calls.storedArguments(plan, plan.args) : null;
    const evidence = args
      ? await this.#calls.writer.append([{ event: 'intent', tool, args, ...wouldRefuseField(plan) }])
      : [];
    return { ok: true, ticket: this.#ticket(plan, evidence[0]?.id ?? null, seen.before), evidence };
  }

  #ticket({ tool, args }: StepPlan, intent: string | null, before: Json): NativeTicket {
    return { visit: this.#visitName(), intent, tool: tool.id, args, before };
  }

  /** True if the visit still allows the step that records an observing call. */
  #canRecordStep({ tool, args }: NativeTicket): boolean {
    return decide(this.#calls.context(), { kind: 'step', tool, args }).ok;
  }

  /** The plan of a call that the gate has allowed before, without judging it again; null if the ticket is invalid. */
  #watchedPlan({ tool: id, args }: NativeTicket): StepPlan | null {
    const tool = this.#calls.tool(id);
    const { visit, files } = this.#calls.writer.state.facts;
    if (!tool || !visit) return null;
    const judged = decide(this.#calls.context(), { kind: 'step', tool: id, args });
    if (judged.ok && judged.plan.overridden) return judged.plan;
    const { peripheral } = visit;
    const scope = effectiveScope(this.#calls.parts.compiled.specs, this.#calls.parts.config, peripheral);
    return { tool, args, peripheral, scope, readableFiles: scope.read === 'session-log' ? files : null };
  }

  /** The effects of a call that another program ran; `unobserved` if an acting call could not be watched. */
  async #effectsOf(call: ToolCall, before: Json): Promise<readonly EffectRecord[] | 'unobserved'> {
    try {
      const seen = await this.#nativeWatch(call.tool.id).after(call, before);
      return seen === 'unobserved' ? seen : seen.map((effect) => ({ ...effect }));
    } catch {
      return TOOL_EFFECT_FACTS[call.tool.effect].mayChangeTree ? 'unobserved' : [];
    }
  }

  #nativeWatch(tool: string): NativeCallWatcher {
    const watch = this.#calls.backendOf(tool)?.native;
    if (!watch) throw new Error(`no backend can watch "${tool}" being run by another program; call step instead`);
    return watch;
  }

  /** A name of the present visit that no other visit of this session has. */
  #visitName(): string {
    const { visit, visits } = this.#calls.writer.state.facts;
    return visit ? `${visit.peripheral} ${visits[visit.peripheral]}` : '';
  }
}
