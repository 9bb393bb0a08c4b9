import { applyToAuditState } from '../../audit/rules/apply-to-audit-state.ts';
import { type AuditedPin, type AuditState, copyAuditState, initialAuditState } from '../../audit/rules/audit-state.ts';
import { verifySession } from '../../audit/verify/verify-session.ts';
import { plural } from '../../base/text.ts';
import { toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { Denial } from '../../gate/denial.ts';
import type { Approver } from '../../ports/approver.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { IdGenerator } from '../../ports/ids.ts';
import type { ToolBackend } from '../../ports/tool-backend.ts';
import { createSession, resumeSession } from '../../session/create-session.ts';
import type { Session } from '../../session/session.ts';
import { SESSION_LEASE_MS } from '../../session/session-writer.ts';
import { countingIds } from '../doubles/counting-ids.ts';
import { CrashError, CrashingProcess, type CrashMoment } from '../doubles/crashing-process.ts';
import { stubBackend } from '../doubles/stub-backend.ts';
import { DEFAULT_TOOL_REPORT, type Move } from '../plan/move.ts';
import { predictStateAfterMove } from '../plan/predict-state.ts';
import { compareStatusWithState } from './compare-state.ts';
import { ExpectedAnswers, type ExpectedRefusal } from './expected-answers.ts';
import { tryForgedApprovals } from './forge-approvals.ts';
import type { SettableTestClock } from './model-clock.ts';
import { sendRequest } from './send-request.ts';

/** One move, the refusal that the spec demands, and the session's answer. */
export interface JudgedMove {
  readonly move: Move;
  readonly before: AuditState;
  readonly refusal: ExpectedRefusal;
  readonly denial: Denial | null;
}

/** Thrown if the session differs from the spec. The message has the moves, and the expected and actual answer. */
export class ModelRunFailure extends Error {
  override readonly name = 'ModelRunFailure';
}

interface ModelRunOptions {
  readonly pinned: AuditedPin;
  readonly store: EvidenceStore;
  readonly clock: SettableTestClock;
  /** Default: ids that count up. */
  readonly ids?: IdGenerator;
  readonly agent: string;
  readonly root: string;
  /** Backends that replace the stub tools, for the tools that they serve. */
  readonly backends?: readonly ToolBackend[];
  readonly onMove?: (result: JudgedMove) => void;
}

/**
 * Runs moves on a real session. Every request is judged twice: by the session, and by the audit's rules over the
 * session's evidence. The two must agree. Each refusal must be recorded, and in the end the round trip must find no
 * violation.
 */
export class ModelRun {
  readonly #options: ModelRunOptions;
  readonly #expectations: ExpectedAnswers;
  readonly #ids: IdGenerator;
  readonly #trace: string[] = [];
  #process: CrashingProcess;
  #session: Session | null = null;
  #state: AuditState;
  /** The entries of the session that were stored since the state was computed. */
  readonly #unread: Entry[] = [];
  #last: Entry | null = null;
  #move: Move | null = null;
  #complaint: string | null = null;

  constructor(options: ModelRunOptions) {
    this.#options = options;
    this.#ids = options.ids ?? countingIds();
    this.#expectations = new ExpectedAnswers(options);
    this.#process = this.#newProcess();
    this.#state = initialAuditState(options.pinned);
  }

  get state(): AuditState {
    return this.#state;
  }

  get session(): Session {
    if (!this.#session) throw new Error('the model run has no session: call open first');
    return this.#session;
  }

  /**
   * The names of the moves so far. Requests that were only made to be refused are left out, except for the last
   * request.
   */
  get trace(): string {
    const shown = this.#trace.filter((name, at) => !name.startsWith('? ') || at === this.#trace.length - 1);
    const left = this.#trace.length - shown.length;
    return `${shown.join(' → ')}${left === 0 ? '' : ` (and ${plural(left, 'request')} to be refused)`}`;
  }

  async open(): Promise<this> {
    const { specs, config } = this.#options.pinned;
    const { agent, root } = this.#options;
    const opening = { specs, config, agent, root, unsafeNoSandbox: false, version: '0' };
    this.#session = await createSession(this.#sessionParts(), opening);
    this.#read();
    return this;
  }

  /** Makes a move in the session. Throws {@link ModelRunFailure} if the session and the spec disagree. */
  async make(move: Move): Promise<JudgedMove> {
    this.#trace.push(move.name);
    this.#advanceClock(move);
    // The dry run comes before `settle` records a passed deadline, because it must notice the deadline by itself.
    const dryRun = move.asked.kind === 'step' ? this.session.why(move.asked) : null;
    if (move.wait) await this.#settle();
    const difference = await this.#expectations.dryRunProblem(this.session, move, dryRun, this.#state);
    if (difference) this.#fail(move, difference.expected, difference.actual);
    const before = this.#state;
    const expected = this.#expectations.refusal(move, this.#state);
    const denial = await this.#request(move);
    this.#read();
    // A closed session is released, so later requests come from a process that opens it again.
    if (this.#state.closed && !before.closed) await this.resume();
    this.#compare(move, expected, denial);
    const result = { move, before, refusal: expected, denial };
    this.#options.onMove?.(result);
    return result;
  }

  /** Makes two moves at the same time. The session must run them one after the other. */
  async makeBoth(first: Move, second: Move): Promise<void> {
    this.#trace.push(`${first.name} and ${second.name} at once`);
    const expectations = [
      this.#expectations.refusal(first, this.#state),
      this.#expectations.refusal(second, predictStateAfterMove(this.#options.pinned, this.#state, first)),
    ] as const;
    const answers = await Promise.all([this.#request(first), this.#request(second)]);
    this.#read();
    for (const [index, refusal] of expectations.entries()) {
      const move = [first, second][index]!;
      const denial = answers[index] ?? null;
      if (!refusal && denial && this.#expectations.mayRefuse(move, denial)) continue;
      const actual = denial?.code ?? 'allowed';
      const expected = refusal?.code ?? 'allowed';
      if (actual !== expected) this.#fail(move, expected, actual);
    }
    this.#compareState(second);
  }

  /** Requests a move that only lacks an approval with approvals for other requests. The gate must refuse each. */
  forgeApproval(move: Move): void {
    this.#trace.push(`${move.name} by approvals for something else`);
    const problem = tryForgedApprovals(this.#options.pinned, this.#state, move);
    if (problem) this.#fail(move, 'only an approval of exactly this request is accepted', problem);
  }

  /** Lets a program act on the session, and reads the entries that it added. */
  async withSession(name: string, act: (session: Session) => Promise<void>): Promise<void> {
    this.#trace.push(name);
    await act(this.session);
    this.#read();
    this.#compareState(null);
  }

  /**
   * Makes a move with a process that crashes at its first append, before or after the append is durable. Then another
   * process resumes the session. If the move was not recorded, that process makes it again.
   */
  async makeAndCrash(move: Move, moment: CrashMoment): Promise<void> {
    this.#advanceClock(move);
    if (move.wait) await this.#settle();
    const before = this.#state;
    const head = this.#last;
    this.#process.crashAt(moment);
    const answered = await this.#request(move).then(
      () => true,
      (error) => {
        if (error instanceof CrashError) return false;
        throw error;
      },
    );
    this.#trace.push(`${move.name} (crashed ${moment} it was recorded)`);
    await this.resume();
    if (answered) this.#fail(move, 'the process crashes', 'it answered');
    const isSame = this.#last === head;
    if (moment === 'before' && !isSame) this.#fail(move, 'no new entry', `entry ${this.#last?.seq}`);
    if (moment === 'after' && isSame) this.#fail(move, 'the durable entry is kept', 'it is gone');
    const steps = this.#state.steps > before.steps;
    const done = moment === 'after' && (move.asked.kind !== 'step' || steps);
    if (!done) await this.make({ ...move, wait: 0 });
    else this.#compareState(move);
  }

  /** Resumes the session as another process does after a crash of this one: when the lease has expired. */
  async resume(): Promise<void> {
    this.#options.clock.advance(SESSION_LEASE_MS + 1);
    this.#process = this.#newProcess();
    this.#session = await resumeSession(this.#sessionParts(), this.#state.sessionId);
    await this.#settle();
  }

  /** Releases the session, and verifies all of its evidence against the spec. */
  async finish(): Promise<void> {
    const { store, pinned } = this.#options;
    const { id } = this.session;
    const { chain, audit, head } = await verifySession(id, pinned, store.entries(id), {
      getBlob: (hash) => store.getBlob(hash),
    });
    const [damage] = chain;
    if (damage)
      throw new ModelRunFailure(
        `${this.trace}\n  the chain is broken at entry ${damage.seq} (${damage.rule}): ${damage.message}`,
      );
    if (head.hash !== this.#last?.hash)
      throw new ModelRunFailure(
        `${this.trace}\n  the store ends with entry ${head.seq}, but entry ${this.#last?.seq} was stored`,
      );
    const { violations } = audit;
    const [first] = violations;
    if (first)
      throw new ModelRunFailure(
        `${this.trace}\n  the round trip finds ${plural(violations.length, 'violation')}; the first: ${first.rule} at entry ${first.seq}: ${first.message} (the spec says ${first.constraint})`,
      );
    await this.session.detach().catch((error) => {
      if (!(error instanceof CrashError)) throw error;
    });
  }

  #advanceClock({ wait = 0 }: Move): void {
    this.#options.clock.pass(wait * 60_000);
  }

  /** Lets the session record what happened without the agent, such as a passed deadline, before the next request. */
  async #settle(): Promise<void> {
    if (!this.#state.closed) await this.session.settle();
    this.#read();
  }

  async #request(move: Move): Promise<Denial | null> {
    this.#move = move;
    const result = await sendRequest(this.session, move.asked);
    if (this.#complaint) this.#fail(move, 'the tool is called after its intent, with its envelope', this.#complaint);
    return result.ok ? null : result.denial;
  }

  #newProcess(): CrashingProcess {
    return new CrashingProcess(this.#options.store, (stored) => {
      const { sessionId } = this.#state;
      const entries = stored.map(({ entry }) => entry);
      this.#unread.push(...entries.filter((entry) => sessionId === '' || entry.sessionId === sessionId));
    });
  }

  /** Applies the entries that were added to the store to the audit's state. */
  #read(): void {
    // Copied, because the results of earlier moves refer to their own states.
    const state = copyAuditState(this.#state);
    for (const entry of this.#unread.splice(0)) {
      this.#last = entry;
      applyToAuditState(state, entry, toBody(entry.body), Date.parse(entry.at));
    }
    this.#state = state;
  }

  #compare(move: Move, refusal: ExpectedRefusal, denial: Denial | null): void {
    const problem = this.#expectations.answerProblem(move, refusal, denial, this.#state, this.#last);
    if (problem) this.#fail(move, problem.expected, problem.actual);
    this.#compareState(move);
  }

  /** Checks that the session's status matches its evidence. */
  #compareState(move: Move | null): void {
    const problem = compareStatusWithState(this.#options.pinned, this.#state, this.session.state);
    if (problem) this.#fail(move, problem.expected, problem.actual);
  }

  #fail(move: Move | null, expected: string, actual: string): never {
    throw new ModelRunFailure(
      `${this.trace}\n  request   ${move ? JSON.stringify(move.asked) : 'none'}\n  expected  ${expected}\n  actual    ${actual}`,
    );
  }

  #sessionParts() {
    const { clock, backends, pinned } = this.#options;
    const served = new Set(backends?.flatMap(({ tools }) => tools));
    const unserved = Object.keys(pinned.specs.tools).filter((id) => !served.has(id));
    return {
      store: this.#process.store,
      clock,
      ids: this.#ids,
      backends: [...(backends ?? []), this.#stubs(unserved)],
      approver: this.#approver(),
    };
  }

  #stubs(tools: readonly string[]): ToolBackend {
    return stubBackend(tools, {
      state: () => this.#state,
      last: () => this.#unread.at(-1) ?? null,
      report: () => (this.#move?.breaks ? null : (this.#move?.report ?? DEFAULT_TOOL_REPORT)),
      complain: (problem) => {
        this.#complaint = problem;
      },
    });
  }

  #approver(): Approver {
    return {
      via: 'approver',
      approve: async () => {
        const { asked, approvalMinutes } = this.#move ?? {};
        if (asked && (asked.kind === 'step' || 'approves' in asked) && !asked.approves) return null;
        return { by: 'operator', ...(approvalMinutes === undefined ? {} : { minutes: approvalMinutes }) };
      },
    };
  }
}
