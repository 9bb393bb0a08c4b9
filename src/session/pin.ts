import { hash as digest } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type SessionOpenBody, toBody } from '../evidence/bodies.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';

/** The spec set and the configuration of a session, fixed when it opens. Changed files apply to new sessions only. */
export interface SessionPin {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
}

const pinBytes = new WeakMap<SpecSet, { readonly config: ProjectConfig; readonly bytes: Buffer }>();

/** The canonical bytes of a pin, computed once for all sessions of a process with the same pin. */
function bytesOf({ specs, config }: SessionPin): Buffer {
  const last = pinBytes.get(specs);
  if (last?.config === config) return last.bytes;
  const bytes = Buffer.from(canonicalize({ specs, config }) ?? '');
  pinBytes.set(specs, { config, bytes });
  return bytes;
}

/** Stores a pin as a content-addressed blob; returns its sha256. */
export const storePin = async (store: EvidenceStore, pin: SessionPin): Promise<string> => store.putBlob(bytesOf(pin));

/** The body of a session's first entry; null if it was erased, or if another program recorded it. */
export async function readSessionOpenBody(store: EvidenceStore, sessionId: string): Promise<SessionOpenBody | null> {
  for await (const { entry } of store.entries(sessionId)) {
    const body = toBody(entry.body);
    return body?.event === 'session-open' ? body : null;
  }
  return null;
}

/** Returns the pin of an existing session. Throws StoreError `blob-not-found`. */
export async function readStoredPin(store: EvidenceStore, hash: string): Promise<SessionPin> {
  const bytes = await store.getBlob(hash);
  if (!bytes) throw new StoreError('blob-not-found', `the pinned spec ${hash} is not in the store`);
  if (digest('sha256', bytes) !== hash) throw new StoreError('store-failed', `the pinned spec ${hash} was changed`);
  return JSON.parse(Buffer.from(bytes).toString()) as SessionPin;
}
