import { type Body, bodyOf, type OutcomeBody, type StepBody } from '../evidence/bodies.ts';
import { standingAfter } from '../evidence/discipline.ts';
import type { Entry, StoredEntry } from '../evidence/entry.ts';
import { hashSpecs } from '../spec/hash-specs.ts';
import { CLAIM_OF, looksBack } from './form.ts';
import { judgeApprovalRecord } from './judge-approval.ts';
import { breachOutside, judgeCall } from './judge-call.ts';
import { judgeEffects, unconfirmed } from './judge-effects.ts';
import { judgeForm } from './judge-form.ts';
import { judgeMode } from './judge-mode.ts';
import { judgeHop, judgeStart, judgeStop, stated } from './judge-visit.ts';
import { type Fields, show } from './json.ts';
import { Ledger, type Pinned } from './ledger.ts';
import { Report } from './report.ts';
import type { Counts, Verdict } from './verdict.ts';
import { witnessOf } from './witness.ts';
import { isFileChange } from './yield.ts';

/**
 * The round trip over one session, entry by entry: what the entries and the observed effects say, held against the pinned spec. It imports
 * nothing of the gate. Feed it in order; memory stays flat.
 */
export class SessionAudit {
  readonly #ledger: Ledger;
  readonly #report = new Report();
  #entries = 0;
  #hops = 0;
  #approvals = 0;
  #lastEvent: string | null = null;

  constructor(pinned: Pinned) {
    this.#ledger = new Ledger(pinned);
  }

  add(entry: Entry, erased = false): void {
    const ledger = this.#ledger;
    this.#report.reading(entry);
    const body = erased ? null : bodyOf(entry.body);
    const at = Date.parse(entry.at);
    if (this.#entries === 0) this.#begin(entry, body);
    this.#judgeEnvelope(entry, at);
    if (erased) this.#takeErased(entry);
    else if (body && Object.hasOwn(CLAIM_OF, body.event)) this.#take(entry, body, at);
    else this.#report.gap('unknown', 'this audit does not know what the entry tells');
    this.#lastEvent = body?.event ?? null;
    this.#entries += 1;
    ledger.lastId = entry.id;
    ledger.lastAt = Math.max(ledger.lastAt, at);
    if (body?.event !== 'expired') ledger.activeAt = ledger.lastAt;
  }

  verdict(): Verdict {
    const { visit, pending, visits, steps, denials } = this.#ledger;
    const report = this.#report;
    const gaps = [...report.gaps];
    const end = { entryId: this.#ledger.lastId ?? '', seq: this.#entries - 1 };
    if (pending)
      gaps.push({
        kind: 'no-outcome',
        ...end,
        entryId: pending.id,
        tool: pending.body.tool,
        message: 'the outcome is not on record',
      });
    if (visit) gaps.push({ kind: 'open-visit', ...end, message: `the visit to ${visit.peripheral} has no conclusion` });
    const counts: Counts = {
      entries: this.#entries,
      steps,
      denials,
      visits: Object.values(visits).reduce((sum, count) => sum + count, 0),
      hops: this.#hops,
      approvals: this.#approvals,
      violations: report.violationsInAll,
      gaps: report.gapsInAll + (pending ? 1 : 0) + (visit ? 1 : 0),
    };
    return { ok: report.violationsInAll === 0, violations: [...report.violations], gaps, counts };
  }

  #begin(entry: Entry, body: Body | null): void {
    const ledger = this.#ledger;
    ledger.sessionId = entry.sessionId;
    ledger.agent = entry.author;
    if (entry.claim !== 'goal')
      this.#report.breach('goal-first', 'the first entry is a goal', `it is a ${entry.claim}`);
    if (body && body.event !== 'session-open')
      this.#report.breach('goal-first', 'the first entry opens the session', `it tells of ${body.event}`);
  }

  #judgeEnvelope(entry: Entry, at: number): void {
    const ledger = this.#ledger;
    const report = this.#report;
    if (entry.sessionId !== ledger.sessionId)
      report.breach('one-session', `session ${ledger.sessionId}`, `the entry belongs to session ${entry.sessionId}`);
    if (Number.isNaN(at)) report.breach('time', 'a time', `${entry.at} is none`);
    else if (at < ledger.lastAt)
      report.breach('time', `not before ${new Date(ledger.lastAt).toISOString()}`, `the entry is of ${entry.at}`);
    if (ledger.closed) report.breach('lifecycle', 'nothing after the session was closed', 'an entry follows');
  }

  #take(entry: Entry, body: Body, at: number): void {
    const ledger = this.#ledger;
    const report = this.#report;
    const { event } = body;
    if (event === 'session-open') this.#open(entry, body);
    else if (!ledger.opened && this.#entries > 0 && !report.blind)
      report.breach('lifecycle', 'a session is opened first', `${event} came before`);
    judgeForm(ledger, entry, body, report);
    if (ledger.pending && event !== 'outcome' && event !== 'interrupted')
      report.breach('intent', 'an intent, then its outcome', `${event} came in between`, {
        tool: ledger.pending.body.tool,
      });
    if (ledger.leaving && event !== 'hop') {
      report.breach('lifecycle', `the hop by ${ledger.leaving.body.exit}`, `${event} came instead`);
      ledger.leaving = null;
    }
    if (ledger.hop && event !== 'start') {
      report.breach('lifecycle', `the start of ${ledger.hop.body.to}`, `${event} came instead`);
      ledger.hop = null;
    }
    if (event !== 'stop' && event !== 'hop' && event !== 'approval') ledger.successesBeforeReview = null;
    if (event !== 'stop' && event !== 'hop' && event !== 'mode') this.#unusedApproval();
    switch (body.event) {
      case 'session-open':
        break;
      case 'start':
        judgeStart(ledger, at, body, report);
        ledger.enter(body.peripheral, entry.id, body.deadline);
        Object.assign(ledger.backpack, body.context);
        ledger.hop = null;
        break;
      case 'step':
        this.#takeStep(entry, body);
        break;
      case 'intent':
        this.#takeIntent(entry, body.tool, body.args, body);
        break;
      case 'outcome':
        this.#takeOutcome(entry, body);
        break;
      case 'interrupted':
        report.gap('no-outcome', 'the step was interrupted; what it did is unknown', body.tool);
        if (!ledger.pending)
          report.breach('intent', 'an intent before', 'it was interrupted without one', { tool: body.tool });
        ledger.pending = null;
        ledger.change += 1;
        if (ledger.visit) {
          ledger.visit.steps += 1;
          ledger.visit.headId = entry.id;
        }
        break;
      case 'denial':
        ledger.denials += 1;
        if (ledger.visit) {
          ledger.visit.denials += 1;
          ledger.visit.yields.refusals += 1;
        }
        break;
      case 'par':
        this.#takeReview(entry, body.par);
        break;
      case 'stop':
        this.#takeStop(body);
        break;
      case 'hop':
        this.#hops += 1;
        judgeHop(ledger, at, body, report);
        ledger.leaving = null;
        ledger.hop = {
          id: entry.id,
          body,
          approval: ledger.hop?.approval ?? null,
          backpack: ledger.hop?.backpack ?? { ...ledger.backpack },
        };
        break;
      case 'mode':
        judgeMode(ledger, at, body, report);
        ledger.mode = ledger.pinned.specs.gate ? body.to : null;
        break;
      case 'approval':
        this.#approvals += 1;
        judgeApprovalRecord(ledger, body, report);
        ledger.approval = { id: entry.id, body };
        break;
      case 'expired':
        this.#takeExpired(body.peripheral, body.deadline, at);
        break;
      case 'session-closed':
        if (ledger.visit)
          report.breach(
            'conclusion-last',
            'a visit ends with a stop',
            `the session was closed in ${ledger.visit.peripheral}`,
          );
        ledger.closed = true;
        break;
      default:
        body satisfies never;
    }
  }

  #unusedApproval(): void {
    const { approval } = this.#ledger;
    if (!approval) return;
    this.#ledger.approval = null;
    this.#report.breach('approval', 'an approval is used at once', `approval ${approval.body.record.id} was not`);
  }

  #open(entry: Entry, body: Extract<Body, { event: 'session-open' }>): void {
    const ledger = this.#ledger;
    const { specs } = ledger.pinned;
    if (ledger.opened) this.#report.breach('lifecycle', 'a session is opened once', 'it was opened again');
    ledger.opened = true;
    ledger.agent = body.agent;
    ledger.root = body.root;
    ledger.unsafe = body.unsafeNoSandbox;
    ledger.openedId = entry.id;
    ledger.backpack = { 'session-id': entry.sessionId, author: body.agent };
    if (body.specHash !== specs.hash)
      this.#report.breach('pin', `spec ${specs.hash}`, `the session was opened under ${body.specHash}`);
    if (hashSpecs(specs) !== specs.hash)
      this.#report.breach('pin', `spec ${specs.hash}`, 'the pinned spec does not hash to its hash');
  }

  #takeStep(entry: Entry, body: StepBody): void {
    const ledger = this.#ledger;
    const report = this.#report;
    const tool = ledger.pinned.specs.tools[body.tool];
    if (tool?.effect === 'act')
      report.breach('intent', `${body.tool}: an intent before it acts`, 'there is none', { tool: body.tool });
    if (!ledger.visit) {
      report.breach('lifecycle', 'a step in a visit', `${body.tool} was used outside of any`, { tool: body.tool });
      return;
    }
    const outside = judgeCall(ledger, ledger.visit, body.tool, body.args, report);
    if (outside && body.outcome.status !== 'refused') breachOutside(ledger.visit, body.tool, outside, report);
    this.#takeResult(entry, body);
  }

  #takeIntent(entry: Entry, tool: string, args: Fields, body: Extract<Body, { event: 'intent' }>): void {
    const ledger = this.#ledger;
    const report = this.#report;
    const spec = ledger.pinned.specs.tools[tool];
    if (spec && spec.effect !== 'act')
      report.breach('intent', `${tool} only looks`, 'it was recorded as an intent', { tool });
    if (!ledger.visit) {
      report.breach('lifecycle', 'a step in a visit', `${tool} was used outside of any`, { tool });
      return;
    }
    const outside = judgeCall(ledger, ledger.visit, tool, args, report);
    ledger.pending = { id: entry.id, body, outside };
    ledger.visit.headId = entry.id;
  }

  #takeOutcome(entry: Entry, body: OutcomeBody): void {
    const ledger = this.#ledger;
    const { pending, visit } = ledger;
    if (!pending) this.#report.breach('intent', 'an intent before', 'an outcome without one', { tool: body.tool });
    else if (pending.body.tool !== body.tool)
      this.#report.counted('intent', `the intent is of ${pending.body.tool}`, `the outcome is of ${body.tool}`, {
        tool: body.tool,
      });
    if (pending?.outside && visit && body.outcome.status !== 'refused')
      breachOutside(visit, body.tool, pending.outside, this.#report);
    ledger.pending = null;
    this.#takeResult(entry, body);
  }

  #takeResult(entry: Entry, body: StepBody | OutcomeBody): void {
    const ledger = this.#ledger;
    const report = this.#report;
    const { visit } = ledger;
    const { tool: id, outcome } = body;
    const tool = ledger.pinned.specs.tools[id];
    const effects = body.effects === 'unobserved' ? [] : body.effects;
    if (body.effects === 'unobserved') report.gap('unobserved', `nobody watched what ${id} did`, id);
    else if (ledger.unsafe && tool?.parameters.some(({ role }) => role === 'command'))
      report.gap('unobserved', `${id} ran without a sandbox`, id);
    const claimed = unconfirmed(outcome, effects);
    if (claimed && body.effects !== 'unobserved') report.gap('unconfirmed', claimed, id);
    if (visit) judgeEffects(ledger, visit, tool, id, effects, report);
    ledger.steps += 1;
    if (outcome.status === 'ok') ledger.successes += 1;
    const changed = effects.filter(isFileChange);
    if (body.event === 'outcome' && (body.effects === 'unobserved' || changed.length > 0)) {
      ledger.change += 1;
      for (const { path, after } of changed) ledger.changes[path] = after ?? null;
      const before = ledger.backpack['changed-files'];
      ledger.backpack['changed-files'] = [
        ...new Set([...(Array.isArray(before) ? before : []), ...changed.map(({ path }) => path)]),
      ];
    }
    for (const { op, path } of effects) if (op !== 'ref' && op !== 'connect') ledger.files.add(path);
    if (visit) {
      visit.steps += 1;
      if (body.event === 'outcome' || (entry.inReplyTo === visit.headId && entry.claim !== 'conclusion'))
        visit.headId = entry.id;
      const witness = witnessOf(ledger.pinned.specs, visit.peripheral, id);
      for (const run of visit.yields.take(id, outcome, effects, ledger.change, witness)) ledger.runs.add(run);
    }
    this.#takePattern(entry.id, id, outcome);
  }

  #takePattern(id: string, tool: string, outcome: StepBody['outcome']): void {
    const after = standingAfter(tool, outcome);
    if (!after) return;
    this.#ledger.patterns[after.pattern] = after.standing;
    if (after.selects) this.#ledger.selections.set(after.pattern, id);
  }

  #takeReview(entry: Entry, par: Fields): void {
    const ledger = this.#ledger;
    const { visit } = ledger;
    if (!visit?.spec || !looksBack(visit.spec))
      this.#report.breach('lifecycle', 'a review where one looks back', `in ${visit?.peripheral ?? 'no peripheral'}`);
    ledger.successesBeforeReview = ledger.successes;
    ledger.successes = 0;
    if (!visit) return;
    visit.headId = entry.id;
    visit.yields.par = { ...par };
  }

  #takeStop(body: Extract<Body, { event: 'stop' }>): void {
    const ledger = this.#ledger;
    judgeStop(ledger, body, this.#report);
    const backpack = { ...ledger.backpack };
    if (body.exit !== null && ledger.visit)
      ledger.leaving = {
        visit: ledger.visit,
        body,
        backpack,
        successes: ledger.successesBeforeReview ?? ledger.successes,
      };
    else this.#unusedApproval();
    ledger.fruits[body.peripheral] = body.fruit;
    Object.assign(ledger.backpack, stated(body.fruit));
    if (backpack['changed-files'] !== undefined) ledger.backpack['changed-files'] = backpack['changed-files'];
    ledger.visit = null;
  }

  #takeExpired(peripheral: string, deadline: number, at: number): void {
    const { visit } = this.#ledger;
    if (!visit || visit.peripheral !== peripheral || visit.deadline !== deadline || at < deadline)
      this.#report.counted(
        'limit',
        `the deadline ${show(visit?.deadline ?? null)}`,
        `${peripheral} expired at ${show(deadline)}`,
      );
    if (visit) visit.expired = true;
  }

  /** What the head of an erased entry still tells: enough to follow the session, not to judge what rests on it. */
  #takeErased(entry: Entry): void {
    const ledger = this.#ledger;
    this.#report.gap('erased', 'its body was erased');
    this.#report.blind = true;
    const event = CLAIM_OF_TAG.find((name) => entry.tags.includes(name)) ?? null;
    const { visit } = ledger;
    if (event === 'start' && entry.peripheral !== null) ledger.enter(entry.peripheral, entry.id, null);
    if (event === 'stop') ledger.visit = null;
    if (event === 'intent')
      ledger.pending = { id: entry.id, body: { event: 'intent', tool: 'erased', args: {} }, outside: null };
    if (event === 'outcome' || event === 'interrupted') ledger.pending = null;
    if (event === 'mode') ledger.mode = null;
    if (event === 'session-closed') ledger.closed = true;
    if (event === 'session-open') {
      ledger.opened = true;
      ledger.openedId = entry.id;
    }
    ledger.hop = null;
    ledger.leaving = null;
    if (visit && ledger.visit && event !== null && ADVANCES.includes(event)) {
      if (event !== 'step' || (entry.inReplyTo === visit.headId && entry.claim !== 'conclusion'))
        visit.headId = entry.id;
      if (event !== 'intent' && event !== 'par') visit.steps += 1;
    }
  }

  /** The event of the entry that was added last; null for one that cannot be read. */
  get lastEvent(): string | null {
    return this.#lastEvent;
  }
}

const CLAIM_OF_TAG = Object.keys(CLAIM_OF);
const ADVANCES = ['step', 'intent', 'outcome', 'interrupted', 'par'];

/** An entry, or an entry with the bytes that a store keeps; only the latter tells an erased body from an empty one. */
export type Evidence = Entry | StoredEntry;

export const addEvidence = (audit: SessionAudit, item: Evidence): void => {
  if ('entry' in item) audit.add(item.entry, item.body === null);
  else audit.add(item);
};
