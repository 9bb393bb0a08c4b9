import type { Body, HopBody, ModeBody, StartBody, StopBody } from '../../evidence/bodies.ts';
import type { Entry, StoredEntry } from '../../evidence/entry.ts';
import { hashSpecs } from '../../spec/hash-specs.ts';
import { own } from '../../spec/names.ts';
import { takesCommand } from '../../spec/policy/argument-roles.ts';
import { APPROVAL_VIEW } from '../../spec/policy/closed-lists.ts';
import { isTestFile } from '../../spec/test-files.ts';
import type { Json } from '../../spec/types.ts';
import { fieldsOf, fits, sameJson, show } from '../rules/json.ts';
import { type Moment, momentNow } from '../rules/moment.ts';
import { looksBack, trustedReport } from '../rules/observations.ts';
import { NEEDS_HISTORY } from '../rules/problem.ts';
import { problems } from '../rules/problems.ts';
import { readBody, wrongField } from '../rules/read-body.ts';
import type { AuditRequest } from '../rules/request.ts';
import { type AuditState, apply, beginState, type Pinned, recallMode } from '../rules/state.ts';
import { refusedByTool } from '../rules/step.ts';
import { wrongCommands } from '../rules/test-runs.ts';
import { contextFor, contextRule, gatesOn } from '../rules/visit.ts';
import { Approvals } from './approval.ts';
import { checkEffects, unconfirmed } from './effects.ts';
import { CLAIM_OF, checkForm } from './entry-form.ts';
import { checkFacts } from './facts.ts';
import { AuditReport } from './report.ts';
import { approvedTree, Shipping } from './shipping.ts';
import { VerifiedThread } from './thread.ts';
import type { AuditVerdict } from './verdict.ts';

type BodyOf<Event extends Body['event']> = Extract<Body, { event: Event }>;

/**
 * The round trip over one session, entry by entry. An entry that implies a request is judged by the {@link problems} of
 * that request; the rest of the class compares what the entry claims with the entries before it. Feed it in order;
 * memory stays flat.
 */
export class SessionAudit {
  readonly #report = new AuditReport();
  readonly #thread = new VerifiedThread();
  readonly #approvals = new Approvals(this.#report);
  readonly #shipping = new Shipping(this.#report);
  #state: AuditState;
  #counts = { entries: 0, hops: 0, approvals: 0 };
  #lastEvent: string | null = null;

  constructor(pinned: Pinned) {
    this.#state = beginState(pinned);
  }

  add(entry: Entry, erased = false): void {
    const report = this.#report;
    const body = erased ? null : readBody(entry.body);
    const at = Date.parse(entry.at);
    if (this.#counts.entries === 0) {
      const { sessionId, author: agent } = entry;
      this.#state = beginState(this.#state.pinned, { sessionId, agent });
    }
    recallMode(this.#state, entry);
    report.reading(entry, this.#state);
    this.#checkHead(entry, body, at);
    if (body) this.#check(entry, body, at);
    else if (erased) report.gap('erased', 'its body was erased');
    else this.#checkUnread(entry.body);
    const event = erased ? (EVENTS.find((name) => entry.tags.includes(name)) ?? null) : (body?.event ?? null);
    this.#thread.add(entry, event, body);
    apply(this.#state, entry, erased ? 'erased' : body, at);
    this.#lastEvent = body?.event ?? null;
    this.#counts.entries += 1;
  }

  verdict(): AuditVerdict {
    const { visit, pending, visits, steps, denials } = this.#state;
    const { violations, violationsInAll, gaps, gapsInAll } = this.#report;
    const { lastId, pendingId } = this.#thread;
    const seq = this.#counts.entries - 1;
    const open: AuditVerdict['gaps'][number][] = [];
    if (pending) {
      const message = 'the outcome is not on record';
      open.push({ kind: 'no-outcome', entryId: pendingId ?? '', seq, tool: pending.tool, message });
    }
    if (visit) {
      const message = `the visit to ${visit.peripheral} has no conclusion`;
      open.push({ kind: 'open-visit', entryId: lastId ?? '', seq, message });
    }
    return {
      ok: violationsInAll === 0,
      violations: [...violations],
      gaps: [...gaps, ...open],
      counts: {
        ...this.#counts,
        steps,
        denials,
        visits: Object.values(visits).reduce((sum, count) => sum + count, 0),
        violations: violationsInAll,
        gaps: gapsInAll + open.length,
      },
    };
  }

  /** The event of the entry that was added last; null if it could not be read. */
  get lastEvent(): string | null {
    return this.#lastEvent;
  }

  /** Session, time and life of the session: also known of an entry without a body. */
  #checkHead(entry: Entry, body: Body | null, at: number): void {
    const { sessionId, lastAt, closed } = this.#state;
    const report = this.#report;
    if (this.#counts.entries === 0) {
      if (entry.claim !== 'goal') report.violation('goal-first', 'the first entry is a goal', `it is a ${entry.claim}`);
      if (body && body.event !== 'session-open')
        report.violation('goal-first', 'the first entry opens the session', `it records ${body.event}`);
    }
    if (entry.sessionId !== sessionId)
      report.violation('one-session', `session ${sessionId}`, `the entry belongs to session ${entry.sessionId}`);
    if (Number.isNaN(at)) report.violation('time', 'a time', `${entry.at} is not a time`);
    else if (at < lastAt)
      report.violation('time', `not before ${new Date(lastAt).toISOString()}`, `the entry is of ${entry.at}`);
    if (closed && (!body || this.#requestOf(body) === null))
      report.violation('lifecycle', 'nothing after the session was closed', 'an entry follows');
  }

  #checkUnread(body: Json): void {
    const field = wrongField(body);
    if (field === null) this.#report.gap('unknown', 'the audit does not know this kind of entry');
    else this.#report.violation('claim', 'the fields of its event', `${field} is missing, or of another type`);
  }

  #check(entry: Entry, body: Body, at: number): void {
    const state = this.#state;
    this.#checkOrder(body);
    checkForm(state, entry, body, this.#thread.parentOf(body, state), this.#report);
    const request = this.#requestOf(body);
    if (request)
      for (const { rule, constraint, message, code: _, ...about } of problems(state, request))
        this.#report.violation(rule, constraint, message, about);
    this.#checkClaims(body, at);
  }

  /** The request that an entry is the answer to; null if it records something else. */
  #requestOf(body: Body): AuditRequest | null {
    const { arriving, leaving } = this.#state;
    switch (body.event) {
      case 'start':
        return arriving ? null : { kind: 'start', peripheral: body.peripheral, by: body.by, context: body.context };
      case 'step':
        return { kind: 'step', tool: body.tool, args: body.args };
      case 'intent':
        return { kind: 'step', tool: body.tool, args: body.args, approves: body.approval !== undefined };
      case 'stop':
        return { kind: 'stop', fruit: body.fruit };
      case 'hop': {
        const { to, exit, reason, by, approval } = body;
        return leaving && { kind: 'hop', to, exit, reason, by, approves: approval !== null };
      }
      case 'mode': {
        const { to, how, by, approval, summary } = body;
        const whose = how === 'timeout' ? 'clock' : by;
        return {
          kind: 'mode',
          to,
          by: whose,
          reset: how === 'reset',
          approves: approval !== null,
          ...(summary === null ? {} : { summary }),
        };
      }
      case 'session-closed':
        return { kind: 'close' };
      default:
        return null;
    }
  }

  /** Entries that must follow directly: an outcome its intent, a hop its stop, a start its hop, a use its approval. */
  #checkOrder({ event }: Body): void {
    const { opened, history, pending, leaving, arriving } = this.#state;
    const report = this.#report;
    if (event === 'session-open' && opened)
      report.violation('lifecycle', 'a session is opened once', 'it was opened again');
    if (event !== 'session-open' && !opened && this.#counts.entries > 0 && history === 'complete')
      report.violation('lifecycle', 'a session is opened first', `${event} came before`);
    if (pending && event !== 'outcome' && event !== 'interrupted')
      report.violation('intent', 'an intent, then its outcome', `${event} came in between`, { tool: pending.tool });
    if (leaving && event !== 'hop')
      report.violation('lifecycle', `the hop by ${leaving.exit}`, `${event} came instead`);
    if (arriving && event !== 'start')
      report.violation('lifecycle', `the start of ${arriving.hop.to}`, `${event} came instead`);
    if (event !== 'stop' && event !== 'hop' && event !== 'mode' && event !== 'intent') this.#approvals.drop();
  }

  /** Compares what an entry claims with the entries before it. */
  #checkClaims(body: Body, at: number): void {
    const state = this.#state;
    const report = this.#report;
    switch (body.event) {
      case 'session-open':
        this.#checkPin(body);
        return;
      case 'start':
        this.#checkStart(body, at);
        return;
      case 'intent':
        this.#checkCall(body);
        this.#checkApproved(body, at);
        return;
      case 'step':
        this.#checkCall(body);
        return;
      case 'outcome':
        this.#checkOutcome(body);
        return;
      case 'interrupted': {
        const { tool } = body;
        report.gap('no-outcome', 'the step was interrupted; its effects are unknown', tool);
        if (!state.pending) report.violation('intent', 'an intent before', 'it was interrupted without one', { tool });
        return;
      }
      case 'par':
        if (!state.visit?.spec || !looksBack(state.visit.spec))
          report.violation(
            'lifecycle',
            'a review where one looks back',
            `in ${state.visit?.peripheral ?? 'no peripheral'}`,
          );
        return;
      case 'stop':
        this.#checkStop(body);
        return;
      case 'hop':
        this.#counts.hops += 1;
        this.#checkHop(body, at);
        return;
      case 'mode':
        this.#checkMode(body, at);
        return;
      case 'approval':
        this.#counts.approvals += 1;
        this.#approvals.record(body, state.sessionId);
        return;
      case 'expired': {
        const { visit } = state;
        const { peripheral, deadline } = body;
        const due = visit?.peripheral === peripheral && visit.deadline === deadline;
        if (due && at >= deadline) return;
        const constraint = `the deadline ${show(visit?.deadline ?? null)}`;
        report.violation('limit', constraint, `${peripheral} expired at ${show(deadline)}`, NEEDS_HISTORY);
        return;
      }
      case 'denial':
      case 'session-closed':
        return;
      default:
        body satisfies never;
    }
  }

  #checkPin({ specHash }: BodyOf<'session-open'>): void {
    const { specs } = this.#state.pinned;
    const wrong = (message: string) => this.#report.violation('pin', `spec ${specs.hash}`, message);
    if (specHash !== specs.hash) wrong(`the session was opened under ${specHash}`);
    if (hashSpecs(specs) !== specs.hash) wrong('the pinned spec does not hash to its hash');
  }

  #checkStart(body: StartBody, at: number): void {
    const state = this.#state;
    const report = this.#report;
    const { arriving, sessionId, fruits } = state;
    const { peripheral, by, deadline, context } = body;
    const target = own(state.pinned.specs.peripherals, peripheral);
    this.#shipping.enter(state, peripheral, arriving ? arriving.hop.tree : body.tree);
    if (arriving && (arriving.hop.to !== peripheral || arriving.hop.by !== by)) {
      const message = `${peripheral} was started by the ${by}`;
      report.violation('lifecycle', `the hop leads to ${arriving.hop.to}`, message);
    }
    if (!target) return;
    const { minutes } = target.limits;
    const latest = minutes === null ? null : at + minutes * 60_000;
    if ((latest === null) !== (deadline === null) || (latest !== null && (deadline ?? 0) > latest))
      report.violation('limit', `limits: ${minutes ?? 'no'} minutes`, `the deadline is ${show(deadline)}`);
    const sources = { sessionId, fruits, backpack: (arriving ?? state).backpack };
    const due = contextFor(target, sources, arriving ? {} : context).context;
    for (const field of new Set([...Object.keys(target.context), ...Object.keys(context)])) {
      const [has, source] = [context[field] ?? null, due[field] ?? null];
      if (sameJson(has, source)) continue;
      const message = Object.hasOwn(target.context, field)
        ? `${field} is ${show(has)}, its source holds ${show(source)}`
        : `${field} came along`;
      report.violation('context', contextRule(target, field), message, { argument: field, ...NEEDS_HISTORY });
    }
    if (arriving) {
      this.#approvals.checkContext(context);
      return;
    }
    const moment = { ...momentNow(state, by), visit: null };
    checkFacts(body.facts, moment, { conditions: target.entry.conditions }, report);
  }

  #checkCall(body: BodyOf<'step' | 'intent'>): void {
    const state = this.#state;
    const { event, tool: id, args } = body;
    const report = this.#report;
    const effect = own(state.pinned.specs.tools, id)?.effect;
    if (event === 'step' && effect === 'act')
      report.violation('intent', `${id}: an intent before it acts`, 'there is none', { tool: id });
    if (event === 'intent' && effect !== undefined && effect !== 'act')
      report.violation('intent', `${id} only observes`, 'it was recorded as an intent', { tool: id });
    const outside = refusedByTool(state, id, args);
    if (outside === 'unjudged') report.gap('unknown', `nothing says what ${id} may run`, id);
    if (event !== 'step') return;
    this.#checkRefusal(id, outside, body.outcome);
    this.#checkResult(body);
  }

  /** The approval of an install: for this command, its hosts and its scripts. The files are known to nobody else. */
  #checkApproved({ tool, args, approval }: BodyOf<'intent'>, at: number): void {
    if (approval === undefined) {
      this.#approvals.drop();
      return;
    }
    const { visit, pinned } = this.#state;
    const { install = [] } = pinned.config;
    this.#approvals.use(approval, at, {
      action: { kind: 'step', from: visit?.peripheral ?? '', to: tool },
      reason: '',
      view: {
        command: args['command'] ?? 'the configured one',
        install: install.map(({ run, hosts = [], scripts }) => ({
          run: run.join(' '),
          hosts: `from ${hosts.join(', ') || 'no host'}`,
          scripts: `with scripts of packages ${scripts ? 'on' : 'off'}`,
        })),
      },
    });
  }

  #checkOutcome(body: BodyOf<'outcome'>): void {
    const state = this.#state;
    const { pending } = state;
    const { tool } = body;
    const report = this.#report;
    if (!pending) report.violation('intent', 'an intent before', 'an outcome without one', { tool });
    else if (pending.tool !== tool)
      report.violation('intent', `the intent is of ${pending.tool}`, `the outcome is of ${tool}`, {
        tool,
        ...NEEDS_HISTORY,
      });
    if (pending) this.#checkRefusal(tool, refusedByTool(state, pending.tool, pending.args), body.outcome);
    this.#checkResult(body);
  }

  /** A command or an address outside of the scope is a violation unless the tool itself refused it. */
  #checkRefusal(tool: string, outside: string | null, { status }: BodyOf<'outcome'>['outcome']): void {
    const { visit } = this.#state;
    if (!visit || outside === null || outside === 'unjudged' || status === 'refused') return;
    const constraint = `command: ${visit.scope.command}, url: ${visit.scope.url}`;
    this.#report.violation('scope', constraint, `${tool} was allowed: ${outside}`, { tool });
  }

  #checkResult(body: BodyOf<'step' | 'outcome'>): void {
    const state = this.#state;
    const report = this.#report;
    const { tool: id, outcome } = body;
    const effects = body.effects === 'unobserved' ? [] : body.effects;
    const { tools } = state.pinned.specs;
    const claimed = unconfirmed(outcome, effects);
    if (body.effects === 'unobserved') report.gap('unobserved', `the effects of ${id} were not observed`, id);
    else if (state.unsafeNoSandbox && takesCommand(own(tools, id)))
      report.gap('unobserved', `${id} ran without a sandbox`, id);
    if (claimed && body.effects !== 'unobserved') report.gap('unconfirmed', claimed, id);
    if (state.visit) checkEffects(state, state.visit, id, effects, report);
    if (state.visit && outcome.status === 'ok' && trustedReport(state.visit.scope, state.pinned.specs, id) === 'test') {
      const args = body.event === 'step' ? body.args : (state.pending?.args ?? {});
      const wrong = wrongCommands(args, fieldsOf(outcome.result), state.pinned.config);
      const test = `test: ${state.pinned.config.test.map(({ run }) => run.join(' ')).join(' | ')}`;
      if (wrong) report.violation('condition', test, wrong, { tool: id });
    }
    if (state.visit?.scope.command === 'deploy' && outcome.status === 'ok')
      this.#shipping.ship(id, fieldsOf(outcome.result), state.pinned);
  }

  /** A recorded fruit holds every observed field, each of its type. Values are judged as in a request. */
  #checkStop({ peripheral, fruit, exit }: StopBody): void {
    const { visit } = this.#state;
    const report = this.#report;
    if (!visit || exit === null) this.#approvals.drop();
    if (visit && visit.peripheral !== peripheral)
      report.violation('lifecycle', `the visit to ${visit.peripheral}`, `${peripheral} was stopped`);
    for (const [field, rule] of Object.entries(visit?.spec?.fruit ?? {})) {
      if (rule.kind !== 'observed') continue;
      const value = fruit[field];
      const constraint = `${field}: observed ${typeof rule.type === 'string' ? rule.type : rule.type.join(' | ')}`;
      const about = { argument: field };
      if (value === undefined) report.violation('fruit', constraint, `the fruit lacks ${field}`, about);
      else if (value !== null && !fits(value, rule.type))
        report.violation('fruit', constraint, `${field} is ${show(value)}, which is not of this type`, about);
    }
  }

  #checkHop(body: HopBody, at: number): void {
    const state = this.#state;
    const report = this.#report;
    const { leaving } = state;
    const { from, exit: name, to, reason, by } = body;
    this.#approvals.ofHop = null;
    if (!leaving) {
      report.violation('lifecycle', 'a hop follows the stop of its visit', `a hop from ${from} without one`);
      this.#approvals.discard();
      return;
    }
    const { visit } = leaving;
    for (const [part, left, hopped] of [
      ['from', visit?.peripheral, from],
      ['exit', leaving.exit, name],
      ['reason', leaving.reason, reason],
      ['by', leaving.by, by],
    ] as const)
      if (left !== hopped)
        report.violation('lifecycle', `${part} of the stop: ${left}`, `${part} of the hop: ${hopped}`);
    this.#approvals.ofHop = this.#approvals.use(body.approval, at, {
      action: { kind: 'hop', from, exit: name, to },
      reason,
      view: {
        [APPROVAL_VIEW.fruit]: { ...leaving.fruit },
        [APPROVAL_VIEW.changes]: { ...state.changes },
        [APPROVAL_VIEW.findings]: unlessEmpty({ ...state.findings }),
        [APPROVAL_VIEW.testFiles]: unlessEmpty(Object.keys(state.changes).filter(isTestFile)),
        ...approvedTree(state.pinned, body.tree),
      },
    });
    const opens = visit?.spec?.exits.find((one) => one.name === name)?.opens.find((one) => one.to === to);
    const target = own(state.pinned.specs.peripherals, to);
    if (!opens || !target) return;
    const gates = gatesOn(state.pinned, from, to);
    const when = [opens.when, ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : null))];
    const moment: Moment = { ...leaving, state, by };
    checkFacts(
      body.facts,
      moment,
      {
        conditions: target.entry.conditions,
        when: when.filter((cel) => cel !== null),
        approved: gates.some(({ kind }) => kind === 'approval'),
      },
      report,
    );
  }

  #checkMode(body: ModeBody, at: number): void {
    const state = this.#state;
    const { from, to, how, by, summary } = body;
    const wrong = (constraint: string, message: string) => this.#report.violation('mode', constraint, message);
    const { modeGate: gate } = state.pinned.specs;
    if (!gate) return;
    if (state.mode !== null && from !== state.mode)
      wrong(`the mode is ${state.mode}`, `the change starts from ${from}`);
    if ((how === 'timeout') !== (by === 'clock'))
      wrong('the clock makes timeouts only', `a ${how} was made by the ${by}`);
    const { timeoutMinutes } = gate;
    if (how === 'timeout' && (timeoutMinutes === null || at - state.activeAt < timeoutMinutes * 60_000))
      wrong(`timeout-minutes: ${timeoutMinutes ?? 'none'}`, 'the mode timed out before');
    const transition = gate.transitions.find((one) => one.from === from && one.to === to);
    this.#approvals.use(body.approval, at, {
      action: { kind: 'mode', from, to },
      reason: body.reason ?? '',
      view: {
        ...(body.exitCriteria === null ? {} : { [APPROVAL_VIEW.exitCriteria]: body.exitCriteria }),
        ...(summary === null ? {} : { [APPROVAL_VIEW.summary]: summary }),
      },
    });
    const approved = how === 'transition' && transition?.approval === 'operator';
    const decided = { approved, summary: how === 'transition' ? summary : null };
    checkFacts(body.facts, momentNow(state, by), decided, this.#report);
  }
}

/** An empty part of a view is left out of it. */
const unlessEmpty = <T extends Json>(value: T & object): T | undefined =>
  Object.keys(value).length === 0 ? undefined : value;

const EVENTS = Object.keys(CLAIM_OF);

/** An entry, maybe with its stored bytes; only these distinguish an erased body from an empty one. */
export type Evidence = Entry | StoredEntry;

export const addEvidence = (audit: SessionAudit, item: Evidence): void => {
  if ('entry' in item) audit.add(item.entry, item.body === null);
  else audit.add(item);
};
