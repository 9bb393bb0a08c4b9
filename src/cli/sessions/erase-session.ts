import { rmSync } from 'node:fs';
import { transcriptPath } from '../../adapters/core/transcript/transcript-file.ts';
import { plural } from '../../base/text.ts';
import { approvalsFolder } from '../../operator/approvals-folder.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { stateDir } from '../../project/state-dir.ts';
import type { Io } from '../io.ts';

/** Minimum age of a removed blob in milliseconds: the entry that refers to a younger one may not be appended yet. */
const GRACE_MS = 60_000;

/** The result of an erasure: bodies erased, and unused blobs removed. */
export interface ErasedSession {
  readonly sessionId: string;
  readonly erased: number;
  readonly blobs: number;
}

/** Erases a session's bodies, its transcript and its pending requests. The operator log records that. */
export async function eraseSession(
  io: Io,
  root: string,
  store: EvidenceStore,
  sessionId: string,
): Promise<ErasedSession> {
  const now = Date.now();
  const { erased } = await store.erase({ sessionId });
  const { collected } = await store.collectBlobs({ olderThan: new Date(now - GRACE_MS).toISOString() });
  const dir = stateDir(root, io.env);
  rmSync(transcriptPath(dir, sessionId), { force: true });
  const { pending, dropPending } = approvalsFolder(dir);
  for (const { request } of pending()) if (request.sessionId === sessionId) dropPending(request.hash);
  const message = `${plural(erased, 'body', 'bodies')} of session ${sessionId} erased`;
  await store.note({ at: new Date(now).toISOString(), code: 'erased', sessionId, message });
  return { sessionId, erased, blobs: collected };
}
