import { type Body, toBody } from '../evidence/bodies.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import type { Request } from '../gate/request.ts';

/** A decision as text: `allow`, or the code of the denial. */
export type ReplayedAnswer = 'allow' | (string & {});

/** A request with the session's answer. */
interface RecordedRequest {
  readonly request: Request;
  readonly was: ReplayedAnswer;
}

/** The requests that an entry records; none for most entries, which record only a part of a request. */
export function recordedRequestsOf(body: Body | null, batch: readonly StoredEntry[]): readonly RecordedRequest[] {
  const allowed = (request: Request): RecordedRequest[] => [{ request, was: 'allow' }];
  switch (body?.event) {
    case 'start':
      if (body.facts === null) return [];
      return allowed({ kind: 'start', peripheral: body.peripheral, by: body.by, context: body.context });
    case 'step':
    case 'intent':
      return [{ request: { kind: 'step', tool: body.tool, args: body.args }, was: body.wouldRefuse?.code ?? 'allow' }];
    case 'stop':
      if (body.exit !== null) return [];
      return allowed({ kind: 'stop', reason: body.reason, by: body.by, fruit: body.fruit });
    case 'hop': {
      const { to, exit, reason, by } = body;
      return allowed({ kind: 'hop', to, exit, reason, by, fruit: firstBodyWithEvent(batch, 'stop')?.fruit ?? {} });
    }
    case 'mode':
      return allowed({
        kind: 'mode',
        to: body.to,
        by: body.by,
        ...(body.how === 'reset' ? { reset: true } : {}),
        ...(body.summary === null ? {} : { summary: body.summary }),
        ...(body.reason === null ? {} : { reason: body.reason }),
        ...(body.exitCriteria === null ? {} : { exitCriteria: body.exitCriteria }),
      });
    case 'delegation':
      return allowed({
        kind: 'delegate',
        to: body.to,
        reason: body.reason,
        by: body.by,
        ...(body.agency ? { agency: body.agency } : {}),
      });
    case 'denial':
      return [{ request: body.request as unknown as Request, was: body.code }];
    case 'session-closed':
      return allowed({ kind: 'close', reason: body.reason, by: body.by });
    default:
      return [];
  }
}

/** The first body with this event in a batch of entries; undefined if there is none. */
export const firstBodyWithEvent = <Event extends Body['event']>(
  batch: readonly StoredEntry[],
  event: Event,
): Extract<Body, { event: Event }> | undefined =>
  batch
    .map(({ entry }) => toBody(entry.body))
    .find((body): body is Extract<Body, { event: Event }> => body?.event === event);

/** True for an entry of a request that several entries record: review, approval, stop, hop, start. */
export const isPartOfRequest = (body: Body | null): boolean =>
  body !== null &&
  (['par', 'approval', 'stop', 'hop', 'start', 'mode', 'delegation'].includes(body.event) || isApprovedStep(body));
const isApprovedStep = (body: Body | null): boolean => body?.event === 'intent' && body.approval !== undefined;
/** True for the last entry of such a request. */
export const endsRequest = (body: Body | null): boolean =>
  isApprovedStep(body) ||
  body?.event === 'start' ||
  body?.event === 'mode' ||
  body?.event === 'delegation' ||
  (body?.event === 'stop' && body.exit === null);
