import { fieldsOf, textOf } from '../../base/json.ts';
import { AgencyRunTracker } from '../../evidence/agency-runs.ts';
import type { Body, OutcomeBody, StepBody } from '../../evidence/bodies.ts';
import { stepWaitingTimeMs } from '../../evidence/waiting-time.ts';
import { RECEIPT_STATES } from '../../spec/policy/receipt-states.ts';
import { AGENCY_TOOL_ID } from '../../spec/policy/tool-ids.ts';
import type { AuditState } from '../rules/audit-state.ts';
import type { AuditReport, ReportViolation } from './audit-report.ts';

/** Maximum difference between two clocks of one machine, in milliseconds. */
const TOLERANCE_MS = 1000;

/** Checks a session's messages, its runs of the agency, and the recorded times of waiting for both. */
export class MessageAudit {
  readonly #report: AuditReport;
  readonly #wrong: ReportViolation;
  readonly #received = new Set<string>();
  /** The last receipt of each message that the session sent. */
  readonly #sent = new Map<string, number>();
  readonly #runs = new AgencyRunTracker();
  #seq = 0;
  #nth = 0;

  constructor(report: AuditReport) {
    this.#report = report;
    this.#wrong = report.reporterOf('message');
  }

  /** Adds an entry; `state` is the state before it. */
  add(body: Body, at: number, state: AuditState): void {
    if (body.event === 'message') this.#receive(body);
    if (body.event === 'receipt') this.#receipt(body, state);
    if (body.event === 'step' && (body.tool === 'bell' || body.tool === 'whistle')) this.#send(body, at, state);
    this.#runs.add(this.#report.entryId, body);
    if (body.event === 'outcome' && body.tool === AGENCY_TOOL_ID) this.#reply(body, at, state);
  }

  #reply(body: OutcomeBody, at: number, state: AuditState): void {
    const { outcome } = body;
    if (outcome.status === 'refused' || state.pinned.specs.tools[AGENCY_TOOL_ID]?.upstream) return;
    const run = textOf(fieldsOf(outcome.result ?? null)['run']);
    if (run !== null && run !== this.#runs.run && state.history === 'complete')
      this.#report.violation(
        'delegation',
        `the reply belongs to ${this.#runs.run ?? 'no run'}`,
        `the outcome names ${run}`,
      );
    this.#wait('a call of agency-run', body, at, state);
  }

  /** Checks a wait, which cannot be longer than the time between its entry and the entry before it. */
  #wait(what: string, body: StepBody | OutcomeBody, at: number, { lastAt, pinned }: AuditState): void {
    const waited = stepWaitingTimeMs(pinned.specs.tools, body);
    if (waited > at - lastAt + TOLERANCE_MS)
      this.#wrong(`the wait of ${what} must begin after the entry before it`, `the entry states ${waited} ms`);
  }

  #receive({ id, seq, act, ref }: Extract<Body, { event: 'message' }>): void {
    if (seq <= this.#seq) this.#wrong(`the inbox was read up to message ${this.#seq}`, `message ${seq} follows`);
    if (this.#received.has(id)) this.#wrong('a message must arrive only once', `message ${id} was delivered again`);
    if (act === 'answer' && ref === null)
      this.#wrong('an answer must refer to a message', `answer ${id} refers to no message`);
    this.#seq = Math.max(seq, this.#seq);
    this.#received.add(id);
  }

  #receipt({ message, state, nth }: Extract<Body, { event: 'receipt' }>, { history }: AuditState): void {
    if (nth === null) {
      if (state !== 'read')
        this.#wrong(
          'the recipient may only record "read"',
          `the session records "${state}" for a message that it received`,
        );
      if (!this.#received.has(message) && history === 'complete')
        this.#wrong('a message must be delivered before it is read', `message ${message} was not delivered`);
      return;
    }
    if (nth <= this.#nth)
      this.#wrong(`receipts must be read in order, the next after ${this.#nth}`, `receipt ${nth} follows`);
    this.#nth = Math.max(nth, this.#nth);
    const before = this.#sent.get(message);
    const rank = (RECEIPT_STATES as readonly unknown[]).indexOf(state);
    if (before === undefined) this.#report.gap('no-outcome', `the sending of ${message} is not on record`);
    if (rank < 0 || (before !== undefined && rank <= before))
      this.#wrong(RECEIPT_STATES.join(', then '), `"${state}" follows "${RECEIPT_STATES[before ?? 0]}"`);
    this.#sent.set(message, rank);
  }

  #send(body: StepBody, at: number, state: AuditState): void {
    const { pinned, history } = state;
    const { tool, args, outcome } = body;
    if (outcome.status !== 'ok' || pinned.specs.tools[tool]?.upstream) return;
    const id = textOf(fieldsOf(outcome.result)['message']);
    if (id === null) return;
    if (this.#sent.has(id)) this.#wrong('a message may be sent only once', `message ${id} was sent again`);
    this.#sent.set(id, -1);
    const ref = textOf(args['ref']);
    if (args['act'] === 'answer' && (ref === null || !this.#received.has(ref)) && history === 'complete')
      this.#wrong('an answer must refer to a delivered message', `the answer refers to ${ref ?? 'no message'}`);
    this.#wait('a whistle', body, at, state);
  }
}
