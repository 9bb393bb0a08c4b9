import { randomUUID } from 'node:crypto';
import { fieldsOf, isObject } from '../base/json.ts';
import { bodyOf } from '../evidence/bodies.ts';
import type { EntryDraft, Subject } from '../evidence/entry.ts';
import type { Denial } from '../gate/denial.ts';
import { refuseMessage } from '../gate/requirements/refuse-message.ts';
import { checkPost, ring } from '../messages/post.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { Message, MessageDraft, MessageStore, ReceiptState } from '../ports/message-store.ts';
import { getPin } from '../session/pin.ts';
import type { GateSpec, Json, Mode, Principal, ToolEffect } from '../spec/types.ts';
import { type Classified, classify, type Talk } from './classify.ts';
import { type FailureCode, STAGES, type StageId } from './stages.ts';
import { TALK_PATTERNS } from './talk-patterns.ts';

/** The connection over which a message came. Its surface knows who holds it; the message cannot say so. */
export interface Connection {
  readonly transport: 'cli' | 'http' | 'timer';
  readonly principal: Principal;
  /** The session of an agent, the name of a person; ignored for the clock. */
  readonly name: string;
}

/** A message as it comes in. */
export interface Incoming {
  /** Unique; the same id never sends twice. */
  readonly id: string;
  /** `session:<id>`, `agent:<id>` or `person:<name>`; null opens a session. */
  readonly to: string | null;
  /** A text, or a typed payload. */
  readonly payload: Json;
}

/** The services of the surface that a message came through. */
export interface SocialServices {
  readonly store: EvidenceStore;
  readonly messages: MessageStore;
  /** Opens a session for a message to nobody, and returns its id; null: this surface cannot. */
  readonly openSession: (() => Promise<string>) | null;
  readonly now: () => number;
  /** Sends a message of an agent as a step of its session, so that the session's own gate decides it too. */
  readonly ringAs?: (
    session: string,
    draft: MessageDraft,
  ) => Promise<{ readonly ok: true; readonly message: string } | { readonly ok: false; readonly denial: Denial }>;
}

/** A kind of outcome: work was submitted, coordination arrived, or nothing arrived. */
export type OutcomeType = 'task-submission' | 'coordination-complete' | 'coordination-failed';

export interface SocialOutcome {
  readonly type: OutcomeType;
  readonly valid: boolean;
  /** The last receipt of the message. */
  readonly state: ReceiptState | null;
}

export interface SocialReceipt {
  readonly ok: true;
  readonly message: string;
  readonly from: string;
  readonly to: string;
  readonly seq: number;
  readonly talk: Talk;
  readonly asks: ToolEffect;
  /** The rule that classified the message. */
  readonly classifiedBy: string;
  /** The mode of the recipient that gated it; null for people. */
  readonly mode: Mode | null;
  /** True if a session was opened for it. */
  readonly opened: boolean;
  /** The evidence of the dispatch and of the outcome is about this. */
  readonly subject: Subject;
  readonly outcome: SocialOutcome;
}

export interface SocialFailure {
  readonly ok: false;
  readonly message: string;
  readonly stage: StageId;
  readonly code: FailureCode;
  readonly reason: string;
  readonly remedy: string;
  /** The recipient's address, as far as it is known. */
  readonly to: string | null;
  readonly subject: Subject;
}

/** The subject of everything that is recorded about a message. */
export const subjectOf = (message: string): Subject => ({ type: 'evidence', id: message });

class StageFailure extends Error {
  readonly code: FailureCode;
  readonly remedy: string;
  constructor(code: FailureCode, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** A message on its way; each stage adds a part. */
interface Travelling {
  readonly connection: Connection;
  readonly incoming: Incoming;
  from?: string;
  sender?: string;
  classified?: Classified;
  to?: string;
  mode?: Mode | null;
  opened?: boolean;
  sent?: Message;
  root?: string;
  outcome?: SocialOutcome;
}

type Run = (at: Travelling, services: SocialServices) => Promise<void>;

const RUN: { readonly [id in StageId]: Run } = { presence, authenticate, mode, dispatch, validate, persist };

/**
 * Sends a message through presence, authenticate, mode, dispatch, validate and persist. Every message ends with a
 * receipt or with a failure, and both are evidence about {@link subjectOf} the message. Throws only if the store fails.
 *
 * @example
 * const ann = { transport: 'cli', principal: 'operator', name: 'ann' } as const;
 * await sendSocial(services, ann, { id: 'm-1', to: 'agent:codex', payload: 'Status?' });
 * // { ok: true, talk: 'coordination', outcome: { type: 'coordination-complete', … }, … }
 */
export async function sendSocial(
  services: SocialServices,
  connection: Connection,
  incoming: Incoming,
): Promise<SocialReceipt | SocialFailure> {
  const at: Travelling = { connection, incoming };
  const subject = subjectOf(incoming.id);
  for (const { id: stage } of STAGES) {
    try {
      await RUN[stage](at, services);
    } catch (error) {
      if (!(error instanceof StageFailure)) throw error;
      const { code, message: reason, remedy } = error;
      const failure = {
        ok: false as const,
        message: incoming.id,
        stage,
        code,
        reason,
        remedy,
        to: at.to ?? null,
        subject,
      };
      await record(services, at, `failure-${randomUUID()}`, 'conclusion', { ...failure, event: 'failure' });
      return failure;
    }
  }
  const { seq } = at.sent!;
  const { talk, asks, by } = at.classified!;
  return {
    ok: true,
    message: at.sent!.id,
    from: at.from!,
    to: at.to!,
    seq,
    talk,
    asks,
    classifiedBy: by,
    mode: at.mode ?? null,
    opened: at.opened === true,
    subject,
    outcome: at.outcome!,
  };
}

/** S-presence: the sender is connected, and an agent has an open session. */
async function presence({ connection: { principal, name } }: Travelling, { store }: SocialServices): Promise<void> {
  if (principal === 'clock') return;
  if (name.trim() === '')
    throw new StageFailure('invalid-connection', 'the connection has no holder', 'Connect with a token.');
  if (principal === 'operator') return;
  const session = (await store.sessions()).find(({ sessionId }) => sessionId === name);
  if (!session)
    throw new StageFailure(
      'unknown-sender',
      `there is no session "${name}" here`,
      'Send it from the repository of the session.',
    );
  if (session.closed) throw new StageFailure('not-ready', `session ${name} is closed`, 'Open a session first.');
}

/** The name of a person, or of a clock that no person may take. */
const CLOCK = 'clock';

/** S-authenticate: the connection becomes the address of a session or a person, which outlives it. */
async function authenticate(at: Travelling, { messages }: SocialServices): Promise<void> {
  const { principal, name } = at.connection;
  if (principal === 'agent') at.from = `session:${name}`;
  else if (principal === 'clock') at.from = `person:${CLOCK}`;
  else if (name === CLOCK || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new StageFailure(
      'not-authenticated',
      `"${name}" is no name of a person`,
      'Use small letters, digits and "-".',
    );
  else {
    await messages.addPerson(name);
    at.from = `person:${name}`;
  }
}

/** S-mode: the kind of the message. */
async function mode(at: Travelling): Promise<void> {
  const { payload } = at.incoming;
  const isText = typeof payload === 'string' && payload.trim() !== '';
  if (!isText && !isObject(payload))
    throw new StageFailure('invalid-message', 'the payload is no text and no object', 'Send a text or an object.');
  at.classified = classify(payload, TALK_PATTERNS);
}

/** S-dispatch: finds or opens the recipient, asks the gate, and puts the message into the inbox. */
async function dispatch(at: Travelling, services: SocialServices): Promise<void> {
  const { id, to, payload } = at.incoming;
  const { store, messages } = services;
  const { talk, asks, by: classifiedBy } = at.classified!;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const first = await dispatchOf(store, id);
  const known = await messages.find(first?.sent ?? id);
  if (known && (known.text !== text || known.from !== at.from))
    throw new StageFailure('id-reused', `another message has the id ${id}`, 'Use a new id for each message.');
  if (known) {
    at.to = known.to;
    at.sent = known;
    at.mode = first?.mode ?? null;
    at.opened = first?.opened === true;
    return;
  }
  if (to === null) {
    if (!services.openSession)
      throw new StageFailure('no-session', 'this surface cannot open a session', 'Name a recipient.');
    at.to = `session:${await services.openSession()}`;
    at.opened = true;
  }
  const act = talk === 'action' ? 'request' : 'assert';
  const checked = await checkPost(store, messages, { kind: 'bell', id, from: at.from!, to: at.to ?? to, text, act });
  if (!checked.ok)
    throw new StageFailure(
      checked.argument === 'to' ? 'unknown-recipient' : 'invalid-text',
      checked.message,
      `${checked.remedy[0]!.toUpperCase()}${checked.remedy.slice(1)}.`,
    );
  at.to = checked.draft.to;
  const session = at.to.startsWith('session:') ? at.to.slice('session:'.length) : null;
  if (session !== null) {
    const gate = await gateOf(store, session);
    at.mode = gate && (await modeOf(store, session, gate));
    const refused = refuseMessage(gate, at.mode, { asks, by: at.connection.principal });
    if (refused) throw new StageFailure(refused.code, refused.message, refused.remedy);
  } else {
    const refused = refuseMessage(null, null, { asks, by: at.connection.principal });
    if (refused) throw new StageFailure(refused.code, refused.message, refused.remedy);
  }
  await record(services, at, `dispatch-${id}`, 'goal', {
    event: 'dispatch',
    message: id,
    from: at.from!,
    to: at.to,
    talk,
    asks,
    classifiedBy,
    mode: at.mode ?? null,
    opened: at.opened === true,
  });
  at.sent = await deliver(at, services, checked.draft);
}

async function deliver(
  { connection }: Travelling,
  { messages, ringAs }: SocialServices,
  draft: MessageDraft,
): Promise<Message> {
  if (connection.principal !== 'agent') return ring(messages, draft);
  const rung = await ringAs?.(connection.name, draft);
  if (!rung) throw new StageFailure('sender-refused', 'this surface sends for no session', 'Use the tool bell.');
  if (!rung.ok) throw new StageFailure('sender-refused', rung.denial.message, rung.denial.remedy);
  return (await messages.find(rung.message))!;
}

/** S-validate: the outcome, from what is recorded about the message. */
async function validate(at: Travelling, { store, messages }: SocialServices): Promise<void> {
  const outcome = await socialOutcome(store, messages, at.incoming.id, at.sent!.id);
  if (!outcome)
    throw new StageFailure('missing-evidence', 'nothing is recorded about the message', 'Run "hopgate doctor".');
  at.outcome = outcome;
}

/** S-persist: keeps the outcome. */
async function persist(at: Travelling, services: SocialServices): Promise<void> {
  const { id } = at.incoming;
  await record(
    services,
    at,
    `outcome-${id}`,
    'conclusion',
    { event: 'outcome', message: id, sent: at.sent!.id, ...at.outcome! },
    `dispatch-${id}`,
  );
  const found = await about(services.store, id);
  if (!found.some(({ event }) => event === 'outcome'))
    throw new StageFailure('not-kept', 'the store did not keep the outcome', 'Check the disk, then send it again.');
}

/** The outcome of a message by its present receipts; null if the pipeline has not dispatched it. */
export async function socialOutcome(
  store: EvidenceStore,
  messages: MessageStore,
  id: string,
  sent?: string,
): Promise<SocialOutcome | null> {
  const dispatched = await dispatchOf(store, id);
  if (!dispatched) return null;
  const message = await messages.find(sent ?? dispatched.sent ?? id);
  if (!message) return { type: 'coordination-failed', valid: false, state: null };
  const type = dispatched.talk === 'action' ? 'task-submission' : 'coordination-complete';
  return { type, valid: true, state: message.state };
}

interface DispatchBody {
  readonly talk: Talk;
  readonly mode: Mode | null;
  readonly opened: boolean;
  /** The id of the message in the inbox. */
  readonly sent?: string;
}

async function about(store: EvidenceStore, id: string): Promise<readonly { readonly [field: string]: unknown }[]> {
  const { entries } = await store.query({ subject: subjectOf(id), ephemeral: true, limit: 100 });
  return entries.map(({ entry }) => fieldsOf(entry.body));
}

async function dispatchOf(store: EvidenceStore, id: string): Promise<DispatchBody | null> {
  const found = await about(store, id);
  const body = found.find(({ event }) => event === 'dispatch') as DispatchBody | undefined;
  const sent = found.find(({ event }) => event === 'outcome')?.['sent'];
  return body ? { ...body, ...(typeof sent === 'string' ? { sent } : {}) } : null;
}

/** The mode gate of a session's pinned spec. */
async function gateOf(store: EvidenceStore, session: string): Promise<GateSpec | null> {
  const found = (await store.sessions()).find(({ sessionId }) => sessionId === session);
  return found ? (await getPin(store, found.pin)).specs.modeGate : null;
}

/** The mode of a session, from its last mode change. */
async function modeOf(store: EvidenceStore, sessionId: string, gate: GateSpec): Promise<Mode> {
  const { entries } = await store.query({ sessionId, tags: ['mode'], limit: 1 });
  const body = entries[0] && bodyOf(entries[0].entry.body);
  return body?.event === 'mode' ? body.to : gate.initial;
}

/** Records a fact about a message, once for each id, as an ephemeral entry. */
async function record(
  { store, now }: SocialServices,
  at: Travelling,
  id: string,
  claim: EntryDraft['claim'],
  body: { readonly [field: string]: unknown },
  inReplyTo?: string,
): Promise<void> {
  const sessionId = [at.to, at.from].find((each) => each?.startsWith('session:'))?.slice('session:'.length) ?? 'social';
  const draft: EntryDraft = {
    id,
    at: new Date(now()).toISOString(),
    type: 'coordination',
    claim,
    subject: subjectOf(at.incoming.id),
    author: at.from?.slice(at.from.indexOf(':') + 1) || at.connection.principal,
    sessionId,
    peripheral: null,
    mode: null,
    body: body as unknown as Json,
    tags: ['social', String(body['event'])],
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
  };
  try {
    await store.appendEphemeral(sessionId, [draft]);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'duplicate-id') throw error;
  }
}
