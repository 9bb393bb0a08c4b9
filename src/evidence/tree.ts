import type { Json } from '../spec/types.ts';
import type { EntryDraft } from './entry.ts';

/**
 * A session's entries as a text tree, one line each: time since the first, claim, what happened. A lone or last reply continues the line of what it replies
 * to; earlier replies hang beneath it, indented. An entry whose parent is not shown before it starts a tree of its own and says so.
 *
 * Line breaks, control and bidi characters in what agents wrote are escaped, so a line is always one line.
 *
 * @example
 * const entries = await Array.fromAsync(store.entries(sessionId), ({ entry }) => entry);
 * console.log(renderThread(entries));
 */
export function renderThread(entries: readonly EntryDraft[]): string {
  const start = Date.parse(entries[0]?.at ?? '');
  const times = new Map(entries.map((entry) => [entry, offset(Date.parse(entry.at) - start)]));
  const timeWidth = widest(times.values());
  const claimWidth = widest(entries.map(({ claim }) => claim));

  const { roots, replies } = treeOf(entries);
  const lines: string[] = [];
  const waiting = roots
    .map((entry) => ({ entry, indent: '', branch: '', lost: entry.inReplyTo !== undefined }))
    .reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { entry, indent, branch, lost } = next;
    const columns = `${times.get(entry)!.padStart(timeWidth)}  ${entry.claim.padEnd(claimWidth)}`;
    const hint = lost ? ` (replies to ${printable(entry.inReplyTo)}, which is not shown before it)` : '';
    lines.push(`${columns}  ${indent}${branch}${describe(entry)}${hint}`);
    const children = replies.get(entry.id) ?? [];
    const last = children.at(-1);
    const below = branch === '' ? indent : `${indent}│  `;
    if (last !== undefined) waiting.push({ entry: last, indent: below, branch: '', lost: false });
    for (const child of children.slice(0, -1).reverse())
      waiting.push({ entry: child, indent: below, branch: '├─ ', lost: false });
  }
  return lines.join('\n');
}

const widest = (texts: Iterable<string>): number => {
  let width = 0;
  for (const { length } of texts) width = Math.max(width, length);
  return width;
};

/** Only an earlier entry can be a parent, so that damaged input still ends. */
function treeOf(entries: readonly EntryDraft[]) {
  const seen = new Set<string>();
  const roots: EntryDraft[] = [];
  const replies = new Map<string, EntryDraft[]>();
  for (const entry of entries) {
    const parent = entry.inReplyTo;
    if (parent === undefined || !seen.has(parent)) roots.push(entry);
    else if (replies.has(parent)) replies.get(parent)!.push(entry);
    else replies.set(parent, [entry]);
    seen.add(entry.id);
  }
  return { roots, replies };
}

/** `+5.120s`, `+1:05.120`, `+2:01:05.120`. */
function offset(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const sign = ms < 0 ? '-' : '+';
  const total = Math.abs(ms);
  const seconds = ((total % 60_000) / 1000).toFixed(3);
  const minutes = Math.floor(total / 60_000) % 60;
  const hours = Math.floor(total / 3_600_000);
  if (total < 60_000) return `${sign}${seconds}s`;
  if (hours === 0) return `${sign}${minutes}:${seconds.padStart(6, '0')}`;
  return `${sign}${hours}:${String(minutes).padStart(2, '0')}:${seconds.padStart(6, '0')}`;
}

type Fields = { readonly [key: string]: Json | undefined };

/** What happened, in a few words, by the body's event. Bodies may come from elsewhere, so no field is taken for granted. */
const EVENTS: { readonly [event: string]: (body: Fields) => string } = {
  'session-open': (body) => `session opened by ${show(body['agent'])}${maybe(', pin ', short(body['pin']))}`,
  'session-closed': (body) =>
    `session closed${maybe(': ', body['reason'])}${maybe(' · outcome not told: ', body['openSelections'])}${by(body)}`,
  start: (body) => `start ${show(body['peripheral'])}${by(body)}`,
  stop: (body) =>
    `stop ${show(body['peripheral'])}${maybe(' by exit ', body['exit'])}${maybe(': ', body['reason'])}${maybe(' · fruit ', full(body['fruit']))}`,
  step: (body) => `${call(body)} → ${came(body)}`,
  intent: (body) => `intends ${call(body)}`,
  outcome: (body) => `${show(body['tool'])} → ${came(body)}`,
  interrupted: (body) => `${show(body['tool'])} interrupted${maybe(': ', body['reason'])}`,
  denial: (body) => `denied (${show(body['code'])})${maybe(': ', body['message'])}`,
  hop: (body) =>
    `hop ${show(body['from'])} → ${show(body['to'])}${maybe(' by exit ', body['exit'])}${maybe(': ', body['reason'])}${by(body)}${reframe(body['reframe'])}`,
  mode: (body) =>
    `mode ${show(body['from'])} → ${show(body['to'])}${maybe(' by ', how(body['how']))}${maybe(': ', body['summary'] ?? body['reason'])}${by(body)}`,
  approval: (body) => {
    const record = fields(body['record']);
    const action = fields(fields(body['request'])['action']);
    const what = action['to'] === undefined ? '' : ` of ${show(action['from'])} → ${show(action['to'])}`;
    return `approval${what}${maybe(' by ', record['by'])}${maybe(' via ', record['via'])}`;
  },
  expired: (body) => `time limit of ${show(body['peripheral'])} passed`,
  par: (body) => `review${maybe(' ', full(body['par']))}`,
};

function describe({ type, body }: EntryDraft): string {
  const content = fields(body);
  const event = content['event'];
  const words = typeof event === 'string' && Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined;
  return words === undefined ? `${type} ${show(body)}` : words(content);
}

/** A hop back, because what was expected did not hold. */
function reframe(value: Json | undefined): string {
  const { expected, actual } = fields(value ?? null);
  return expected === undefined ? '' : ` · reframe: expected ${show(expected)}, got ${show(actual)}`;
}

function call(body: Fields): string {
  const args = body['args'] ?? null;
  const values: Json[] = Array.isArray(args) ? args : (Object.values(fields(args)) as Json[]);
  return [body['tool'], ...values].map(show).join(' ');
}

/** How a tool call ended: `ok`, or the status with its code. */
function came(body: Fields): string {
  const outcome = fields(body['outcome']);
  const exit = fields(outcome['result'])['exit'];
  if (outcome['status'] === undefined) return show(body['result']);
  return `${show(outcome['status'])}${maybe(', exit ', exit)}${maybe(' ', outcome['code'])}${maybe(': ', outcome['message'])}`;
}

const fields = (value: Json | undefined): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
const full = (value: Json | undefined) => (Object.keys(fields(value)).length === 0 ? undefined : value);
const how = (value: Json | undefined) => (value === 'transition' ? undefined : value);
const short = (value: Json | undefined) => (typeof value === 'string' ? value.slice(0, 12) : undefined);
const by = (body: Fields): string => (body['by'] === 'agent' ? '' : maybe(' · asked by ', body['by']));
const maybe = (before: string, value: Json | undefined): string =>
  value === undefined || value === null || value === '' ? '' : before + show(value);

const MAX_WORDS = 100;
function show(value: Json | undefined): string {
  const text = typeof value === 'string' ? value : value === undefined ? '?' : JSON.stringify(value);
  const points = Array.from(text.slice(0, 2 * MAX_WORDS + 2));
  return printable(points.length > MAX_WORDS ? `${points.slice(0, MAX_WORDS).join('')}…` : text);
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const NAMED: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const printable = (text: string | undefined): string =>
  (text ?? '').replace(UNPRINTABLE, (mark) => NAMED[mark] ?? `\\u{${mark.codePointAt(0)!.toString(16)}}`);
