import { hash, randomUUID } from 'node:crypto';
import { asJson, isObject } from '../base/json.ts';
import { refuseMessage } from '../gate/requirements/refuse-message.ts';
import { checkMessage, checkMessageText, type MessageProblem, sendBell } from '../messages/send-message.ts';
import { StoreError, type StoreErrorCode } from '../ports/evidence-store.ts';
import type { Message, MessageDraft } from '../ports/message-store.ts';
import { classifyMessage } from './classify-message.ts';
import {
  readDispatchRecord,
  readMessageRecord,
  readModeGateOfSession,
  readModeOfSession,
  readSocialOutcome,
  recordMessageFactOnce,
} from './message-evidence.ts';
import {
  type IncomingMessage,
  messageSubject,
  type PipelineMessage,
  type SenderConnection,
  type SocialServices,
} from './pipeline-types.ts';
import { SOCIAL_STAGES, type SocialFailureCode, type SocialStageId, STORE_FAILED_CODE } from './social-stages.ts';
import { TALK_PATTERNS } from './talk-patterns.ts';

type Failure = Pick<StageFailure, 'code' | 'message' | 'remedy'>;

class StageFailure extends Error {
  readonly code: SocialFailureCode;
  readonly remedy: string;
  constructor(code: SocialFailureCode, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

type Run = (message: PipelineMessage, services: SocialServices) => Promise<void>;

const RUN: { readonly [id in SocialStageId]: Run } = {
  presence,
  authenticate,
  mode: classify,
  dispatch,
  validate,
  persist,
};

/**
 * Sends a message through presence, authenticate, mode, dispatch, validate and persist. Every message ends with a
 * receipt or a failure, which is recorded under the subject {@link messageSubject}. Only the failure `store-failed` is
 * not recorded.
 *
 * @example
 * const ann = { transport: 'cli', principal: 'operator', name: 'ann' } as const;
 * await sendSocialMessage(services, ann, { id: 'm-1', to: 'agent:codex', payload: 'Status?' });
 * // { ok: true, talk: 'coordination', outcome: { type: 'coordination-complete', … }, … }
 */
export async function sendSocialMessage(
  services: SocialServices,
  connection: SenderConnection,
  incoming: IncomingMessage,
): ReturnType<typeof runStages> {
  const before = sending.get(incoming.id) ?? Promise.resolve();
  const result = before.catch(() => {}).then(() => runStages(services, connection, incoming));
  sending.set(incoming.id, result);
  try {
    return await result;
  } finally {
    if (sending.get(incoming.id) === result) sending.delete(incoming.id);
  }
}

/** The messages that are being sent, by id. A repeated message waits for the first message with its id. */
const sending = new Map<string, Promise<unknown>>();

/**
 * Runs the stages. Returns a receipt, or the failure of a stage. `subject` is the subject under which the evidence
 * records the message.
 */
async function runStages(services: SocialServices, connection: SenderConnection, incoming: IncomingMessage) {
  const message: PipelineMessage = { connection, incoming };
  const subject = messageSubject(incoming.id);
  for (const { id: stage } of SOCIAL_STAGES) {
    const fail = ({ code, message: reason, remedy }: Failure) => ({
      ...{ ok: false as const, message: incoming.id, stage, code, reason, remedy, to: message.to ?? null, subject },
    });
    try {
      await RUN[stage](message, services).catch(async (error: unknown) => {
        if (!(error instanceof StageFailure)) throw error;
        const body = asJson({ ...fail(error), event: 'failure' });
        await recordMessageFactOnce(services, message, `failure-${randomUUID()}`, 'conclusion', body);
        throw error;
      });
    } catch (error) {
      if (error instanceof StageFailure) return fail(error);
      const { code, message } = error as StoreError;
      if (code !== STORE_FAILED_CODE) throw error;
      return fail({
        code,
        message,
        remedy: 'Check the disk, then send the message again with the same id: it is delivered once.',
      });
    }
  }
  const { seq } = message.sent!;
  const { talk, asks, by } = message.classified!;
  return {
    ok: true as const,
    message: message.sent!.id,
    ...{ from: message.from!, to: message.to!, seq, talk, asks, classifiedBy: by },
    ...{ mode: message.mode ?? null, opened: message.opened === true, subject, outcome: message.outcome! },
  };
}

/** The stage S-presence refuses a sender without a connection, and an agent without an open session. */
async function presence(
  { connection: { principal, name } }: PipelineMessage,
  { store }: SocialServices,
): Promise<void> {
  if (principal === 'clock') return;
  if (name.trim() === '')
    throw new StageFailure('invalid-connection', 'the connection names no sender', 'Connect with a token.');
  if (principal === 'operator') return;
  const session = (await store.sessions()).find(({ sessionId }) => sessionId === name);
  if (!session)
    throw new StageFailure(
      'unknown-sender',
      `there is no session "${name}" here`,
      'Send the message from the repository of the session.',
    );
  if (session.closed) throw new StageFailure('not-ready', `session ${name} is closed`, 'Open a session first.');
}

/** The name of the clock as a sender. No person may take this name. */
const CLOCK = 'clock';

/** The stage S-authenticate finds the sender's address (a session or a person), which outlives the connection. */
async function authenticate(message: PipelineMessage, { messages }: SocialServices): Promise<void> {
  const { principal, name } = message.connection;
  if (principal === 'agent') message.from = `session:${name}`;
  else if (principal === 'clock') message.from = `person:${CLOCK}`;
  else if (name === CLOCK || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new StageFailure(
      'not-authenticated',
      `"${name}" is not a person's name`,
      'Use lowercase letters, digits and "-".',
    );
  else {
    await messages.addPerson(name);
    message.from = `person:${name}`;
  }
}

/** The stage S-mode checks the message and classifies it. The stage S-dispatch asks the recipient's mode gate. */
async function classify(message: PipelineMessage): Promise<void> {
  const { id, payload } = message.incoming;
  if (id.includes('@'))
    throw new StageFailure('invalid-message', `the id "${id}" contains "@"`, 'Use letters, digits and "-" in the id.');
  const isText = typeof payload === 'string' && payload.trim() !== '';
  if (!isText && !isObject(payload))
    throw new StageFailure('invalid-message', 'the payload is neither a text nor an object', 'Send one of them.');
  message.classified = classifyMessage(payload, TALK_PATTERNS);
}

const reusedId = (id: string): StageFailure =>
  new StageFailure('id-reused', `another message has the id ${id}`, 'Use a new id for each message.');

/** The stage S-dispatch finds or opens the recipient, asks the gate, and puts the message into the inbox. */
async function dispatch(message: PipelineMessage, services: SocialServices): Promise<void> {
  const { id, to, payload } = message.incoming;
  const { store, messages } = services;
  const { talk, asks, by: classifiedBy } = message.classified!;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const first = await readDispatchRecord(store, id);
  const sentBefore = await messages.find(id);
  if (sentBefore && (sentBefore.text !== text || sentBefore.from !== message.from)) throw reusedId(id);
  if (sentBefore) {
    message.to = sentBefore.to;
    message.sent = sentBefore;
    message.mode = first?.mode ?? null;
    message.opened = first?.opened === true;
    return;
  }
  if (to === null && first) {
    message.to = first.to;
    message.opened = first.opened;
  } else if (to === null) {
    await refuseForNewSession(message, text, services);
    message.to = `session:${await openSessionFor(message, services)}`;
    message.opened = true;
  }
  const act = talk === 'action' ? 'request' : 'assert';
  const checked = await checkMessage(store, messages, {
    kind: 'bell',
    id,
    from: message.from!,
    to: message.to ?? to,
    text,
    act,
  });
  if (!checked.ok) throw failureOf(checked);
  message.to = checked.draft.to;
  if (first && (first.to !== message.to || first.talk !== talk)) throw reusedId(id);
  const isAway = message.to.includes('@') && !message.to.startsWith('person:');
  const session = message.to.startsWith('session:') && !isAway ? message.to.slice('session:'.length) : null;
  const modeGate = session === null ? null : await readModeGateOfSession(store, session);
  if (session !== null) message.mode = modeGate && (await readModeOfSession(store, session, modeGate));
  const by = message.connection.principal;
  const refused = refuseMessage(modeGate, message.mode ?? null, { asks, by, to: message.to, isAway });
  if (refused) throw new StageFailure(refused.code, refused.message, refused.remedy);
  await recordMessageFactOnce(services, message, `dispatch-${id}`, 'goal', {
    event: 'dispatch',
    message: id,
    from: message.from!,
    to: message.to,
    talk,
    asks,
    classifiedBy,
    mode: message.mode ?? null,
    opened: message.opened === true,
  });
  // Another process may have dispatched a message with the same id meanwhile. Then the recipient of that message
  // counts.
  const stored = await readDispatchRecord(store, id);
  if (stored?.to !== message.to) throw reusedId(id);
  message.sent = await deliver(message, services, checked.draft);
}

const failureOf = ({ argument, message, remedy }: MessageProblem): StageFailure =>
  new StageFailure(argument === 'to' ? 'unknown-recipient' : 'invalid-text', message, remedy);

/** Refuses a message that a new session could not get, before the session is opened. */
async function refuseForNewSession(
  { classified, connection }: PipelineMessage,
  text: string,
  { opener }: SocialServices,
): Promise<void> {
  const modeGate = (await opener?.readModeGate()) ?? null;
  const asked = { asks: classified!.asks, by: connection.principal, to: null, isAway: false };
  const problem = checkMessageText(text);
  if (problem) throw failureOf(problem);
  const refused = refuseMessage(modeGate, modeGate?.initial ?? null, asked);
  if (refused) throw new StageFailure(refused.code, refused.message, refused.remedy);
}

/** Milliseconds between attempts to open a session that another process opens at the same time. */
const RETRY_MS = 20;
/** The error codes that a store gives while another process opens the same session. */
const OPENED_ELSEWHERE: ReadonlySet<string> = new Set<StoreErrorCode>([
  'session-busy',
  'session-exists',
  'lease-expired',
  'chain-conflict',
]);

/** Opens a session for a message without a recipient. Each process that sends the message uses the same id. */
async function openSessionFor({ incoming, from }: PipelineMessage, { store, opener }: SocialServices): Promise<string> {
  if (!opener) throw new StageFailure('no-session', 'this program opens no sessions for messages', 'Name a recipient.');
  const session = `s-${hash('sha256', JSON.stringify([opener.root, from, incoming.id])).slice(0, 32)}`;
  while ((await store.head(session)).seq < 0)
    await opener.open(session).catch((error: unknown) => {
      if (!(error instanceof StoreError) || !OPENED_ELSEWHERE.has(error.code)) throw error;
      return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    });
  return session;
}

async function deliver(
  { connection }: PipelineMessage,
  { messages, ringAs }: SocialServices,
  draft: MessageDraft,
): Promise<Message> {
  if (connection.principal !== 'agent') return sendBell(messages, draft);
  const rung = await ringAs?.(connection.name, draft);
  if (!rung)
    throw new StageFailure('sender-refused', "this program sends no agent's messages", 'Send it with the tool bell.');
  if (!rung.ok) throw new StageFailure('sender-refused', rung.denial.message, rung.denial.remedy);
  return (await messages.find(draft.id))!;
}

/** The stage S-validate computes the outcome from the evidence about the message. */
async function validate(message: PipelineMessage, { store, messages }: SocialServices): Promise<void> {
  const outcome = await readSocialOutcome(store, messages, message.incoming.id);
  if (!outcome)
    throw new StageFailure('missing-evidence', 'nothing is recorded about the message', 'Run "hopgate doctor".');
  message.outcome = outcome;
}

async function persist(message: PipelineMessage, services: SocialServices): Promise<void> {
  const { id } = message.incoming;
  await recordMessageFactOnce(
    services,
    message,
    `outcome-${id}`,
    'conclusion',
    { event: 'outcome', message: id, ...message.outcome! },
    `dispatch-${id}`,
  );
  if (!(await readMessageRecord(services.store, 'outcome', id)))
    throw new StageFailure('not-kept', 'the store did not keep the outcome', 'Check the disk, then send it again.');
}
