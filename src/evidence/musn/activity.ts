import { type Fields, isObject } from '../../base/json.ts';
import { toBody } from '../bodies.ts';
import type { EntryDraft } from '../entry.ts';
import { normaliseInstant } from './entry-form.ts';

/** An event of the activity log of MUSN, a service of another project that keeps agents' sessions as EDN. */
interface ActivityEvent {
  readonly 'event/type': string;
  readonly at: string;
  readonly 'session/id': string;
  readonly agent: string;
  readonly source: string;
  readonly metadata: Fields;
}

const EVENT_TYPES: { readonly [event: string]: string } = {
  'session-open': 'session/open',
  'session-closed': 'session/closed',
  hop: 'session/hop',
  mode: 'session/mode',
  par: 'session/par',
};

/**
 * Returns an entry as an event of the activity log. An imported event is returned unchanged; any other entry has its
 * identity and its body in the metadata.
 */
export function toActivityEvent(entry: EntryDraft & { readonly seq?: number }): ActivityEvent | Fields {
  const {
    id,
    at,
    type,
    claim,
    author,
    sessionId,
    peripheral,
    mode,
    seq = null,
    patternId,
    inReplyTo = null,
    body,
  } = entry;
  const hopgateBody = toBody(body);
  if (isObject(body) && body['event'] === 'activity' && isObject(body['activity'])) return body['activity'];
  const eventType =
    EVENT_TYPES[hopgateBody?.event ?? ''] ??
    (type === 'pattern-selection'
      ? 'pattern/selected'
      : type === 'pattern-outcome'
        ? 'pattern/outcome'
        : 'agent/interaction');
  const metadata = hopgateBody?.event === 'par' ? hopgateBody.par : isObject(body) ? body : { body };
  return {
    'event/type': eventType,
    at,
    'session/id': sessionId,
    agent: author,
    source: 'hopgate',
    metadata: {
      ...metadata,
      'evidence/id': id,
      'evidence/seq': seq,
      'evidence/claim-type': claim,
      'evidence/in-reply-to': inReplyTo,
      peripheral,
      mode,
      ...(patternId === undefined ? {} : { 'pattern/id': patternId }),
    },
  };
}

export const isActivityEvent = (value: Fields): boolean =>
  'event/type' in value || ('agent' in value && 'source' in value);

/** Returns an event of MUSN's activity log as a draft, with all its fields, including the fields that MUSN drops. */
export function readActivityEvent(
  event: Fields,
  defaults: { readonly id: string; readonly sessionId: string },
): EntryDraft {
  const type = event['event/type'] ?? 'agent/interaction';
  const sessionId = event['session/id'] ?? defaults.sessionId;
  const source = event['source'];
  return {
    id: defaults.id,
    at: normaliseInstant(event['at']),
    type: type === 'session/par' ? 'reflection' : 'coordination',
    claim: 'observation',
    subject: { type: 'session', id: sessionId },
    author: event['agent'] ?? 'unknown-agent',
    sessionId,
    peripheral: null,
    mode: null,
    body: { event: 'activity', activity: event },
    tags: ['musn', type, ...(typeof source === 'string' && source !== '' ? [source] : [])],
  } as EntryDraft;
}
