import type { AnyFields } from '../base/json.ts';
import type { Entry } from '../evidence/entry.ts';
import type { GrantView } from '../gate/approvals/grant.ts';
import { availableActions } from '../gate/available-actions.ts';
import type { Available, Denial, WayLeg } from '../gate/denial.ts';
import { isObserveOnly } from '../gate/scope/observe-only.ts';
import { shortestWay } from '../gate/ways/shortest-way.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import type { Message } from '../ports/message-store.ts';
import type { CallControls, ToolBackend } from '../ports/tool-backend.ts';
import type { Mode, Principal, ProjectConfig, SpecSet, ToolSpec } from '../spec/types.ts';
import type { SessionActors } from './actors.ts';
import type {
  CloseResult,
  DelegateResult,
  HopResult,
  ModeResult,
  RefusedCall,
  StartResult,
  StepResult,
  StopResult,
} from './call-results.ts';
import { changeSessionMode } from './calls/change-mode.ts';
import { closeSession } from './calls/close-session.ts';
import type { CallApprover } from './calls/decide-with-approval.ts';
import { type DelegateOptions, recordDelegation } from './calls/delegate.ts';
import { type DryRunMove, dryRunMove, dryRunStep, dryRunStepEnforced, dryRunWantedApproval } from './calls/dry-run.ts';
import type { ModeOptions, StepCall } from './calls/gate-requests.ts';
import { readOperatorEntries, recordOperatorNote } from './calls/operator-acts.ts';
import { SessionCalls } from './calls/session-calls.ts';
import type { SessionParts } from './calls/session-parts.ts';
import { takeStep } from './calls/step.ts';
import { makeHop, startVisit, stopVisit } from './calls/visit.ts';
import type {
  AdmitCallResult,
  ConcludeCallResult,
  NativeCall,
  NativeCallOutcome,
  NativeTicket,
} from './native/native-steps.ts';
import { admitNativeCall, admitUncoveredCall, concludeNativeCall } from './native/native-steps.ts';
import { readUnreadMessages, recordMessagesRead, recordNewMessages } from './session-messages.ts';
import { type SessionStatus, sessionStatusOf } from './session-status.ts';
import type { SessionWriter } from './session-writer.ts';
import type { HopOptions, ShortHop } from './short-hop.ts';

/** Returns the internals of a session, for hopgate's own code outside of this class. */
export let sessionCallsOf: (session: Session) => SessionCalls;

/**
 * One agent's session: the loop of decide, record, act, transition. Calls are taken one at a time, in the order they
 * were made. Refusals are values; a thrown error means a broken environment (a full disk, a lost store), or a call
 * after `close` or `detach`.
 */
export class Session {
  readonly #calls: SessionCalls;

  static {
    sessionCallsOf = (session) => session.#calls;
  }

  constructor(parts: SessionParts, writer: SessionWriter) {
    this.#calls = new SessionCalls(parts, writer);
  }

  /**
   * The running xstate actors of the session: its mode gate, hop graph and present visit. They are started at the first
   * access, in the session's state, and follow it from then on. Only subscribe to them: they decide and refuse nothing.
   *
   * @example
   * const { hopGraph } = await session.actors;
   * hopGraph.subscribe(({ value }) => console.log(value)); // 'explore', 'edit', …
   */
  get actors(): Promise<SessionActors> {
    this.#actors ??= import('./actors.ts').then(({ startSessionActors }) => {
      const { actors, observer } = startSessionActors(this.specs, this.#calls.writer.state);
      this.#calls.writer.watch(observer);
      return actors;
    });
    return this.#actors;
  }
  #actors: Promise<SessionActors> | null = null;

  get id(): string {
    return this.#calls.writer.state.facts.sessionId;
  }

  get state(): SessionStatus {
    return sessionStatusOf(this.#calls.viewOfNextCall());
  }

  /**
   * The actions available now: tools, hops with their needs, modes.
   * @example const { tools, hops } = session.available();
   */
  available(): Available {
    return availableActions(this.#calls.parts.compiled.specs, this.#calls.viewOfNextCall());
  }

  /**
   * The shortest path to a peripheral, with its needs; null if there is none or the session is in it.
   * @example const way = session.wayTo('test');
   */
  wayTo(peripheral: string): readonly WayLeg[] | null {
    const { specs } = this.#calls.parts.compiled;
    return shortestWay(specs, this.#calls.viewOfNextCall(), new Set([peripheral]));
  }

  /**
   * Judges a step at once, without running or recording it: the denial that it would get; null if it would run.
   * @example const denial = session.why({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
   */
  why(call: StepCall): Denial | null {
    return dryRunStep(this.#calls, call);
  }

  /** Judges a step as {@link Session.why} does, but as if refusals were enforced. */
  wouldRefuse(call: StepCall): Denial | null {
    return dryRunStepEnforced(this.#calls, call);
  }

  /**
   * Judges a move after the running calls, and observes the working tree: the denial that it would get; null if none.
   * Runs and records nothing.
   * @param from the mode that the session will be in by then; default: its present mode
   */
  whyMove(move: DryRunMove, from?: Mode): Promise<Denial | null> {
    return dryRunMove(this.#calls, move, from);
  }

  /**
   * Judges a move as {@link Session.whyMove} does: the approval that it lacks; null if it needs none or would be
   * refused anyway. For programs that ask a person first, and then make the call with an `approver` that returns the
   * answer.
   * @example const request = await session.wants({ mode: { to: 'execute', reason: 'a fix was asked for' } });
   */
  wants(move: DryRunMove, from?: Mode): Promise<ApprovalRequest | null> {
    return dryRunWantedApproval(this.#calls, move, from);
  }

  /** True if the session only records refusals and runs the refused calls (`enforce: false`). */
  get observeOnly(): boolean {
    return isObserveOnly(this.#calls.parts);
  }

  get specs(): SpecSet {
    return this.#calls.parts.compiled.specs;
  }

  /** The operator's grants for this session, the oldest first, with those that have ended. */
  get grants(): readonly GrantView[] {
    return this.#calls.view().grants ?? [];
  }

  get config(): ProjectConfig {
    return this.#calls.parts.config;
  }

  /** Absolute real path of the repository. */
  get root(): string {
    return this.#calls.writer.state.facts.root;
  }

  /** Returns a tool of the spec set, available or not; undefined if there is none of this name. */
  tool(id: string): ToolSpec | undefined {
    return this.#calls.tool(id);
  }

  /**
   * Takes the lease and records the events that no call caused: an interrupted step, a passed deadline, the mode's
   * timeout. Every other call does this first.
   */
  settle(): Promise<{ readonly ok: true; readonly evidence: readonly Entry[] } | RefusedCall> {
    const from = this.#calls.writer.state.head.seq + 1;
    return this.#calls.settleAndRun(async () => ({ ok: true as const, evidence: (await this.evidence()).slice(from) }));
  }

  /**
   * Takes the lease and reads the entries of other writers. A step that another program runs under `admit` continues.
   * For programs that open a session repeatedly.
   */
  attach(): Promise<{ readonly ok: true } | RefusedCall> {
    return this.#calls.runUnderLease(async () => ({ ok: true as const }));
  }

  /** True while a command runs in the background. Detaching the session ends the command. */
  get runsInBackground(): boolean {
    return this.#calls.runsInBackground;
  }

  /**
   * Returns the messages that the agent has not read, in the order of the inbox, and records new ones as delivered.
   * They stay unread until {@link Session.acknowledge} names them.
   */
  inbox(): Promise<{ readonly ok: true; readonly messages: readonly Message[] } | RefusedCall> {
    return this.#calls.runUnderLease(async () => {
      await recordNewMessages(this.#calls);
      return { ok: true as const, messages: await readUnreadMessages(this.#calls) };
    });
  }

  /** Records that the agent's model received the messages with these ids. */
  acknowledge(ids: readonly string[]): Promise<{ readonly ok: true } | RefusedCall> {
    return this.#calls.runUnderLease(async () => {
      await recordMessagesRead(this.#calls, ids);
      return { ok: true as const };
    });
  }

  /** Reads this session's entries, in order. */
  evidence(): Promise<readonly Entry[]> {
    return this.#calls.evidence();
  }

  /**
   * Enters a peripheral while the session is in none.
   * @example const started = await session.start('explore');
   */
  start(peripheral: string, options?: { readonly context?: AnyFields; readonly by?: Principal }): Promise<StartResult> {
    return this.#calls.settleAndRun(() => startVisit(this.#calls, peripheral, options ?? {}));
  }

  /**
   * Calls a tool. An acting tool's intent is durable before the tool runs, an outcome before this resolves. A tool that
   * fails is a result, too: `outcome` is `failed`, and `error` says why.
   * @throws TypeError for a signal, an approver or an approver's answer of another form
   * @example
   * const found = await session.step({ tool: 'grep', args: { pattern: 'TODO' } });
   * console.log(found.ok ? found.result : found.denial.remedy);
   */
  step(call: StepCall & CallControls, options?: CallApprover): Promise<StepResult> {
    return this.#calls.settleAndRun(() => takeStep(this.#calls, call, options));
  }

  /**
   * Decides a call that another program will run, such as an agent's own Edit or Read. If an acting tool is allowed,
   * its intent is durable when this returns; `conclude` records the outcome. Any other call in between interrupts it,
   * except admitted calls that only observe.
   * @throws Error if the tool's backend cannot watch such a run (see {@link ToolBackend.native}).
   */
  admit(call: NativeCall): Promise<AdmitCallResult> {
    return this.#calls.runUnderLease(() => admitNativeCall(this.#calls, call));
  }

  /**
   * Records the outcome of an admitted call, and observes its effects in the working tree. An outcome that comes too
   * late (after the visit, or after its intent was interrupted) is not recorded: the evidence already says that the
   * outcome is unknown.
   */
  conclude(ticket: NativeTicket, outcome: NativeCallOutcome): Promise<ConcludeCallResult> {
    return this.#calls.runUnderLease(() => concludeNativeCall(this.#calls, ticket, outcome));
  }

  /**
   * Admits a call of a client's own tool that no tool of the session covers, if the session only observes, and records
   * its refusal. Returns false if the session enforces: the client must not run its tool.
   */
  async admitUncovered(call: NativeCall): Promise<boolean> {
    return this.observeOnly && (await this.#calls.runUnderLease(() => admitUncoveredCall(this.#calls, call))).ok;
  }

  /**
   * Records a note of the operator for the agent, which gets it with its next call or turn. Returns `ok: false` while a
   * client such as Claude Code runs a call; try again afterwards.
   */
  note(text: string): Promise<{ readonly ok: true; readonly evidence: readonly Entry[] } | { readonly ok: false }> {
    return this.#calls.runUnderLease(() => recordOperatorNote(this.#calls, text));
  }

  /** The operator's hops, stops, mode changes and notes after the seq `after`, oldest first; at most the last 20. */
  operatorActs(after: number): Promise<readonly Entry[]> {
    return readOperatorEntries(this.#calls, after);
  }

  /**
   * Ends the visit; the session is then outside of every peripheral.
   * @example const stopped = await session.stop('nothing to fix');
   */
  stop(reason: string, options?: { readonly fruit?: AnyFields; readonly by?: Principal }): Promise<StopResult> {
    return this.#calls.settleAndRun(() => stopVisit(this.#calls, reason, options ?? {}));
  }

  /**
   * Leaves this peripheral and enters another in one append: stop, hop, start. If refused, the visit continues.
   * @example
   * const hop = await session.hop({ to: 'edit', exit: 'found-target', reason: 'it is in src/cart.js' });
   * if (!hop.ok) console.log(hop.denial.remedy);
   */
  hop(to: HopOptions | ShortHop, options?: CallApprover): Promise<HopResult> {
    return this.#calls.settleAndRun(() => makeHop(this.#calls, to, options));
  }

  /**
   * Records that a sub-agent starts in another peripheral, if the present one delegates to it; the visit continues. The
   * sub-agent's session stays in the present mode. If the program changes the mode, it must also end that session.
   *
   * @example
   * const started = await session.delegate({ to: 'test', reason: 'run the tests' });
   * if (started.ok && started.session !== null) {
   *   const delegation = { entry: started.delegation, session: started.session };
   *   const sub = await openSession({ root: session.root, agent: 'tester', delegation });
   *   await sub.start('test', { context: started.context });
   * }
   */
  delegate(sub: DelegateOptions, options?: CallApprover): Promise<DelegateResult> {
    return this.#calls.settleAndRun(() => recordDelegation(this.#calls, sub, options));
  }

  /**
   * Changes the mode by a transition of the mode gate.
   * @example const changed = await session.setMode({ to: 'execute', reason: 'a fix was asked for' });
   */
  setMode(change: ModeOptions, options?: CallApprover): Promise<ModeResult> {
    return this.#calls.settleAndRun(() => changeSessionMode(this.#calls, change, options));
  }

  /** Closes the session permanently and frees its resources. Refused in the middle of a visit: stop first. */
  async close(reason = 'done', options?: { readonly by?: Principal }): Promise<CloseResult> {
    const result = await this.#calls.settleAndRun(() => closeSession(this.#calls, reason, options?.by));
    if (result.ok) await this.detach();
    return result;
  }

  /** Releases the session without closing it, so that this or another process can resume it. Idempotent. */
  detach(): Promise<void> {
    return this.#calls.detach();
  }
}
