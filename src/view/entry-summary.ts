import { nameMessageSource } from '../base/attribute-text.ts';
import { fieldsOf, isObject, type Json } from '../base/json.ts';
import { excerpt } from '../base/text.ts';
import { sha256 } from '../evidence/chain.ts';
import type { Entry } from '../evidence/entry.ts';
import { describeValue, lastFailureLines } from './describe-value.ts';
import { formatCallAsLine, type ParameterOrderOfTool } from './format-call.ts';
import { type OptionalJsonFields, summariseValue } from './summarise-value.ts';

/** The outcome of a call; `unknown` if none was recorded. */
export type CallOutcomeMark = 'ok' | 'failed' | 'refused' | 'unknown';

/** The content of an entry for a person. Print it with `escapeInvisible`: it may contain texts of agents and tools. */
export interface EntrySummary {
  /** `step`, `denial`, …; the entry's type if the body is not a hopgate event. */
  readonly event: string;
  readonly mark: CallOutcomeMark | null;
  /** The recorded action: a call, a hop, a message. */
  readonly action: string;
  /** The result of the action, or the reason for it; empty if there is none. */
  readonly result: string;
  /** Lines to show below the action and its result. */
  readonly notes: readonly string[];
}

type SummaryParts = Partial<Omit<EntrySummary, 'event'>>;

/** Summarises any entry. Bodies may come from other programs, so every field may be missing. */
export function summariseEntry(
  { body, bodyHash, type, claim }: Entry,
  order: ParameterOrderOfTool = () => null,
): EntrySummary {
  const fields = fieldsOf(body);
  const event = fields['event'];
  const summary = typeof event === 'string' && Object.hasOwn(EVENTS, event) ? EVENTS[event]!(fields, order) : null;
  const none = { mark: null, action: '', result: '', notes: [] };
  if (summary !== null) return { ...none, event: event as string, ...summary };
  if (body === null && bodyHash !== NULL_HASH) return { ...none, event: 'erased', action: '(the body was erased)' };
  // A later version may have written an unknown event.
  return typeof event === 'string'
    ? { ...none, event, action: text(body) }
    : { ...none, event: type, action: claim, result: text(body) };
}

const NULL_HASH = sha256('null');

const WOULD = 'would be refused: ';

export function summariseEntryInOneLine(
  entry: Entry,
  order?: ParameterOrderOfTool,
): { readonly event: string; readonly text: string } {
  const { event, action, result, notes } = summariseEntry(entry, order);
  const refusal = notes.find((note) => note.startsWith(WOULD)) ?? '';
  // A list shows the outcome of an intent in a line of its own.
  const text = result === '' || event === 'intent' ? action : `${action}: ${result}`;
  return { event, text: refusal === '' ? text : `${refusal.split(':', 2).join(':')}: ${text}` };
}

const EVENTS: { readonly [event: string]: (body: OptionalJsonFields, order: ParameterOrderOfTool) => SummaryParts } = {
  'session-open': (body) => ({
    action: `opened by ${text(body['agent'])} in ${text(body['root'])}`,
    result: body['unsafeNoSandbox'] === true ? 'without a sandbox' : '',
  }),
  'session-closed': (body) => ({ action: `closed${askedBy(body)}`, result: text(body['reason']) }),
  start: (body) => ({ action: `${text(body['peripheral'])}${askedBy(body)}` }),
  stop: (body) => ({
    action: `${text(body['peripheral'])} ${body['exit'] ? `left by ${text(body['exit'])}` : 'stopped'}${askedBy(body)}`,
    result: text(body['reason']),
    notes: members('fruit', body['fruit']),
  }),
  hop: (body) => ({
    action: `${text(body['from'])} → ${text(body['to'])} by ${text(body['exit'])}${askedBy(body)}`,
    result: text(body['reason']),
    notes: reframe(body['reframe']),
  }),
  delegation: (body) => ({
    action: `${body['agency'] ? 'agent' : 'sub-agent'} in ${text(body['to'])}, within ${body['within'] === 'own' ? 'its own limits' : text(body['from'])}${askedBy(body)}`,
    result: body['agency'] ? `run ${text(fieldsOf(body['agency'])['run'])}` : `session ${text(body['session'])}`,
  }),
  step: (body, order) => ({ action: call(body, order), ...outcome(body) }),
  intent: (body, order) => ({
    action: call(body, order),
    mark: 'unknown',
    result: 'no outcome is recorded',
    notes: refusalNotes(body),
  }),
  outcome: (body) => ({ action: text(body['tool']), ...outcome(body) }),
  interrupted: (body) => ({
    action: text(body['tool']),
    mark: 'unknown',
    result: `interrupted: ${text(body['reason'])}`,
  }),
  denial: (body, order) => ({
    action: describeRequest(fieldsOf(body['request']), order),
    mark: body['enforced'] === false ? 'unknown' : 'refused',
    result: `${body['enforced'] === false ? WOULD : ''}${text(body['code'])}: ${text(body['message'])}`,
    notes: body['remedy'] ? [`→ ${text(body['remedy'])}`] : [],
  }),
  mode: (body) => ({
    action: `mode ${text(body['from'])} → ${text(body['to'])}${body['how'] === 'transition' ? '' : ` by ${text(body['how'])}`}${askedBy(body)}`,
    result: text(body['summary'] ?? body['reason']),
    notes: body['exitCriteria'] ? [`until: ${text(body['exitCriteria'])}`] : [],
  }),
  approval: (body) => {
    const { request, record } = body;
    const { action, reason, view } = fieldsOf(request);
    const { kind, from, to, exit } = fieldsOf(action);
    const { by, via, grant } = fieldsOf(record);
    return {
      action: `approved: ${actionText(kind, text(from), text(to))}${exit ? ` by ${text(exit)}` : ''}`,
      result: `by ${text(by)} (${grant === undefined ? text(via) : `under grant ${text(grant)}`})${reason ? `, for: ${text(reason)}` : ''}`,
      notes: Object.entries(fieldsOf(view)).flatMap(([title, value]) => members(title, value)),
    };
  },
  grant: (body) => {
    const { kind, from, to } = fieldsOf(body['action']);
    const { until, uses, files, testsPass } = fieldsOf(body['limits']);
    const limits = [
      ...(uses === undefined ? [] : [`${text(uses)} times`]),
      ...(files === undefined ? [] : [`files: ${summariseValue(files)}`]),
      ...(testsPass === true ? ['until a test run does not pass'] : []),
      ...(typeof until === 'number' ? [`until ${new Date(until).toISOString()}`] : []),
    ];
    return {
      action: `granted: ${actionText(kind, text(from), text(to))}`,
      result: `by ${text(body['by'])} (${text(body['via'])}), ${limits.join(', ')}`,
    };
  },
  note: (body) => ({ action: `note by the ${text(body['by'])}`, result: text(body['text']) }),
  'grant-end': (body) => ({ action: `grant ${text(body['grant'])} revoked`, result: `by ${text(body['by'])}` }),
  expired: (body) => ({ action: `the time of ${text(body['peripheral'])} ran out` }),
  message: (body) => ({
    action: `${text(body['kind'])} from ${nameMessageSource(text(body['from']), text(body['author']))}`,
    result: `${text(body['act'])}: ${text(body['text'])}`,
  }),
  receipt: (body) => ({ action: `message ${text(body['message'])}`, result: text(body['state']) }),
  par: (body) => ({ action: 'review', notes: review(fieldsOf(body['par'])) }),
};

const HASH = /^[0-9a-f]{64}$/;

/** `fruit: result: pass · test-count: 4`; values with only a hash are listed by name. */
function members(title: string, value: Json | undefined): readonly string[] {
  if (!isObject(value)) return [`${title}: ${summariseValue(value)}`];
  const parts = Object.entries(value).map(([name, member]) =>
    typeof member === 'string' && HASH.test(member) ? name : `${name}: ${summariseValue(member)}`,
  );
  return parts.length === 0 ? [] : [`${title}: ${parts.join(' · ')}`];
}

const text = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

function call({ tool, args }: OptionalJsonFields, order: ParameterOrderOfTool): string {
  if (tool !== 'bell' && tool !== 'whistle') return formatCallAsLine(text(tool), args ?? {}, order);
  const { to, text: words, act } = fieldsOf(args);
  return `${tool} to ${text(to)}: ${act === undefined ? '' : `${text(act)}: `}${text(words)}`;
}

const askedBy = ({ by }: OptionalJsonFields): string =>
  by === undefined || by === 'agent' ? '' : `, asked by ${text(by)}`;

/** The refusal that enforcement would have given; empty if there is none. */
function refusalNotes({ wouldRefuse }: OptionalJsonFields): readonly string[] {
  const { code, message, remedy } = fieldsOf(wouldRefuse);
  return code === undefined
    ? []
    : [`${WOULD}${text(code)}: ${text(message)}`, ...(remedy ? [`→ ${text(remedy)}`] : [])];
}

/** Describes a hop back because of a failed expectation. */
function reframe(value: Json | undefined): readonly string[] {
  return fieldsOf(value)['expected'] === undefined ? [] : [`reframe: ${describeReviewItem(value ?? null)}`];
}

function outcome(body: OptionalJsonFields): SummaryParts {
  const { status, code, message, result } = fieldsOf(body['outcome']);
  const failures = lastFailureLines(result ?? null).map((line) => `│ ${line}`);
  const notes = [...refusalNotes(body), ...failures, ...changes(body['effects'])];
  if (status === 'ok')
    return {
      mark: wentWell(fieldsOf(result)) ? 'ok' : 'failed',
      result: describeAnswer(body['tool'], fieldsOf(result)) ?? (result === undefined ? '' : describeValue(result)),
      notes,
    };
  if (status === undefined) return { mark: 'unknown', result: text(body['outcome']), notes };
  return { mark: status === 'refused' ? 'refused' : 'failed', result: `${text(code)}: ${text(message)}`, notes };
}

/** Describes the answer to a message that the session sent; null for other tools. */
function describeAnswer(tool: Json | undefined, { status, answer, message }: OptionalJsonFields): string | null {
  if (message === undefined || (tool !== 'bell' && tool !== 'whistle')) return null;
  const { author, text: words } = fieldsOf(answer);
  return words === undefined ? (status === 'waiting' ? 'no answer in time' : '') : `${text(author)}: ${text(words)}`;
}

/** False for a command that ran with an error status, or a test that did not pass. */
const wentWell = ({ exit, verdict }: OptionalJsonFields): boolean =>
  (exit === undefined || exit === 0) && (verdict === undefined || verdict === 'pass');

function changes(effects: Json | undefined): readonly string[] {
  if (effects === 'unobserved') return ['its changes were not observed'];
  if (!Array.isArray(effects) || effects.length === 0) return [];
  const recorded = effects.map((effect) => fieldsOf(effect));
  const changed = recorded.filter(({ op }) => op !== 'read').map(({ op, path }) => `${text(op)} ${text(path)}`);
  const more = changed.length > CHANGED_FILES ? `, and ${changed.length - CHANGED_FILES} more` : '';
  const findings = recorded.flatMap(({ path, finding }) =>
    finding === undefined ? [] : [`finding: ${text(path)}: ${text(finding)}`],
  );
  return changed.length === 0
    ? []
    : [`changed: ${changed.slice(0, CHANGED_FILES).join(', ')}${more}`, ...findings.slice(0, CHANGED_FILES)];
}

/** Maximum number of changed files to list; the entry has all of them (`hopgate log --json`). */
const CHANGED_FILES = 20;

/** Prints the action that an approval or a grant is for. */
function actionText(kind: OptionalJsonFields[string], from: string, to: string): string {
  if (kind === 'step') return `${to} in ${from}`;
  if (kind === 'delegate') return `a sub-agent in ${to} from ${from}`;
  return `${kind === 'mode' ? 'mode ' : ''}${from} → ${to}`;
}

function describeRequest(request: OptionalJsonFields, order: ParameterOrderOfTool): string {
  const { kind, to, exit, peripheral } = request;
  if (kind === 'step') return call(request, order);
  if (kind === 'hop') return `hop to ${text(to)}${exit ? ` by ${text(exit)}` : ''}`;
  if (kind === 'mode') return `mode ${text(to)}`;
  if (kind === 'start') return `start ${text(peripheral)}`;
  return typeof kind === 'string' ? kind : text(request as Json);
}

const REVIEW = ['problem', 'result', 'what_went_well', 'what_could_improve', 'suggestions', 'prediction_errors'];

/** The parts of a review that the agent wrote. Its other parts are computed from the entries. */
const review = (par: OptionalJsonFields): readonly string[] =>
  REVIEW.flatMap((name) => {
    const value = par[name];
    const words = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
    const shown = words.slice(0, REVIEW_ITEMS).map((one) => excerpt(describeReviewItem(one), 160));
    const more = words.length > REVIEW_ITEMS ? [`and ${words.length - REVIEW_ITEMS} more`] : [];
    return words.length === 0 ? [] : [`${name.replaceAll('_', ' ')}: ${[...shown, ...more].join(' · ')}`];
  });

const REVIEW_ITEMS = 5;

/** Describes an item of a review: a text, or an expectation that failed. */
function describeReviewItem(item: Json): string {
  const { expected, actual } = fieldsOf(item);
  return expected === undefined ? text(item) : `expected ${text(expected)}, got ${text(actual)}`;
}
