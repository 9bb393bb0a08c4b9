import type { CompiledSpecs } from '../compile/index.ts';
import type { Body, EffectRecord } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import { minePar } from '../evidence/par.ts';
import { decide } from '../gate/decide.ts';
import { effectiveScope, type StepPlan, withWritePaths } from '../gate/decide-step.ts';
import type { HopPlan, StopPlan } from '../gate/decide-visit.ts';
import type { Available, Denial } from '../gate/denial.ts';
import { deny } from '../gate/deny.ts';
import type { Decision, GateContext, Request, WantedApproval } from '../gate/request.ts';
import type { SessionView } from '../gate/view.ts';
import { available } from '../gate/ways.ts';
import type { ApprovalRequest, Approver } from '../ports/approver.ts';
import { StoreError } from '../ports/evidence-store.ts';
import type { Grant, NativeWatch, ToolBackend, ToolCall, ToolRefusal } from '../ports/tool-backend.ts';
import type { Edge, Json, Mode, Principal, ProjectConfig, SpecSet, ToolSpec } from '../spec/types.ts';
import { askApproval, type GivenApproval } from './approve.ts';
import { asJson, asPrincipal, asText } from './as-json.ts';
import { isReflective } from './drafts.ts';
import type { AdmitResult, ConcludeResult, NativeOutcome, NativeTicket } from './native-step.ts';
import type { CloseResult, HopResult, ModeResult, Refused, StartResult, StepResult, StopResult } from './results.ts';
import { keepFields, keepOutcome, runTool } from './run-tool.ts';
import { isClosed, modeOf } from './state.ts';
import { viewOf } from './view.ts';
import { type HopOptions, readHop, type WireHop } from './wire-hop.ts';
import type { Writer, WriterParts } from './writer.ts';

type Fields = { readonly [field: string]: Json };

export interface SessionParts extends WriterParts {
  readonly compiled: CompiledSpecs;
  readonly config: ProjectConfig;
  readonly backends: readonly ToolBackend[];
  readonly approver: Approver | null;
  /** Frees what was opened for this session (a store, backends). */
  readonly dispose?: () => Promise<void>;
}

/** What a mode change is asked with. */
export interface ModeOptions {
  readonly to: Mode;
  readonly summary?: string;
  readonly reset?: boolean;
  readonly reason?: string;
  readonly exitCriteria?: string;
  readonly by?: Principal;
}

/** Who answers, for this one call, if it needs an approval; left out: the session's approver. */
export interface Answering {
  readonly approver?: Approver | null;
}

/** Where a session stands, for people and prompts. */
export interface SessionStatus {
  readonly sessionId: string;
  readonly agent: string;
  readonly mode: Mode | null;
  readonly peripheral: string | null;
  /** `active`, or why only stop and hops remain. */
  readonly visit: 'active' | 'expired' | 'interrupted' | null;
  readonly closed: boolean;
  readonly steps: number;
  readonly denials: number;
  readonly visits: { readonly [peripheral: string]: number };
  readonly backpack: Fields;
  readonly fruits: { readonly [peripheral: string]: Fields };
  /** The visit under way: its steps so far, when its time is up (epoch milliseconds), and what it has yielded so far. */
  readonly here: { readonly steps: number; readonly deadline: number | null; readonly observed: Fields } | null;
  /** Root-relative files that this session changed. */
  readonly changedFiles: readonly string[];
}

/**
 * One agent's session: the loop of decide, record, act, transition. Calls are taken one at a time, in the order they were made. Refusals are
 * values; an error thrown is a broken world (a full disk, a lost store).
 */
export class Session {
  readonly #parts: SessionParts;
  readonly #writer: Writer;
  /** The config with every peripheral's write paths in it, so that git knows what may be shipped. */
  readonly #writable: ProjectConfig;
  #queue: Promise<unknown> = Promise.resolve();
  /** Native steps that ended while an acting one was still running. */
  #heldBack: Body[] = [];
  #detached = false;

  constructor(parts: SessionParts, writer: Writer) {
    this.#parts = parts;
    this.#writer = writer;
    this.#writable = withWritePaths(parts.compiled.specs, parts.config);
  }

  get id(): string {
    return this.#writer.state.facts.sessionId;
  }

  /** Where the session stands now. */
  get state(): SessionStatus {
    const view = this.#view();
    return {
      sessionId: view.sessionId,
      agent: view.agent,
      mode: view.mode,
      peripheral: view.visit?.peripheral ?? null,
      visit: view.visit?.status ?? null,
      closed: view.closed,
      steps: view.steps,
      denials: view.denials,
      visits: view.visits,
      backpack: view.backpack,
      fruits: view.fruits,
      here: view.visit && {
        steps: view.visit.steps,
        deadline: view.visit.deadline,
        observed: view.visit.observed,
      },
      changedFiles: Object.keys(view.changes),
    };
  }

  /** What can be done from here: tools, hops with what they need, modes. */
  available(): Available {
    return available(this.#parts.compiled.specs, this.#view());
  }

  /** Would this call be let through? A dry run: nothing is recorded, nothing runs. null: yes. */
  why(call: { readonly tool: string; readonly args?: unknown }): Denial | null {
    const decision = decide(this.#context(), {
      kind: 'step',
      tool: asText(call.tool),
      args: asJson(call.args ?? {}),
    });
    return decision.ok ? null : decision.denial;
  }

  /** The spec set that the session is pinned to. */
  get specs(): SpecSet {
    return this.#parts.compiled.specs;
  }

  /** The config that the session is pinned to. */
  get config(): ProjectConfig {
    return this.#parts.config;
  }

  /** Absolute real path of the repository. */
  get root(): string {
    return this.#writer.state.facts.root;
  }

  /**
   * The approval that this hop or mode change lacks, everything else being met; null where it lacks none, or would be refused anyway. A dry
   * run, for programs that ask a person first and then call `hop` or `setMode` with an `approver` that holds the answer.
   */
  async wants(
    move: { readonly hop: HopOptions | WireHop } | { readonly mode: ModeOptions },
  ): Promise<ApprovalRequest | null> {
    await this.#queue.catch(() => {});
    const request = 'hop' in move ? this.#hopRequest(move.hop) : modeRequest(move.mode);
    const review = request.kind === 'hop' ? await this.#review(request.fruit) : null;
    const decision = decide(review ? this.#contextWith(review) : this.#context(), request);
    if (decision.ok || !decision.wanted) return null;
    const { subject, hash } = decision.wanted;
    return { ...subject, agent: this.#writer.state.facts.agent, hash };
  }

  /** A tool of the session's catalogue, wherever it is available; undefined if there is none of this name. */
  tool(id: string): ToolSpec | undefined {
    const { tools } = this.#parts.compiled.specs;
    return Object.hasOwn(tools, id) ? tools[id] : undefined;
  }

  /**
   * Takes the lease and records what happened without the agent: a step that was interrupted, a deadline that passed, the mode's timeout.
   * Every other call does this first.
   */
  settle(): Promise<{ readonly ok: true; readonly evidence: readonly Entry[] } | Refused> {
    const from = this.#writer.state.head.seq + 1;
    return this.#serially(async () => ({ ok: true as const, evidence: (await this.evidence()).slice(from) }));
  }

  /**
   * Takes the lease and catches up with what other writers recorded, and nothing else: a step that another program is running under `admit`
   * goes on. For hosts that open a session again and again.
   */
  attach(): Promise<{ readonly ok: true } | Refused> {
    return this.#serially(async () => ({ ok: true as const }), { settle: false });
  }

  /** This session's evidence, in order. */
  async evidence(): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for await (const { entry } of this.#parts.store.entries(this.id)) entries.push(entry);
    return entries;
  }

  /** Enters a peripheral from outside. */
  start(
    peripheral: string,
    options: { readonly context?: Fields; readonly by?: Principal } = {},
  ): Promise<StartResult> {
    return this.#serially(async () => {
      const request: Extract<Request, { kind: 'start' }> = {
        kind: 'start',
        peripheral: asText(peripheral),
        by: asPrincipal(options.by),
        ...(options.context ? { context: asJson(options.context) as Fields } : {}),
      };
      const decision = decide(this.#context(), request);
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const { context, event } = decision.plan;
      const evidence = await this.#writer.append([
        this.#startBody(request.peripheral, request.by, context, event.facts as never),
      ]);
      return { ok: true, peripheral: request.peripheral, context, evidence };
    });
  }

  /** Calls a tool. An acting tool's intent is durable before it runs; an outcome is durable before this answers. */
  step(call: { readonly tool: string; readonly args?: unknown; readonly signal?: AbortSignal }): Promise<StepResult> {
    return this.#serially(async () => {
      const request: Request = { kind: 'step', tool: asText(call.tool), args: asJson(call.args ?? {}) };
      const decision = decide(this.#context(), request);
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const { plan } = decision;
      const backend = this.#parts.backends.find(({ tools }) => tools.includes(plan.tool.id));
      if (!backend)
        return this.#refuse(
          request,
          deny(this.#context(), 'unknown-tool', { tool: plan.tool.id, unserved: true }).denial,
        );
      return this.#run(request, plan, backend, call.signal ?? new AbortController().signal);
    });
  }

  /**
   * Decides a call that another program will run: an agent's own Edit or Read. Let through, an acting tool's intent is durable; `conclude`
   * records what came of it. Whatever comes in between interrupts it, but for other admitted calls that only look.
   *
   * @throws Error where the tool's backend cannot watch such a run (see {@link ToolBackend.native}).
   */
  admit(call: { readonly tool: string; readonly args?: unknown }): Promise<AdmitResult> {
    return this.#serially(
      async () => {
        const request: Request = { kind: 'step', tool: asText(call.tool), args: asJson(call.args ?? {}) };
        const look = await this.#admitLook(request);
        if (look) return look;
        await this.#settle();
        return this.#admit(request);
      },
      { settle: false },
    );
  }

  /**
   * Records what came of an admitted call; its effects are observed from the tree. What comes too late (its visit is over, its intent was
   * interrupted) is not recorded: the evidence then says that the outcome is unknown.
   */
  conclude(ticket: NativeTicket, outcome: NativeOutcome): Promise<ConcludeResult> {
    return this.#serially(
      async () => {
        const { facts } = this.#writer.state;
        const late = { ok: true as const, recorded: false, evidence: [] };
        const call = this.#watchedCall(ticket);
        if (!call || isClosed(this.#writer.state) || ticket.visit !== this.#visitName()) return late;
        const acts = ticket.intent !== null;
        if (acts ? facts.pending?.id !== ticket.intent : !this.#maySayThatItLooked(ticket)) return late;
        const { store } = this.#parts;
        const { tool } = ticket;
        const effects = await this.#effectsOf(call, ticket.before);
        const kept = await keepOutcome(store, asJson(outcome) as unknown as NativeOutcome);
        if (acts) {
          const bodies: Body[] = [{ event: 'outcome', tool, outcome: kept, effects }, ...this.#heldBack];
          this.#heldBack = [];
          return { ok: true, recorded: true, evidence: await this.#writer.append(bodies) };
        }
        const step: Body = { event: 'step', tool, args: await keepFields(store, ticket.args), outcome: kept, effects };
        if (facts.pending) {
          // Nothing stands between an intent and its outcome; it is recorded behind that, at the latest when the session is let go.
          this.#heldBack.push(step);
          return { ok: true, recorded: true, evidence: [] };
        }
        return { ok: true, recorded: true, evidence: await this.#writer.append([step]) };
      },
      { settle: false },
    );
  }

  /** Ends the visit; the session is outside of any peripheral then. */
  stop(reason: string, options: { readonly fruit?: Fields; readonly by?: Principal } = {}): Promise<StopResult> {
    return this.#serially(async () => {
      const request: Extract<Request, { kind: 'stop' }> = {
        kind: 'stop',
        reason: asText(reason),
        by: asPrincipal(options.by),
        ...(options.fruit ? { fruit: asJson(options.fruit) as Fields } : {}),
      };
      const review = await this.#review(request.fruit);
      const decision = decide(review ? this.#contextWith(review) : this.#context(), request);
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const evidence = await this.#writer.append([
        ...(review ? [review] : []),
        this.#stopBody(decision.plan, request.by, request.reason, null),
      ]);
      return { ok: true, fruit: decision.plan.fruit, context: this.state.backpack, evidence };
    });
  }

  /** Leaves this peripheral and enters another in one append: stop, hop, start. Refused, the visit goes on. */
  hop(hop: HopOptions | WireHop, { approver }: Answering = {}): Promise<HopResult> {
    return this.#serially(async () => {
      const request = this.#hopRequest(hop);
      const review = await this.#review(request.fruit);
      const context = () => (review ? this.#contextWith(review) : this.#context());
      const { decision, approval } = await this.#decideWithApproval(context, request, approver, (grant) =>
        decide(context(), grant ? { ...request, approval: grant } : request),
      );
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const { plan } = decision;
      const evidence = await this.#writer.append([
        ...(review ? [review] : []),
        ...(approval ? [approval.body] : []),
        ...this.#hopBodies(plan, request.by, approval),
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
    });
  }

  /** Changes the mode along the gate. */
  setMode(options: ModeOptions, { approver }: Answering = {}): Promise<ModeResult> {
    return this.#serially(async () => {
      const request = modeRequest(options);
      const { decision, approval } = await this.#decideWithApproval(
        () => this.#context(),
        request,
        approver,
        (grant) => decide(this.#context(), grant ? { ...request, approval: grant } : request),
      );
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const { from, how, event } = decision.plan;
      const evidence = await this.#writer.append([
        ...(approval ? [approval.body] : []),
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
          facts: event.facts as never,
        },
      ]);
      return { ok: true, mode: request.to, evidence };
    });
  }

  /** Ends the session for good and frees what it holds. Refused in the middle of a visit: stop first. */
  async close(reason = 'done', options: { readonly by?: Principal } = {}): Promise<CloseResult> {
    const result = await this.#serially(async (): Promise<CloseResult> => {
      const request: Extract<Request, { kind: 'close' }> = {
        kind: 'close',
        reason: asText(reason),
        by: asPrincipal(options.by),
      };
      const decision = decide(this.#context(), request);
      if (!decision.ok) return this.#refuse(request, decision.denial);
      const { patterns } = this.#writer.state.facts;
      const openSelections = Object.keys(patterns).filter((pattern) => patterns[pattern] === 'selected');
      const open = openSelections.length === 0 ? {} : { openSelections };
      const { reason: why, by } = request;
      return {
        ok: true,
        openSelections,
        evidence: await this.#writer.append([{ event: 'session-closed', reason: why, by, ...open }]),
      };
    });
    if (result.ok) await this.detach();
    return result;
  }

  /** Lets go of the session without ending it: it can be resumed, here or in another process. Idempotent. */
  async detach(): Promise<void> {
    await this.#queue.catch(() => {});
    if (this.#detached) return;
    if (this.#heldBack.length > 0) await this.settle();
    this.#detached = true;
    await this.#writer.release();
    await this.#parts.dispose?.();
  }

  async #run(request: Request, plan: StepPlan, backend: ToolBackend, signal: AbortSignal): Promise<StepResult> {
    const { store } = this.#parts;
    const args = await keepFields(store, plan.args);
    const tool = plan.tool.id;
    const acts = plan.tool.effect === 'act';
    const intent = acts ? await this.#writer.append([{ event: 'intent', tool, args }]) : [];
    const report = await this.#writer.during(() =>
      runTool(backend, plan, this.#grant(plan), { sessionId: this.id, signal }),
    );
    const { outcome } = report;
    const effects = report.effects === 'unobserved' ? 'unobserved' : report.effects.map((effect) => ({ ...effect }));
    const kept = await keepOutcome(store, outcome);
    if (outcome.status === 'refused') {
      const recorded = acts ? await this.#writer.append([{ event: 'outcome', tool, outcome: kept, effects }]) : [];
      const refused = await this.#refuse(
        request,
        deny(this.#context(), outcome.code, aboutRefusal(tool, outcome)).denial,
      );
      return { ...refused, evidence: [...intent, ...recorded, ...refused.evidence] };
    }
    const body: Body = acts
      ? { event: 'outcome', tool, outcome: kept, effects }
      : { event: 'step', tool, args, outcome: kept, effects };
    const evidence = [...intent, ...(await this.#writer.append([body]))];
    if (outcome.status === 'ok') return { ok: true, outcome: 'ok', result: outcome.result, evidence };
    const { code, message } = outcome;
    return { ok: true, outcome: 'failed', result: outcome.result ?? null, error: { code, message }, evidence };
  }

  /** Decides; where only an approval is missing, asks for it and decides once more. */
  async #decideWithApproval<Plan>(
    context: () => GateContext,
    request: { readonly by: Principal },
    approver: Approver | null = this.#parts.approver,
    decideWith: (grant: GivenApproval['grant'] | null) => Decision<Plan>,
  ): Promise<{ decision: Decision<Plan>; approval: GivenApproval | null }> {
    const first = decideWith(null);
    if (first.ok || !first.wanted) return { decision: first, approval: null };
    const approval = approver && (await this.#ask(approver, first.wanted));
    if (approval && 'grant' in approval) return { decision: decideWith(approval.grant), approval };
    const answer = approver ? 'it was not given' : 'nobody is there to give it';
    const { denial } = deny(context(), 'approval-required', {
      ...first.denial.about,
      ...(approval ? { answer: 'it is not answered yet', pending: approval.pending } : { answer }),
      by: request.by,
    });
    return { decision: { ok: false, denial, wanted: null }, approval: null };
  }

  #ask(approver: Approver, wanted: WantedApproval): ReturnType<typeof askApproval> {
    const { ids, clock } = this.#parts;
    const { agent } = this.#writer.state.facts;
    return this.#writer.during(() => askApproval(approver, wanted, agent, { ids, now: () => clock.now() }));
  }

  #hopRequest(hop: HopOptions | WireHop): Extract<Request, { kind: 'hop' }> {
    const options = readHop(hop, this.#fruitFields());
    const { exit, fruit } = options;
    return {
      kind: 'hop',
      to: asText(options.to),
      reason: asText(options.reason),
      by: asPrincipal(options.by),
      ...(exit === undefined ? {} : { exit: asText(exit) }),
      ...(fruit === undefined ? {} : { fruit: asJson(fruit) as Fields }),
    };
  }

  #fruitFields(): readonly string[] {
    const { visit } = this.#writer.state.facts;
    return Object.keys((visit && this.#parts.compiled.specs.peripherals[visit.peripheral]?.fruit) ?? {});
  }

  /** The PAR that a reflecting visit yields when it ends: mined from the evidence, the agent's own words added. */
  async #review(stated: Fields | undefined): Promise<Extract<Body, { event: 'par' }> | null> {
    const { specs } = this.#parts.compiled;
    const { visit } = this.#writer.state.facts;
    if (!visit || !isReflective(specs.peripherals[visit.peripheral])) return null;
    return { event: 'par', par: minePar(await this.evidence(), stated ?? {}) };
  }

  #hopBodies({ edge, fruit, context, event, reason }: HopPlan, by: Principal, approval: GivenApproval | null): Body[] {
    const { specs } = this.#parts.compiled;
    const from = specs.peripherals[edge.from];
    if (!from) throw new Error(`an edge leaves "${edge.from}", which the spec does not have`);
    return [
      this.#stopBody({ peripheral: from, fruit }, by, reason, edge.exit),
      {
        event: 'hop',
        from: edge.from,
        exit: edge.exit,
        to: edge.to,
        reason,
        by,
        approval: approval?.body.record.id ?? null,
        facts: event.facts as never,
        ...this.#reframe(edge, fruit),
      },
      this.#startBody(edge.to, by, context, null),
    ];
  }

  /** A hop back to where the session has been, because what was expected did not hold (A10). */
  #reframe(edge: Edge, fruit: Fields): { reframe?: NonNullable<Extract<Body, { event: 'hop' }>['reframe']> } {
    const { visits, visit } = this.#writer.state.facts;
    const exits = this.#parts.compiled.specs.peripherals[edge.from]?.exits ?? [];
    const expected = exits.find(({ implies }) => implies !== null)?.implies;
    const actual = expected && fruit[expected.field];
    if (!visits[edge.to] || !expected || typeof actual !== 'string' || actual === expected.value) return {};
    return { reframe: { expected: expected.value, actual, shownBy: visit?.headId ?? null } };
  }

  #startBody(peripheral: string, by: Principal, context: Fields, facts: Fields | null): Body {
    const minutes = this.#parts.compiled.specs.peripherals[peripheral]?.limits.minutes ?? null;
    const deadline = minutes === null ? null : this.#parts.clock.now() + minutes * 60_000;
    return { event: 'start', peripheral, by, context, deadline, facts };
  }

  #stopBody({ peripheral, fruit }: StopPlan, by: Principal, reason: string, exit: string | null): Body {
    return { event: 'stop', peripheral: peripheral.id, reason, by, fruit, exit };
  }

  #nativeWatch(tool: string): NativeWatch {
    const watch = this.#parts.backends.find(({ tools }) => tools.includes(tool))?.native;
    if (!watch) throw new Error(`no backend can watch "${tool}" being run by another program; call step instead`);
    return watch;
  }

  /** Admits a call that only looks while an acting one is under way, which it leaves alone; null where it is none of these. */
  async #admitLook(request: Extract<Request, { kind: 'step' }>): Promise<AdmitResult | null> {
    const { pending } = this.#writer.state.facts;
    const decision = decide(this.#context(), request);
    if (!pending || !decision.ok || decision.plan.tool.effect === 'act') return null;
    const seen = await this.#nativeWatch(decision.plan.tool.id).before(this.#toolCall(decision.plan));
    return 'refused' in seen
      ? null
      : { ok: true, ticket: this.#ticket(decision.plan, null, seen.before), evidence: [] };
  }

  async #admit(request: Extract<Request, { kind: 'step' }>): Promise<AdmitResult> {
    const decision = decide(this.#context(), request);
    if (!decision.ok) return this.#refuse(request, decision.denial);
    const { plan } = decision;
    const tool = plan.tool.id;
    const seen = await this.#nativeWatch(tool).before(this.#toolCall(plan));
    if ('refused' in seen)
      return this.#refuse(request, deny(this.#context(), seen.refused.code, aboutRefusal(tool, seen.refused)).denial);
    const args = plan.tool.effect === 'act' ? await keepFields(this.#parts.store, plan.args) : null;
    const evidence = args ? await this.#writer.append([{ event: 'intent', tool, args }]) : [];
    return { ok: true, ticket: this.#ticket(plan, evidence[0]?.id ?? null, seen.before), evidence };
  }

  #ticket({ tool, args }: StepPlan, intent: string | null, before: Json): NativeTicket {
    return { visit: this.#visitName(), intent, tool: tool.id, args, before };
  }

  /** A look is recorded as a step of the visit, which has to be able to take one still. */
  #maySayThatItLooked({ tool, args }: NativeTicket): boolean {
    return decide(this.#context(), { kind: 'step', tool, args }).ok;
  }

  /** The call of a ticket as its backend knows it, whatever has changed in mode, time and limits since; null if it can be none. */
  #watchedCall({ tool: id, args }: NativeTicket): ToolCall | null {
    const tool = this.tool(id);
    const { visit, files } = this.#writer.state.facts;
    if (!tool || !visit) return null;
    const { peripheral } = visit;
    const scope = effectiveScope(this.#parts.compiled.specs, this.#parts.config, peripheral);
    return this.#toolCall({
      tool,
      args,
      peripheral,
      scope,
      readableFiles: scope.read === 'session-log' ? files : null,
    });
  }

  /** What a call that another program ran has changed; an acting one whose effects cannot be seen is a gap. */
  async #effectsOf(call: ToolCall, before: Json): Promise<readonly EffectRecord[] | 'unobserved'> {
    try {
      const seen = await this.#nativeWatch(call.tool.id).after(call, before);
      return seen === 'unobserved' ? seen : seen.map((effect) => ({ ...effect }));
    } catch {
      return call.tool.effect === 'act' ? 'unobserved' : [];
    }
  }

  #toolCall(plan: StepPlan): ToolCall {
    const { tool, args } = plan;
    return { tool, args, grant: this.#grant(plan), sessionId: this.id, signal: new AbortController().signal };
  }

  /** Tells one visit from every other of this session. */
  #visitName(): string {
    const { visit, visits } = this.#writer.state.facts;
    return visit ? `${visit.peripheral} ${visits[visit.peripheral]}` : '';
  }

  #grant(plan: StepPlan): Grant {
    const { root, unsafeNoSandbox } = this.#writer.state.facts;
    const { peripheral, scope, readableFiles } = plan;
    return { root, peripheral, scope, readableFiles, config: this.#writable, unsafeNoSandbox };
  }

  #view(): SessionView {
    return viewOf(this.#parts.compiled, this.#writer.state, this.#parts.clock.now());
  }

  #context(): GateContext {
    const { unsafeNoSandbox } = this.#writer.state.facts;
    return { specs: this.#parts.compiled.specs, config: this.#parts.config, view: this.#view(), unsafeNoSandbox };
  }

  /** The context as it will be once the PAR is recorded: the visit's fruit holds it. */
  #contextWith({ par }: { readonly par: Fields }): GateContext {
    const context = this.#context();
    const { visit } = context.view;
    const spec = visit && context.specs.peripherals[visit.peripheral];
    if (!visit || !spec) return context;
    const observed = { ...visit.observed };
    for (const [field, rule] of Object.entries(spec.fruit))
      if (rule.kind === 'observed' && rule.from === 'par') observed[field] = par;
    return { ...context, view: { ...context.view, visit: { ...visit, observed } } };
  }

  async #refuse(request: Request, denial: Denial): Promise<Refused> {
    const { store, clock } = this.#parts;
    const { code, message, remedy, about } = denial;
    if (code === 'session-closed') {
      // The chain of a closed session is finished; what is tried on it goes to the operator log.
      await store.note({
        at: new Date(clock.now()).toISOString(),
        code,
        sessionId: this.id,
        message: `${request.kind}: ${message}`,
      });
      return { ok: false, denial, evidence: [] };
    }
    const asked = await keepFields(store, asJson(request) as Record<string, Json>);
    const evidence = await this.#writer.append([
      { event: 'denial', request: asked, code, message, remedy, about: asJson(about) as Fields },
    ]);
    return { ok: false, denial, evidence };
  }

  /** One call at a time; the clock's events and an earlier writer's broken step are recorded first. */
  #serially<T extends { readonly ok: boolean }>(
    work: () => Promise<T>,
    { settle = true }: { readonly settle?: boolean } = {},
  ): Promise<T | Refused> {
    const run = this.#queue.then(async (): Promise<T | Refused> => {
      if (this.#detached) throw new Error('this session handle is detached; open the session again with its id');
      try {
        await this.#writer.hold();
        if (settle) await this.#settle();
        return await work();
      } catch (error) {
        const refused = this.#storeRefusal(error);
        if (refused) return refused;
        throw error;
      }
    });
    this.#queue = run.catch(() => {});
    return run;
  }

  /** A second writer is turned away with a value; the store has noted it in the operator log. */
  #storeRefusal(error: unknown): Refused | null {
    if (!(error instanceof StoreError)) return null;
    if (error.code !== 'session-busy' && error.code !== 'lease-expired' && error.code !== 'chain-conflict') return null;
    const code = error.code === 'session-busy' ? 'session-busy' : 'lease-expired';
    return { ok: false, denial: deny(this.#context(), code, { why: error.message }).denial, evidence: [] };
  }

  /** Records what happened without the agent: an interrupted step, a passed deadline, the mode's timeout. */
  async #settle(): Promise<void> {
    const { clock, compiled } = this.#parts;
    if (isClosed(this.#writer.state)) return;
    const { pending } = this.#writer.state.facts;
    if (pending) {
      const reason =
        'nobody recorded an outcome after the intent; the outcome is unknown and the step is not run again';
      await this.#writer.append([{ event: 'interrupted', tool: pending.tool, reason }, ...this.#heldBack]);
    }
    this.#heldBack = [];
    const { visit, lastAt } = this.#writer.state.facts;
    const lifecycle = this.#writer.state.lifecycle?.value;
    if (visit?.deadline && clock.now() >= visit.deadline && lifecycle === 'active') {
      await this.#writer.append([{ event: 'expired', peripheral: visit.peripheral, deadline: visit.deadline }]);
    }
    const { gate } = compiled.specs;
    const mode = modeOf(this.#writer.state);
    if (
      gate &&
      mode &&
      gate.timeoutMinutes !== null &&
      mode !== gate.reset &&
      clock.now() - lastAt >= gate.timeoutMinutes * 60_000
    ) {
      const decision = decide(this.#context(), { kind: 'mode', to: gate.reset, by: 'clock' });
      if (!decision.ok) throw new Error(`the clock could not reset the mode: ${decision.denial.message}`);
      await this.#writer.append([
        {
          event: 'mode',
          from: mode,
          to: gate.reset,
          how: 'timeout',
          by: 'clock',
          summary: null,
          reason: `no entry for ${gate.timeoutMinutes} minutes`,
          exitCriteria: null,
          approval: null,
          facts: decision.plan.event.facts as never,
        },
      ]);
    }
  }
}

function modeRequest(options: ModeOptions): Extract<Request, { kind: 'mode' }> {
  const { to, summary, reset, reason, exitCriteria } = options;
  return {
    kind: 'mode',
    by: asPrincipal(options.by),
    to: asText(to) as Mode,
    ...(summary === undefined ? {} : { summary: asText(summary) }),
    ...(reset === undefined ? {} : { reset: reset === true }),
    ...(reason === undefined ? {} : { reason: asText(reason) }),
    ...(exitCriteria === undefined ? {} : { exitCriteria: asText(exitCriteria) }),
  };
}

const aboutRefusal = (tool: string, { message, remedy, argument }: ToolRefusal) => ({
  tool,
  why: message,
  remedy,
  ...(argument ? { argument } : {}),
});
