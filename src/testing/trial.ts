import { type Asked, type Expected, expected } from '../audit/expected.ts';
import type { Pinned } from '../audit/ledger.ts';
import { SessionAudit } from '../audit/session-audit.ts';
import { afterBody, beforeAll, type Standing } from '../audit/standing.ts';
import { bodyOf } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import type { Denial } from '../gate/denial.ts';
import type { Approver } from '../ports/approver.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { ToolBackend, ToolReport } from '../ports/tool-backend.ts';
import { createSession, resumeSession } from '../session/open.ts';
import type { Session } from '../session/session.ts';
import { LEASE_MS } from '../session/writer.ts';
import type { Json } from '../spec/types.ts';
import { countingIds } from './counting-ids.ts';
import type { FixedClock } from './fixed-clock.ts';
import { type Death, Died, MortalProcess } from './mortal-store.ts';
import type { Move } from './moves.ts';

/** What came of one move: what the spec expects, and what the session answered. */
export interface Taken {
  readonly move: Move;
  readonly before: Standing;
  readonly expected: Expected;
  readonly denial: Denial | null;
}

/** The session did not do what the spec says. The message tells the way there, what was expected and what came. */
export class TrialFailure extends Error {
  override readonly name = 'TrialFailure';
}

export interface TrialParts {
  readonly pinned: Pinned;
  readonly store: EvidenceStore;
  readonly clock: FixedClock;
  readonly agent: string;
  readonly root: string;
  /** In place of the canned tools. */
  readonly backends?: readonly ToolBackend[];
  readonly onTaken?: (taken: Taken) => void;
}

/**
 * A real session under trial. Every request is judged twice: by the session, and by the spec's meaning over the session's own evidence. They
 * have to agree, each refusal has to be on record, and in the end the round trip has to find nothing.
 */
export class Trial {
  readonly #parts: TrialParts;
  readonly #ids = countingIds();
  readonly #audit: SessionAudit;
  readonly #way: string[] = [];
  #process: MortalProcess;
  #session: Session | null = null;
  #standing: Standing;
  #seq = -1;
  #last: Entry | null = null;
  #report: ToolReport | null = null;
  #approves = true;

  constructor(parts: TrialParts) {
    this.#parts = parts;
    this.#process = new MortalProcess(parts.store);
    this.#standing = beforeAll(parts.pinned);
    this.#audit = new SessionAudit(parts.pinned);
  }

  get standing(): Standing {
    return this.#standing;
  }

  get session(): Session {
    if (!this.#session) throw new Error('the trial has not begun: call open first');
    return this.#session;
  }

  /** What was done so far, in words. */
  get way(): readonly string[] {
    return this.#way;
  }

  async open(): Promise<this> {
    const { specs, config } = this.#parts.pinned;
    const { agent, root } = this.#parts;
    this.#session = await createSession(this.#sessionParts(), {
      specs,
      config,
      agent,
      root,
      unsafeNoSandbox: false,
      version: '0',
    });
    await this.#read();
    return this;
  }

  /** Puts a move to the session. Throws {@link TrialFailure} when the session and the spec disagree. */
  async take(move: Move): Promise<Taken> {
    this.#way.push(move.name);
    await this.#wait(move);
    const { pinned, clock, onTaken } = this.#parts;
    const before = this.#standing;
    const want = expected(pinned, before, move.asked, clock.now());
    const denial = await this.#put(move);
    await this.#read();
    // A closed session is let go of; what is asked of it later comes from a process that opens it again.
    if (this.#standing.closed && !before.closed) await this.resume();
    this.#compare(move, want, denial);
    const taken = { move, before, expected: want, denial };
    onTaken?.(taken);
    return taken;
  }

  /** Lets somebody else act on the session for a while, and reads what came of it. */
  async hand(name: string, play: (session: Session) => Promise<void>): Promise<void> {
    this.#way.push(name);
    await play(this.session);
    await this.#read();
    this.#compareState({ name, asked: { kind: 'close' } });
  }

  /**
   * Takes a move and dies on the way: at its first append, before or after it is durable. Then another process resumes the session. If the move
   * did not come through, it is taken again.
   */
  async takeAndDie(move: Move, death: Death): Promise<void> {
    await this.#wait(move);
    const before = this.#standing;
    const head = this.#seq;
    this.#process.dieAt(death);
    const survived = await this.#put(move).then(
      () => true,
      (error) => {
        if (error instanceof Died) return false;
        throw error;
      },
    );
    this.#way.push(`${move.name} (killed ${death} it was on record)`);
    await this.resume();
    if (survived) this.#fail(move, 'the writer should have died', 'it answered');
    if (death === 'before' && this.#seq !== head) this.#fail(move, 'no new entry', `${this.#seq - head} entries`);
    if (death === 'after' && this.#seq === head) this.#fail(move, 'what was durable is there', 'it is gone');
    const steps = this.#standing.steps > before.steps;
    const done = death === 'after' && (move.asked.kind !== 'step' || steps);
    if (!done) await this.take({ ...move, wait: 0 });
    else this.#compareState(move);
  }

  /** Opens the session again, as another process does after this one has died: its lease has to run out first. */
  async resume(): Promise<void> {
    this.#parts.clock.advance(LEASE_MS + 1);
    this.#process = new MortalProcess(this.#parts.store);
    this.#session = await resumeSession(this.#sessionParts(), this.#standing.sessionId);
    await this.#settle();
  }

  /** Ends the visit and the session, and holds all of the evidence against the spec. */
  async finish(): Promise<void> {
    const { violations } = this.#audit.verdict();
    const [first] = violations;
    if (first)
      throw new TrialFailure(
        `${this.#way.join(' → ')}\n  the round trip finds ${violations.length} violations; the first: ${first.rule} at entry ${first.seq}: ${first.message} (the spec says ${first.constraint})`,
      );
    await this.session.detach().catch((error) => {
      if (!(error instanceof Died)) throw error;
    });
  }

  async #wait({ wait = 0 }: Move): Promise<void> {
    if (wait === 0) return;
    this.#parts.clock.advance(wait * 60_000);
    await this.#settle();
  }

  /** Lets the session record what happened without the agent, so that it is known before the next request is judged. */
  async #settle(): Promise<void> {
    if (!this.#standing.closed) await this.session.settle();
    await this.#read();
  }

  async #put({ asked, report }: Move): Promise<Denial | null> {
    this.#report = report ?? null;
    this.#approves = 'approves' in asked ? asked.approves : true;
    const result = await request(this.session, asked);
    return result.ok ? null : result.denial;
  }

  /** Folds and audits what is new in the store. */
  async #read(): Promise<void> {
    const { store, pinned } = this.#parts;
    const id = this.session.id;
    for await (const { entry } of store.entries(id, { from: this.#seq + 1 })) {
      this.#audit.add(entry);
      this.#seq = entry.seq;
      this.#last = entry;
      const body = bodyOf(entry.body);
      if (body) this.#standing = afterBody(pinned, this.#standing, body, Date.parse(entry.at), entry.sessionId);
    }
  }

  #compare(move: Move, want: Expected, denial: Denial | null): void {
    if (want.ok) {
      if (denial) this.#fail(move, 'it is let through', `it was refused: ${denial.code}: ${denial.message}`);
      return this.#compareState(move);
    }
    if (!denial) return this.#fail(move, `it is refused: ${want.code} (${want.rule})`, 'it was let through');
    if (denial.code !== want.code)
      return this.#fail(move, `${want.code} (${want.rule})`, `${denial.code}: ${denial.message}`);
    if (want.code !== 'session-closed') {
      const body = this.#last && bodyOf(this.#last.body);
      if (body?.event !== 'denial' || body.code !== want.code)
        this.#fail(move, 'the refusal is on record', `the last entry tells of ${body?.event ?? 'nothing'}`);
    }
    return this.#compareState(move);
  }

  /** What the session says of itself has to be what its evidence says. */
  #compareState(move: Move): void {
    const { mode, peripheral, closed, steps, denials } = this.session.state;
    const said = JSON.stringify({ mode, peripheral, closed, steps, denials });
    const { standing } = this;
    const read = JSON.stringify({
      mode: standing.mode,
      peripheral: standing.visit?.peripheral ?? null,
      closed: standing.closed,
      steps: standing.steps,
      denials: standing.denials,
    });
    if (said !== read) this.#fail(move, `the session stands at ${read}`, `it says ${said}`);
  }

  #fail(move: Move, want: string, got: string): never {
    throw new TrialFailure(
      `${this.#way.join(' → ')}\n  asked     ${JSON.stringify(move.asked)}\n  expected  ${want}\n  but       ${got}`,
    );
  }

  #sessionParts() {
    const { clock, backends, pinned } = this.#parts;
    return {
      store: this.#process.store,
      clock,
      ids: this.#ids,
      backends: backends ?? [this.#canned(Object.keys(pinned.specs.tools))],
      approver: this.#approver(),
    };
  }

  #canned(tools: readonly string[]): ToolBackend {
    return {
      name: 'canned',
      tools,
      run: async () => this.#report ?? { outcome: { status: 'ok', result: { seen: true } as Json }, effects: [] },
    };
  }

  #approver(): Approver {
    return { via: 'approver', approve: async () => (this.#approves ? { by: 'operator' } : null) };
  }
}

type Answer = { readonly ok: true } | { readonly ok: false; readonly denial: Denial };

/** Puts a request to a session. */
async function request(session: Session, asked: Asked): Promise<Answer> {
  switch (asked.kind) {
    case 'start':
      return session.start(asked.peripheral, asked);
    case 'step':
      return session.step(asked);
    case 'hop':
      return session.hop(asked);
    case 'stop':
      return session.stop('enough', asked);
    case 'mode':
      return session.setMode({ ...asked, to: asked.to as never });
    case 'close':
      return session.close();
    default:
      return asked satisfies never;
  }
}
