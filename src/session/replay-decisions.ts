import { isDeepStrictEqual } from 'node:util';
import { fieldsOf, type Json } from '../base/json.ts';
import { shorten } from '../base/text.ts';
import { compileSpecTables, type SpecTables } from '../compile/spec-tables.ts';
import { isBlobReference, listBlobArguments } from '../evidence/blob-values.ts';
import { toBody } from '../evidence/bodies.ts';
import type { Entry, StoredEntry } from '../evidence/entry.ts';
import { stepWaitingTimeMs } from '../evidence/waiting-time.ts';
import type { Approval } from '../gate/approvals/approval.ts';
import { isArgumentRefusal } from '../gate/commands/argument-refusal.ts';
import { chooseTestCommand } from '../gate/commands/choose-command.ts';
import { decide } from '../gate/decide.ts';
import type { GateContext, Request } from '../gate/request.ts';
import type { ObservedTree } from '../gate/scope/compare-trees.ts';
import type { VisitView } from '../gate/session-view.ts';
import { getOwn } from '../spec/names.ts';
import type { Mode, SpecSet } from '../spec/types.ts';
import type { SessionPin } from './pin.ts';
import {
  endsRequest,
  firstBodyWithEvent,
  isPartOfRequest,
  type ReplayedAnswer,
  recordedRequestsOf,
} from './recorded-requests.ts';
import { applyEntry } from './state/apply-entry.ts';
import { initialSessionState, type SessionState } from './state/session-state.ts';
import { modeAfterIdleTime, sessionViewOf, viewWithReview } from './state/view-of-state.ts';

/** A recorded decision, and the decision on the same request under other specs. */
interface ReplayedDecision {
  readonly seq: number;
  readonly entryId: string;
  readonly peripheral: string | null;
  /** The request as text: `step write src/a.ts`, `hop test → deploy (pass)`. */
  readonly request: string;
  readonly was: ReplayedAnswer;
  readonly now: ReplayedAnswer;
  /** The reason why the other specs refuse the request; null if they allow it. */
  readonly why: string | null;
}

/** The replay of a session: the number of decisions, and the decisions that differ. */
export interface SessionReplay {
  readonly sessionId: string;
  readonly decisions: number;
  /** The decisions that differ under the other specs. */
  readonly changes: readonly ReplayedDecision[];
  /**
   * Requests that were allowed and that the present gate refuses under the same spec: the gate has changed since, or it
   * was faulty then.
   */
  readonly drift: readonly ReplayedDecision[];
}

/**
 * Repeats every decision of a session under another spec set and config. Each is judged on the recorded history,
 * whatever the other specs would have decided before. A given approval counts as given.
 * @param pinned the session's own spec set and config
 * @param getBlob reads a large argument that was stored as a blob; without this function, rules judge an empty value
 * @param other the spec set and config to decide by instead; if equal, nothing changes
 * @throws FoldError if the evidence contains a move that its own spec does not have: verify it first.
 */
export async function replayDecisions(
  pinned: SessionPin,
  other: SessionPin,
  sessionId: string,
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
  getBlob: GetBlob = async () => null,
): Promise<SessionReplay> {
  const compiled = compileSpecTables(pinned.specs);
  // A session that only observed is judged as if it had enforced its spec.
  const enforced = ({ enforce: _, ...config }: SessionPin['config']) => config;
  const original: ReplayContext = { compiled, config: enforced(pinned.config), pinned };
  const changed: ReplayContext = { compiled: compileSpecTables(other.specs), config: enforced(other.config), pinned };
  let state = initialSessionState(compiled, sessionId);
  let before = state;
  let batch: StoredEntry[] = [];
  const changes: ReplayedDecision[] = [];
  const drift: ReplayedDecision[] = [];
  let decisions = 0;
  // The start of the visit, moved later by the time that its steps waited for answers.
  let started = 0;
  for await (const stored of entries) {
    const body = toBody(stored.entry.body);
    // A hop is one decision over several entries: review, approval, stop, hop, start. It is judged before the first of
    // them.
    if (!isPartOfRequest(body)) {
      before = state;
      batch = [];
    } else if (batch.length === 0) before = state;
    batch.push(stored);
    for (const { request: recorded, was } of recordedRequestsOf(body, batch)) {
      const request = await withBlobs(recorded, body?.event === 'denial', stored.entry, pinned, getBlob);
      decisions += 1;
      const taken = decideAgain({ ...changed, started }, before, stored.entry, request, batch);
      // A refusal by a tool (a link, a missing sandbox) or by the operator was not the gate's decision, so the
      // comparison uses the gate's decisions of both sides.
      const then = decideAgain({ ...original, started }, before, stored.entry, request, batch);
      const decision = { ...entryReference(stored.entry, before), request: describeRequest(request), was };
      // If both specs refuse a call, nothing changes, even if the codes differ.
      if ((taken.now === 'allow') !== (then.now === 'allow')) changes.push({ ...decision, ...taken });
      if (was === 'allow' && then.now !== 'allow') drift.push({ ...decision, ...then });
    }
    state = applyEntry(compiled, state, stored);
    if (body?.event === 'start') started = Date.parse(stored.entry.at);
    if (body?.event === 'step' || body?.event === 'outcome') started += stepWaitingTimeMs(pinned.specs.tools, body);
    if (!isPartOfRequest(body) || endsRequest(body)) batch = [];
  }
  return { sessionId, decisions, changes, drift };
}

const entryReference = ({ id, seq }: Entry, { facts }: SessionState) => ({
  seq,
  entryId: id,
  peripheral: facts.visit?.peripheral ?? null,
});

interface ReplayContext {
  readonly compiled: SpecTables;
  readonly config: SessionPin['config'];
  /** The session's own spec set and configuration: its time limits, and the fruit fields that were stated. */
  readonly pinned: SessionPin;
}
/** A replay of one decision. `started` is the time from which a limit of the visit counts, in epoch milliseconds. */
type ReplayMoment = ReplayContext & { readonly started: number };

function decideAgain(
  other: ReplayMoment,
  state: SessionState,
  entry: Entry,
  request: Request,
  batch: readonly StoredEntry[],
): { readonly now: ReplayedAnswer; readonly why: string | null } {
  const context = contextFor(other, state, entry, batch);
  if (typeof context === 'string') return { now: 'no-peripheral', why: context };
  const fitted = withStatedFruit(other.pinned, context, request);
  const first = decide(context, fitted);
  const approval = firstBodyWithEvent(batch, 'approval');
  const second =
    first.ok || !first.wanted || !approval
      ? first
      : decide(context, {
          ...fitted,
          approval: approvalFor(context, first.wanted.hash, approval.record.by),
        } as Request);
  return second.ok ? { now: 'allow', why: null } : { now: second.denial.code, why: second.denial.message };
}

const approvalFor = ({ view }: GateContext, requestHash: string, by: string): Approval => ({
  id: 'replayed',
  nonce: 'replayed',
  sessionId: view.sessionId,
  requestHash,
  by,
  expiresAt: view.now + 1,
});

/** The gate's context under the other specs; the reason as a text if these lack the session's peripheral. */
function contextFor(
  { compiled, config, pinned, started }: ReplayMoment,
  state: SessionState,
  entry: Entry,
  batch: readonly StoredEntry[],
): GateContext | string {
  const { specs } = compiled;
  const { visit } = state.facts;
  if (visit && !Object.hasOwn(specs.peripherals, visit.peripheral))
    return `the other specs have no peripheral ${visit.peripheral}`;
  // The recorded mode; null if the other specs have no mode gate.
  const body = toBody(entry.body);
  const tree = body?.event === 'hop' || body?.event === 'start' ? body.tree : undefined;
  const counted = isDeepStrictEqual(config.test, pinned.config.test) ? state : withTestsOf(config, state);
  const view = sessionViewOf(compiled, counted, Date.parse(entry.at), tree as ObservedTree | undefined);
  const review = firstBodyWithEvent(batch, 'par');
  const reviewed = review ? viewWithReview(specs, view, review.par) : view;
  return {
    specs,
    config,
    unsafeNoSandbox: state.facts.unsafeNoSandbox,
    view: {
      ...reviewed,
      mode: specs.modeGate ? modeUnder(specs) : null,
      visit: reviewed.visit && { ...reviewed.visit, ...timeUnder(specs) },
    },
  };

  function timeUnder({ peripherals }: SpecSet): Partial<VisitView> {
    const minutesOf = (of: SpecSet['peripherals']) => of[visit?.peripheral ?? '']?.limits.minutes ?? null;
    const minutes = minutesOf(peripherals);
    if (minutes === minutesOf(pinned.specs.peripherals)) return {};
    return { status: 'active', deadline: minutes === null ? null : started + minutes * 60_000 };
  }

  function modeUnder({ modeGate }: SpecSet): Mode | null {
    const isSame = modeGate?.timeoutMinutes === pinned.specs.modeGate?.timeoutMinutes;
    // Steps, denials and approved requests are recorded later than their decision. Any other entry directly follows it.
    const isDecidedThen = body?.event !== 'step' && body?.event !== 'denial' && !firstBodyWithEvent(batch, 'approval');
    return isSame || !isDecidedThen ? view.mode : modeAfterIdleTime(modeGate, view.mode, view.now - state.facts.lastAt);
  }
}

/**
 * A state with the test runs as another configuration counts them: only runs of its commands, of which all must pass. A
 * run by a user's tool that names no command counts, too.
 */
function withTestsOf({ test }: SessionPin['config'], state: SessionState): SessionState {
  const chosen = chooseTestCommand(test, null);
  const commands = isArgumentRefusal(chosen) ? [] : chosen.map(({ argv }) => argv.join(' '));
  const counted = (runs: SessionState['facts']['runs']) =>
    runs
      .filter(({ command, narrowed }) => narrowed || command === '' || commands.includes(command))
      .map((run) => ({ ...run, others: commands.filter((each) => each !== run.command) }));
  const { facts } = state;
  const visit = facts.visit && {
    ...facts.visit,
    observations: { ...facts.visit.observations, runs: counted(facts.visit.observations.runs) },
  };
  return { ...state, facts: { ...facts, runs: counted(facts.runs), visit } };
}

/** Removes the observed fields from the fruit of a request: each spec set computes its own. */
function withStatedFruit({ specs }: SessionPin, { view }: GateContext, request: Request): Request {
  if (request.kind === 'step') return request;
  if ((request.kind !== 'hop' && request.kind !== 'stop') || !request.fruit || !view.visit) return request;
  const rules = specs.peripherals[view.visit.peripheral]?.fruit ?? {};
  const fruit = Object.fromEntries(
    Object.entries(request.fruit).filter(([field]) => rules[field]?.kind !== 'observed'),
  );
  return { ...request, fruit };
}

type GetBlob = (hash: string) => Promise<Uint8Array | null>;

/** Returns a request with its stored arguments read from their blobs. If a blob is missing, they are an empty text. */
async function withBlobs(
  request: Request,
  isDenial: boolean,
  { peripheral }: Entry,
  { specs }: SessionPin,
  getBlob: GetBlob,
): Promise<Request> {
  if (request.kind !== 'step') return request;
  const args = request.args as Json;
  // The large arguments of a refused call are stored as one blob.
  if (isDenial) return { ...request, args: isBlobReference(args) ? await readBlob(args, getBlob) : args };
  const fields = fieldsOf(args);
  const blobNames = listBlobArguments(
    getOwn(specs.tools, request.tool),
    getOwn(specs.peripherals, peripheral ?? ''),
    fields,
  );
  const pairs = blobNames.map(async (name) => [name, await readBlob(fields[name]!, getBlob)] as const);
  return { ...request, args: { ...fields, ...Object.fromEntries(await Promise.all(pairs)) } };
}

async function readBlob(reference: Json, getBlob: GetBlob): Promise<Json> {
  const bytes = await getBlob(String(fieldsOf(reference)['blob']));
  return bytes === null ? '' : JSON.parse(new TextDecoder().decode(bytes));
}

function describeRequest(request: Request): string {
  if (request.kind === 'step')
    return ['step', request.tool, ...Object.values((request.args ?? {}) as object).map(shortText)].join(' ');
  if (request.kind === 'start') return `start ${request.peripheral}`;
  if (request.kind === 'delegate') return `delegate to ${request.to}`;
  if (request.kind === 'hop') return `hop to ${request.to}${request.exit === undefined ? '' : ` (${request.exit})`}`;
  if (request.kind === 'mode') return `mode ${request.to}`;
  return request.kind satisfies 'stop' | 'close';
}

const shortText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return shorten(text, 60);
};
