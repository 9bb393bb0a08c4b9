import type { Body } from '../../evidence/bodies.ts';
import { CLAIM_TYPE_OF_EVENT } from '../../evidence/claim-of.ts';
import type { Entry, StoredEntry } from '../../evidence/entry.ts';
import { hashSpecs } from '../../spec/hash-specs.ts';
import type { Json } from '../../spec/types.ts';
import { checkDelegation } from '../delegation/check-delegation.ts';
import { applyToAuditState, setModeIfUnknown } from '../rules/apply-to-audit-state.ts';
import type { AuditRequest } from '../rules/audit-request.ts';
import { type AuditedPin, type AuditState, initialAuditState } from '../rules/audit-state.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';
import { shortJson } from '../rules/compare-json.ts';
import { findRuleProblems, SESSION_CLOSED_PROBLEM } from '../rules/find-rule-problems.ts';
import { findWrongBodyField, parseEntryBody } from '../rules/read-body.ts';
import { NEEDS_HISTORY, type RuleProblem } from '../rules/rule-problem.ts';
import { ApprovalAudit } from './approval-audit.ts';
import { AuditReport } from './audit-report.ts';
import type { AuditResult } from './audit-result.ts';
import { checkCallApproval, checkCallOutcome, checkToolCall } from './check-calls.ts';
import { checkEntryHead } from './check-entry-head.ts';
import { checkIdleMode, checkMode } from './check-mode.ts';
import { type CheckContext, checkHop, checkStart, checkStop } from './check-visits.ts';
import { expectedRefusalCodes } from './expected-codes.ts';
import { GrantAudit } from './grant-audit.ts';
import { requestImpliedByEntry } from './implied-request.ts';
import { MessageAudit } from './message-audit.ts';
import {
  auditStateForRefusedCall,
  isObserveOnlySession,
  REFUSED_BUT_RUN_PROBLEM,
  wrongRefusalProblem,
} from './observe-only-session.ts';
import { ShippingAudit } from './shipping-audit.ts';
import { VerifiedThread } from './verified-thread.ts';

type BodyOf<Event extends Body['event']> = Extract<Body, { event: Event }>;
/** Compares what an entry claims with the entries before it. */
type ClaimCheck<Checked extends Body> = (body: Checked, context: CheckContext) => void;

/**
 * The round trip over one session, entry by entry. An entry that implies a request is judged by the {@link
 * findRuleProblems} of that request. The other checks compare the claims of an entry with the entries before it. Add
 * the entries in order. Memory does not grow with their number.
 */
export class SessionAudit {
  readonly #report = new AuditReport();
  readonly #thread = new VerifiedThread();
  readonly #approvals = new ApprovalAudit(this.#report);
  readonly #grants = new GrantAudit(this.#report);
  readonly #messages = new MessageAudit(this.#report);
  readonly #shipping = new ShippingAudit(this.#report);
  #refusedByTool: CheckContext['refused'] = null;
  #state: AuditState;
  #counts = { entries: 0, hops: 0, approvals: 0, wouldRefuse: 0 };

  constructor(pinned: AuditedPin) {
    this.#state = initialAuditState(pinned);
  }

  add(entry: Entry, erased = false): void {
    const report = this.#report;
    const body = erased ? null : parseEntryBody(entry.body);
    const at = Date.parse(entry.at);
    if (this.#counts.entries === 0) {
      const { sessionId, author: agent } = entry;
      this.#state = initialAuditState(this.#state.pinned, { sessionId, agent });
    }
    setModeIfUnknown(this.#state, entry);
    report.beginEntry(entry, this.#state);
    this.#checkHead(entry, body, at);
    if (body) this.#check(entry, body, at);
    else if (erased) report.gap('erased', 'the body of the entry was erased');
    else this.#checkUnread(entry.body);
    const event = erased ? (EVENTS.find((name) => entry.tags.includes(name)) ?? null) : (body?.event ?? null);
    this.#thread.add(entry, event, body);
    applyToAuditState(this.#state, entry, erased ? 'erased' : body, at);
    this.#counts.entries += 1;
  }

  result(): AuditResult {
    const { visit, pending, visits, steps, denials } = this.#state;
    const { violations, gaps, counts } = this.#report;
    const { lastId, pendingId } = this.#thread.ids;
    const seq = this.#counts.entries - 1;
    const open: AuditResult['gaps'][number][] = [];
    if (pending) {
      const message = 'the outcome is not on record';
      open.push({ kind: 'no-outcome', entryId: pendingId ?? '', seq, tool: pending.tool, message });
    }
    if (visit) {
      const message = `the visit to ${visit.peripheral} has no conclusion`;
      open.push({ kind: 'open-visit', entryId: lastId ?? '', seq, message });
    }
    return {
      ok: counts.violations === 0,
      ...(isObserveOnlySession(this.#state) ? { observed: true } : {}),
      violations: [...violations],
      gaps: [...gaps, ...open],
      counts: {
        ...this.#counts,
        steps,
        denials,
        visits: Object.values(visits).reduce((sum, count) => sum + count, 0),
        violations: counts.violations,
        gaps: counts.gaps + open.length,
      },
    };
  }

  /** Checks what is known even if the body was erased: the entry's session and time, and that the session is open. */
  #checkHead(entry: Entry, body: Body | null, at: number): void {
    const { sessionId, lastAt, closed } = this.#state;
    const report = this.#report;
    if (this.#counts.entries === 0) {
      const wrong = report.reporterOf('goal-first');
      if (entry.claim !== 'goal') wrong('the first entry must be a goal', `the first entry is a ${entry.claim}`);
      if (body && body.event !== 'session-open')
        wrong('the first entry must open the session', `the first entry records ${body.event}`);
    }
    report.compare('one-session', 'the session of the entry', sessionId, entry.sessionId);
    const wrong = report.reporterOf('time');
    if (Number.isNaN(at)) wrong('an entry must have a valid time', `${entry.at} is not a valid time`);
    else if (at < lastAt)
      wrong(`the entry before is of ${new Date(lastAt).toISOString()}`, `the entry is earlier: ${entry.at}`);
    if (closed && (!body || requestImpliedByEntry(this.#state, body) === null))
      report.violation('lifecycle', SESSION_CLOSED_PROBLEM.constraint, SESSION_CLOSED_PROBLEM.message);
  }

  #checkUnread(body: Json): void {
    const field = findWrongBodyField(body);
    if (field === null) this.#report.gap('unknown', 'the audit does not know this kind of entry');
    else {
      const message = `${field} is missing, or of another type`;
      this.#report.violation('claim', 'an entry must have the fields of its event', message);
    }
  }

  #check(entry: Entry, body: Body, at: number): void {
    const state = this.#state;
    this.#checkOrder(body);
    checkEntryHead(state, entry, body, this.#thread.parentOf(body, state), this.#report);
    const request = requestImpliedByEntry(this.#state, body);
    if (request)
      for (const { rule, constraint, message, code: _, ...about } of this.#problemsOf(body, request))
        this.#report.violation(rule, constraint, message, about);
    this.#checkClaims(body, at);
  }

  /** The broken rules of a request. A session that only observes need not follow rules of enforcement. */
  #problemsOf(body: Body, request: AuditRequest): readonly RuleProblem[] {
    const found = findRuleProblems(this.#state, request);
    if (body.event !== 'step' && body.event !== 'intent') return found;
    if (!isObserveOnlySession(this.#state)) return body.wouldRefuse ? [...found, REFUSED_BUT_RUN_PROBLEM] : found;
    const { wouldRefuse } = body;
    const [first] = found;
    if (!first && !wouldRefuse) return found;
    if (wouldRefuse) this.#counts.wouldRefuse += 1;
    const recorded =
      first && wouldRefuse?.code === first.code ? [] : [wrongRefusalProblem(wouldRefuse?.code, first?.code)];
    return [...recorded, ...findRuleProblems(auditStateForRefusedCall(this.#state, body.tool, body.args), request)];
  }

  /** Checks that an outcome directly follows its intent, a hop its stop, a start its hop, a use its approval. */
  #checkOrder({ event }: Body): void {
    const { opened, history, pending, leaving, arriving } = this.#state;
    const wrong = this.#report.reporterOf('lifecycle');
    if (event === 'session-open' && opened) wrong('a session may be opened only once', 'the session was opened again');
    if (event !== 'session-open' && !opened && this.#counts.entries > 0 && history === 'complete')
      wrong('a session must be opened first', `${event} came before the session was opened`);
    if (pending && event !== 'outcome' && event !== 'interrupted') {
      const message = `${event} came between the intent and its outcome`;
      this.#report.violation('intent', 'the outcome must follow its intent', message, { tool: pending.tool });
    }
    if (leaving && event !== 'hop') wrong(`the hop by ${leaving.exit} must follow the stop`, `${event} came instead`);
    if (arriving && event !== 'start')
      wrong(`the start of ${arriving.hop.to} must follow the hop`, `${event} came instead`);
    if (event !== 'stop' && event !== 'hop' && event !== 'mode' && event !== 'intent' && event !== 'delegation')
      this.#approvals.drop();
  }

  #checkClaims(body: Body, at: number): void {
    const state = this.#state;
    const { shownId } = this.#thread.ids;
    const [report, approvals, shipping, refused] = [this.#report, this.#approvals, this.#shipping, this.#refusedByTool];
    this.#refusedByTool = null;
    checkIdleMode(body, { state, report, at });
    this.#grants.add(body, state);
    this.#messages.add(body, at, state);
    const check = this.#claimChecks[body.event] as ClaimCheck<Body> | null;
    check?.(body, { state, report, approvals, shipping, at, shownId, refused });
  }

  readonly #claimChecks: { readonly [Event in Body['event']]: ClaimCheck<BodyOf<Event>> | null } = {
    'session-open': (body) => this.#checkPin(body),
    start: checkStart,
    intent: (body, context) => {
      checkToolCall(body, context);
      checkCallApproval(body, context);
    },
    step: checkToolCall,
    outcome: (body, context) => {
      checkCallOutcome(body, context);
      this.#refusedByTool = body.outcome.status === 'refused' ? { tool: body.tool, code: body.outcome.code } : null;
    },
    interrupted: ({ tool }, { state, report }) => {
      report.gap('no-outcome', 'the step was interrupted; its effects are unknown', tool);
      if (!state.pending)
        report.violation('intent', 'an intent must come before', 'the interrupted step has no intent', { tool });
    },
    par: (_, { state: { visit }, report }) => {
      if (visit?.spec && isReflectingPeripheral(visit.spec)) return;
      const message = `the review was written in ${visit?.peripheral ?? 'no peripheral'}`;
      report.violation('lifecycle', 'a review belongs in a peripheral that reflects', message);
    },
    stop: checkStop,
    hop: (body, context) => {
      this.#counts.hops += 1;
      checkHop(body, context);
    },
    delegation: checkDelegation,
    mode: checkMode,
    approval: (body, { state, at }) => {
      this.#counts.approvals += 1;
      this.#approvals.record(body, state.sessionId);
      this.#grants.use(body, at, state);
    },
    expired: ({ peripheral, deadline }, { state: { visit }, report, at }) => {
      if (visit?.peripheral === peripheral && visit.deadline === deadline && at >= deadline) return;
      const constraint = `the deadline is ${shortJson(visit?.deadline ?? null)}`;
      report.violation('limit', constraint, `${peripheral} expired at ${shortJson(deadline)}`, NEEDS_HISTORY);
    },
    denial: (body, { state, report, at, refused }) => {
      this.#checkDenial(body, at, refused);
      if (body.enforced !== false) return;
      this.#counts.wouldRefuse += 1;
      if (!isObserveOnlySession(state)) report.violation('pin', 'enforce: true', 'a refused call was carried out');
    },
    message: null,
    receipt: null,
    grant: null,
    'grant-end': null,
    note: null,
    'session-closed': null,
  };

  #checkDenial(body: BodyOf<'denial'>, at: number, refused: CheckContext['refused']): void {
    const tool = body.request['tool'];
    if (refused !== null && refused.tool === tool && refused.code === body.code) return;
    const codes = expectedRefusalCodes(this.#state, body, at);
    if (codes === null) return;
    const constraint = `by the spec the answer is ${codes.join(' or ') || 'allowed'}`;
    this.#report.violation('refusal', constraint, `the call was refused: ${body.code}`, {
      ...NEEDS_HISTORY,
      ...(typeof tool === 'string' ? { tool } : {}),
    });
  }

  #checkPin({ specHash }: BodyOf<'session-open'>): void {
    const { specs } = this.#state.pinned;
    const wrong = (message: string) => this.#report.violation('pin', `spec ${specs.hash}`, message);
    if (specHash !== specs.hash) wrong(`the session was opened under ${specHash}`);
    if (hashSpecs(specs) !== specs.hash) wrong('the content of the pinned spec has another hash');
  }
}

const EVENTS = Object.keys(CLAIM_TYPE_OF_EVENT);

/** An entry, alone or with its stored bytes. Only the bytes distinguish an erased body from an empty one. */
export type EntryOrStoredEntry = Entry | StoredEntry;
