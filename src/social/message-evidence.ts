import { type Fields, fieldsOf } from '../base/json.ts';
import { toBody } from '../evidence/bodies.ts';
import type { EntryDraft } from '../evidence/entry.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { MessageStore } from '../ports/message-store.ts';
import { readStoredPin } from '../session/pin.ts';
import type { Mode, ModeGateSpec } from '../spec/types.ts';
import type { MessageTalkKind } from './classify-message.ts';
import { messageSubject, type PipelineMessage, type SocialOutcome, type SocialServices } from './pipeline-types.ts';

/** The outcome of a message, by its present receipts; null if the pipeline has not dispatched it. */
export async function readSocialOutcome(
  store: EvidenceStore,
  messages: MessageStore,
  id: string,
): Promise<SocialOutcome | null> {
  const dispatched = await readDispatchRecord(store, id);
  if (!dispatched) return null;
  const message = await messages.find(id);
  if (!message) return { type: 'coordination-failed', valid: false, state: null };
  const type = dispatched.talk === 'action' ? 'task-submission' : 'coordination-complete';
  return { type, valid: true, state: message.state };
}

type DispatchBody = Required<Pick<PipelineMessage, 'to' | 'mode' | 'opened'>> & { readonly talk: MessageTalkKind };

export async function readMessageRecord(
  store: EvidenceStore,
  event: 'dispatch' | 'outcome',
  message: string,
): Promise<{ readonly [field: string]: unknown } | null> {
  const { entries } = await store.query({ subject: messageSubject(message), tags: [event], ephemeral: true, limit: 1 });
  return entries[0] ? fieldsOf(entries[0].entry.body) : null;
}

export const readDispatchRecord = async (store: EvidenceStore, id: string): Promise<DispatchBody | null> =>
  (await readMessageRecord(store, 'dispatch', id)) as DispatchBody | null;

export async function readModeGateOfSession(store: EvidenceStore, session: string): Promise<ModeGateSpec | null> {
  const found = (await store.sessions()).find(({ sessionId }) => sessionId === session);
  return found ? (await readStoredPin(store, found.pin)).specs.modeGate : null;
}

export async function readModeOfSession(
  store: EvidenceStore,
  sessionId: string,
  modeGate: ModeGateSpec,
): Promise<Mode> {
  const { entries } = await store.query({ sessionId, tags: ['mode'], limit: 1 });
  const body = entries[0] && toBody(entries[0].entry.body);
  return body?.event === 'mode' ? body.to : modeGate.initial;
}

/** Records a fact about a message, once for each id, as an ephemeral entry. */
export async function recordMessageFactOnce(
  { store, now }: SocialServices,
  message: PipelineMessage,
  id: string,
  claim: EntryDraft['claim'],
  body: Fields,
  inReplyTo?: string,
): Promise<void> {
  const sessionId =
    [message.to, message.from].find((each) => each?.startsWith('session:'))?.slice('session:'.length) ?? 'social';
  const draft: EntryDraft = {
    id,
    at: new Date(now()).toISOString(),
    type: 'coordination',
    claim,
    subject: messageSubject(message.incoming.id),
    author: message.from?.slice(message.from.indexOf(':') + 1) || message.connection.principal,
    sessionId,
    peripheral: null,
    mode: null,
    body,
    tags: ['social', String(body['event'])],
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
  };
  try {
    await store.appendEphemeral(sessionId, [draft]);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'duplicate-id') throw error;
  }
}
