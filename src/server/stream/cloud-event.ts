import { z } from 'zod';
import { toBody } from '../../evidence/bodies.ts';
import type { StoredEntry } from '../../evidence/entry.ts';
import { InstantSchema } from '../schemas.ts';

/** An event in the form of CloudEvents 1.0 (JSON). */
export const CloudEvent = z.object({
  specversion: z.literal('1.0'),
  id: z.string().describe('The id of the entry.'),
  source: z.string().describe('The id of the session, as a URI reference.'),
  type: z.string().describe('`dev.hopgate.evidence.EVENT.v1`, or `dev.hopgate.stream.resync.v1`.'),
  time: InstantSchema,
  datacontenttype: z.literal('application/json'),
  sequence: z.string().describe('The `seq` of the entry in its session, in decimal.'),
  data: z.unknown(),
});
export type CloudEvent = z.output<typeof CloudEvent>;

/** The type of an entry's event: `dev.hopgate.evidence.denial.v1`. */
const eventTypeOf = ({ entry, body }: StoredEntry): string =>
  `dev.hopgate.evidence.${body === null ? 'erased' : /^[a-z-]+$/.exec(toBody(entry.body)?.event ?? '') ? toBody(entry.body)!.event : 'entry'}.v1`;

/** An entry as an event, with its data in the form that the subscriber asked for. */
export const toCloudEvent = (stored: StoredEntry, data: unknown): CloudEvent => ({
  specversion: '1.0',
  id: stored.entry.id,
  source: encodeURIComponent(stored.entry.sessionId),
  type: eventTypeOf(stored),
  time: stored.entry.at,
  datacontenttype: 'application/json',
  sequence: String(stored.entry.seq),
  data,
});

/** The marker for a reader that was too slow: the entries up to `seq` were left out, so it must read a snapshot. */
export const makeResyncEvent = (sessionId: string, seq: number): CloudEvent => ({
  specversion: '1.0',
  id: `resync-${seq}`,
  source: encodeURIComponent(sessionId),
  type: 'dev.hopgate.stream.resync.v1',
  time: new Date().toISOString(),
  datacontenttype: 'application/json',
  sequence: String(seq),
  data: { seq },
});
