import { type Fields, fieldsOf } from '../../base/json.ts';
import { type Body, toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';

/** One action of an agent or a person on the session, such as a hop. Several entries may record it. */
export interface SessionAct {
  readonly seq: number;
  /** The ids of the entries that record the act. */
  readonly entries: readonly string[];
  readonly kind: 'step' | 'hop' | 'start' | 'stop' | 'mode' | 'close';
  readonly by: string;
  /** The tool of a step, the destination of a hop or start, or the new mode. */
  readonly what: string;
  readonly args: Fields;
  readonly refused: boolean;
  /** The peripheral that this act entered, and the context that the agent carried; null if it entered none. */
  readonly entered: { readonly peripheral: string; readonly mode: string | null; readonly context: Fields } | null;
  /** The peripheral whose visit this act ended. */
  readonly left: string | null;
}

/** The acts of a session, in order. Events of the clock, and entries that only accompany an act, are not acts. */
export function readSessionActs(entries: readonly Entry[]): readonly SessionAct[] {
  const acts: SessionAct[] = [];
  for (const [index, entry] of entries.entries()) {
    const body = toBody(entry.body);
    if (body === null) continue;
    const next = (ahead: number): Body | null => toBody(entries[index + ahead]?.body ?? null);
    const last = acts.at(-1);
    if (last && belongsToAct(body, entries, index)) {
      acts[acts.length - 1] = extendAct(last, entry, body);
      continue;
    }
    const act = beginAct(entry, body, next(1));
    if (act) acts.push(act);
  }
  return acts;
}

/** An outcome belongs to its intent, a hop to its stop, a start to its hop, a refusal by a tool to its call. */
function belongsToAct(body: Body, entries: readonly Entry[], index: number): boolean {
  const before = toBody(entries[index - 1]?.body ?? null);
  if (body.event === 'outcome' || body.event === 'interrupted') return true;
  if (body.event === 'hop') return before?.event === 'stop';
  if (body.event === 'start') return before?.event === 'hop';
  return body.event === 'denial' && before?.event === 'outcome' && before.outcome.status === 'refused';
}

function extendAct(act: SessionAct, entry: Entry, body: Body): SessionAct {
  const more = { ...act, entries: [...act.entries, entry.id] };
  if (body.event === 'hop') return { ...more, kind: 'hop', what: body.to, by: body.by, args: { reason: body.reason } };
  if (body.event === 'start') return { ...more, entered: enteredBy(entry, body) };
  return body.event === 'denial' ? { ...more, refused: true } : more;
}

const enteredBy = (entry: Entry, { peripheral, context }: Extract<Body, { event: 'start' }>) => ({
  peripheral,
  mode: entry.mode,
  context,
});

function beginAct(entry: Entry, body: Body, next: Body | null): SessionAct | null {
  const base = { seq: entry.seq, entries: [entry.id], args: {}, refused: false, entered: null, left: null };
  if (body.event === 'step' || body.event === 'intent')
    return { ...base, kind: 'step', by: 'agent', what: body.tool, args: body.args };
  if (body.event === 'start')
    return { ...base, kind: 'start', by: body.by, what: body.peripheral, entered: enteredBy(entry, body) };
  if (body.event === 'stop')
    return { ...base, kind: 'stop', by: body.by, what: body.peripheral, left: body.peripheral };
  if (body.event === 'mode') return { ...base, kind: 'mode', by: body.by, what: body.to };
  if (body.event === 'session-closed') return next === null ? { ...base, kind: 'close', by: body.by, what: '' } : null;
  if (body.event === 'denial') return body.enforced === false ? null : refusedAct(base, body);
  return null;
}

type Base = Pick<SessionAct, 'seq' | 'entries' | 'args' | 'refused' | 'entered' | 'left'>;

function refusedAct(base: Base, { request }: Extract<Body, { event: 'denial' }>): SessionAct | null {
  const text = (name: string): string => (typeof request[name] === 'string' ? (request[name] as string) : '');
  const by = text('by') || 'agent';
  const act = { ...base, by, refused: true };
  const { kind } = request;
  if (kind === 'step') return { ...act, kind, what: text('tool'), args: fieldsOf(request['args'] ?? null) };
  if (kind === 'hop' || kind === 'mode') return { ...act, kind, what: text('to') };
  if (kind === 'start') return { ...act, kind, what: text('peripheral') };
  return kind === 'stop' || kind === 'close' ? { ...act, kind, what: '' } : null;
}
