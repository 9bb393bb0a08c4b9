import { type Fields, freezeDeep } from '../../base/json.ts';
import { memoise } from '../../base/lazy.ts';
import { describeLeaseHolder } from '../../base/process-holder.ts';
import type { Body } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { bindCallArguments } from '../../gate/bind-arguments.ts';
import { configWithWritePaths, effectiveScope, type StepPlan } from '../../gate/decide-step.ts';
import type { Denial } from '../../gate/denial.ts';
import { makeDenial } from '../../gate/make-denial.ts';
import type { GateContext, Request, StepRequest } from '../../gate/request.ts';
import type { ObservedTree } from '../../gate/scope/compare-trees.ts';
import type { SessionView } from '../../gate/session-view.ts';
import { StoreError } from '../../ports/evidence-store.ts';
import type { CallEnvelope, ToolBackend, ToolCall } from '../../ports/tool-backend.ts';
import { mayNeedApproval } from '../../spec/call-gates.ts';
import { effectsOfMode } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import type { Json, Mode, ProjectConfig, ToolSpec } from '../../spec/types.ts';
import type { RefusedCall } from '../call-results.ts';
import { toPlainJson } from '../convert-input.ts';
import type { SessionWriter } from '../session-writer.ts';
import { isReflectPeripheral } from '../state/drafts.ts';
import { isSessionClosed } from '../state/session-state.ts';
import { addUnrecorded, sessionViewOf, viewOfNextCall, viewWithReview } from '../state/view-of-state.ts';
import { recordMissedEvents } from './record-missed-events.ts';
import { storeLargeArguments, storeLargeFields } from './run-tool.ts';
import type { SessionParts } from './session-parts.ts';

/** Runs the calls of a session one at a time. Builds the gate's context and records refusals. */
export class SessionCalls {
  readonly parts: SessionParts;
  readonly writer: SessionWriter;
  /** Native steps that ended while an acting step was running; they are recorded after its outcome. */
  deferredSteps: readonly Body[] = [];
  /** The config with every peripheral's write paths, so that git knows which files may be shipped. */
  readonly configWithPaths: () => ProjectConfig;
  readonly #unserved: ReadonlySet<string>;
  /** Observes the working tree; undefined if no backend can observe it. */
  readonly observeTree: ToolBackend['tree'];
  #backgroundCommands = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #detached = false;

  constructor(parts: SessionParts, writer: SessionWriter) {
    // The times of entries are whole milliseconds and never decrease; a clock may be set back or return fractions.
    const now = () => Math.max(Math.trunc(parts.clock.now()), writer.state.facts.lastAt);
    this.parts = { ...parts, clock: { now } };
    this.writer = writer;
    // Backends get parts of the spec set and the config. Both are frozen, so that no backend can change how later calls
    // are judged.
    freezeDeep([parts.compiled.specs, parts.config]);
    this.configWithPaths = memoise(() => freezeDeep(configWithWritePaths(parts.compiled.specs, parts.config)));
    const served = new Set(parts.backends.flatMap(({ tools }) => tools));
    this.observeTree = parts.backends.find(({ tree }) => tree)?.tree;
    this.#unserved = new Set(Object.keys(parts.compiled.specs.tools).filter((id) => !served.has(id)));
  }

  /** Resolves when every call made so far has its result. */
  get idle(): Promise<unknown> {
    return this.#queue.catch(() => {});
  }

  /** The backend of a tool that the gate allowed. The gate refuses tools without a backend. */
  backendOf(tool: string): ToolBackend {
    const backend = this.parts.backends.find(({ tools }) => tools.includes(tool));
    if (!backend) throw new Error(`no backend serves "${tool}", although the gate allowed it`);
    return backend;
  }

  /**
   * The files that an approval of a call binds, as the tool's backend reads them now; empty for a call without
   * approval.
   */
  async boundFiles({ tool: id, args }: StepRequest): Promise<Pick<StepRequest, 'files'>> {
    const tool = this.tool(id);
    const { peripheral } = this.writer.state.facts.visit ?? {};
    const backend = this.parts.backends.find(({ tools }) => tools.includes(id));
    if (!tool || peripheral === undefined || !backend?.boundFiles) return {};
    const { specs } = this.parts.compiled;
    if (!mayNeedApproval(tool, getOwn(specs.peripherals, peripheral))) return {};
    const bound = bindCallArguments(tool, args);
    if (!bound.ok) return {};
    const scope = effectiveScope(specs, this.parts.config, peripheral);
    const readableFiles = scope.read === 'session-log' ? this.view().files : null;
    return {
      files: await backend.boundFiles(this.toolCall({ tool, args: bound.args, peripheral, scope, readableFiles })),
    };
  }

  tool(id: string): ToolSpec | undefined {
    return getOwn(this.parts.compiled.specs.tools, id);
  }

  evidence(): Promise<readonly Entry[]> {
    const stored = this.parts.store.entries(this.writer.state.facts.sessionId);
    return Array.fromAsync(stored, ({ entry }) => entry).catch((cause) => {
      throw this.#detached ? this.#detachedError(cause) : cause;
    });
  }

  #detachedError(cause?: unknown): Error {
    const { sessionId } = this.writer.state.facts;
    const text = isSessionClosed(this.writer.state)
      ? `session ${sessionId} is closed: open a new session; a store that you gave to openSession still has its evidence`
      : `this handle of session ${sessionId} is detached: open the session again with openSession({ …, session: "${sessionId}" })`;
    return new Error(text, { cause });
  }

  async detach(): Promise<void> {
    await this.idle;
    if (this.#detached) return;
    if (this.deferredSteps.length > 0) await this.settleAndRun(async () => ({ ok: true as const }));
    this.#detached = true;
    await this.endBackground();
    await this.writer.release();
    await this.parts.dispose?.();
  }

  get runsInBackground(): boolean {
    return this.#backgroundCommands > 0;
  }

  /** Ends the background commands of the visit, because no command runs longer than its visit. */
  async endBackground(): Promise<void> {
    if (!this.runsInBackground) return;
    const { sessionId } = this.writer.state.facts;
    await Promise.all(this.parts.backends.map((backend) => backend.endBackground?.(sessionId)));
  }

  /** Ends the background commands before the mode changes to a mode in which no tool may observe. */
  async endBackgroundForMode(mode: Mode): Promise<void> {
    const { modeGate } = this.parts.compiled.specs;
    if (modeGate && !effectsOfMode(modeGate, mode).includes('observe')) await this.endBackground();
  }

  /** Keeps the lease while a command runs in the background, so that no other writer ends the visit. */
  holdLeaseDuring(ended: Promise<void>): void {
    this.#backgroundCommands += 1;
    const over = () => {
      this.#backgroundCommands -= 1;
    };
    void this.writer.keepLeaseDuring(() => ended).then(over, over);
  }

  view(tree?: ObservedTree): SessionView {
    const view = sessionViewOf(this.parts.compiled, this.writer.state, this.parts.clock.now(), tree);
    return addUnrecorded(view, { ...this.parts, unserved: this.#unserved });
  }

  viewOfNextCall(view = this.view()): SessionView {
    return viewOfNextCall(this.parts.compiled, this.writer.state, view);
  }

  context(tree?: ObservedTree): GateContext {
    const { unsafeNoSandbox } = this.writer.state.facts;
    return { specs: this.parts.compiled.specs, config: this.parts.config, view: this.view(tree), unsafeNoSandbox };
  }

  /** The gate's context with an unrecorded PAR as observed fruit, and with the working tree if it was observed. */
  contextWithReview(review: { readonly par: Fields } | null, tree?: ObservedTree): GateContext {
    const context = this.context(tree);
    return review ? { ...context, view: viewWithReview(context.specs, context.view, review.par) } : context;
  }

  envelopeOf(plan: StepPlan): CallEnvelope {
    const { root, unsafeNoSandbox, visit } = this.writer.state.facts;
    const { peripheral, scope, readableFiles } = plan;
    const deadline = plan.overridden ? null : (visit?.deadline ?? null);
    const { config = this.configWithPaths() } = plan.overridden ?? {};
    const settings = getOwn(this.parts.compiled.specs.peripherals, peripheral)?.config ?? {};
    const files = readableFiles && [...readableFiles];
    return { root, peripheral, scope, readableFiles: files, config, settings, unsafeNoSandbox, deadline };
  }

  /** The arguments of a call as its entry contains them: large ones are stored as blobs. */
  storedArguments({ tool, peripheral }: StepPlan, args: StepPlan['args']): Promise<{ [name: string]: Json }> {
    return storeLargeArguments(this.parts.store, tool, getOwn(this.parts.compiled.specs.peripherals, peripheral), args);
  }

  toolState({ state }: ToolSpec): Pick<ToolCall, 'state'> {
    if (!state) return {};
    const { backpack } = this.writer.state.facts;
    const set = Object.keys(state).filter((field) => (backpack[field] ?? null) !== null);
    return { state: Object.fromEntries(set.map((field) => [field, backpack[field]!])) };
  }

  toolCall(plan: StepPlan): ToolCall {
    const { tool, args } = plan;
    let signal: AbortSignal | undefined;
    return {
      tool,
      args,
      envelope: this.envelopeOf(plan),
      sessionId: this.writer.state.facts.sessionId,
      ...this.toolState(tool),
      // A signal that never aborts; created lazily, because loading AbortSignal takes time.
      get signal() {
        signal ??= new AbortController().signal;
        return signal;
      },
    };
  }

  /**
   * Makes the PAR of a visit to a reflecting peripheral, from the evidence and the agent's own words; null for any
   * other visit.
   */
  async review(stated: Fields | undefined): Promise<Extract<Body, { event: 'par' }> | null> {
    const { specs } = this.parts.compiled;
    const { visit } = this.writer.state.facts;
    if (!visit || !isReflectPeripheral(specs.peripherals[visit.peripheral])) return null;
    const [{ deriveReview }, { removeToolOutput }] = await Promise.all([
      import('../../evidence/patterns/derive-review.ts'),
      import('../../evidence/patterns/remove-output.ts'),
    ]);
    const stored = this.parts.store.entries(this.writer.state.facts.sessionId);
    const entries = await Array.fromAsync(stored, ({ entry }) => removeToolOutput(entry));
    return { event: 'par', par: deriveReview(entries, stated ?? {}) };
  }

  /** Records a denial in the evidence, and returns it with its entries. */
  async refuse(request: Request, denial: Denial, how: { readonly enforced?: false } = {}): Promise<RefusedCall> {
    const { store, clock } = this.parts;
    const { code, message, remedy, about } = denial;
    if (code === 'session-closed') {
      // A closed session gets no further entry, so the store's notes for the operator record the attempt.
      await store.note({
        at: new Date(clock.now()).toISOString(),
        code,
        sessionId: this.writer.state.facts.sessionId,
        message: `${request.kind}: ${message}`,
      });
      return { ok: false, denial, evidence: [] };
    }
    const storedRequest = await storeLargeFields(store, toPlainJson(request) as Record<string, Json>);
    const evidence = await this.writer.append([
      { event: 'denial', request: storedRequest, code, message, remedy, about: toPlainJson(about) as Fields, ...how },
    ]);
    return { ok: false, denial, evidence };
  }

  /** Does `work` after all earlier calls. First records clock events and an unfinished step of an earlier writer. */
  settleAndRun<T extends { readonly ok: boolean }>(work: () => Promise<T>): Promise<T | RefusedCall> {
    return this.runUnderLease(async () => {
      await recordMissedEvents(this);
      return work();
    });
  }

  /** Does `work` after all earlier calls, under the lease. An unfinished step stays unfinished. */
  runUnderLease<T extends { readonly ok: boolean }>(work: () => Promise<T>): Promise<T | RefusedCall> {
    const run = this.#queue.then(async (): Promise<T | RefusedCall> => {
      if (this.#detached) throw this.#detachedError();
      try {
        await this.writer.takeLease();
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

  /** The refusal of a call because another writer holds the session; null for any other error. */
  #storeRefusal(error: unknown): RefusedCall | null {
    if (!(error instanceof StoreError)) return null;
    if (error.code !== 'session-busy' && error.code !== 'lease-expired' && error.code !== 'chain-conflict') return null;
    const code = error.code === 'session-busy' ? 'session-busy' : 'lease-expired';
    const { message: why, heldBy } = error;
    const other = heldBy && { holder: describeLeaseHolder(heldBy.holder), until: new Date(heldBy.until).toISOString() };
    return { ok: false, denial: makeDenial(this.context(), code, { why, ...other }).denial, evidence: [] };
  }
}
