import { compileSpecTables } from '../compile/spec-tables.ts';
import { toBody } from '../evidence/bodies.ts';
import type { GrantView } from '../gate/approvals/grant.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import { readResumePoint } from './create-session.ts';
import { applyEntry } from './state/apply-entry.ts';
import { initialSessionState, isSessionClosed } from './state/session-state.ts';

export interface SessionGrant {
  readonly sessionId: string;
  readonly agent: string;
  readonly grant: GrantView;
}

/** The ids of the sessions with a grant, the latest first. */
export async function idsOfSessionsWithGrants(store: EvidenceStore): Promise<readonly string[]> {
  const { entries } = await store.query({ tags: ['grant'], limit: 1000 });
  const grants = entries.filter(({ entry }) => toBody(entry.body)?.event === 'grant');
  return [...new Set(grants.map(({ entry }) => entry.sessionId))];
}

/** The grants of a store's sessions. The grants of a closed session have ended. */
export async function readGrantsInStore(store: EvidenceStore): Promise<readonly SessionGrant[]> {
  const all: SessionGrant[] = [];
  for (const sessionId of await idsOfSessionsWithGrants(store)) {
    const { pin, state: storedState } = await readResumePoint(store, sessionId);
    const tables = compileSpecTables(pin.specs);
    let state = storedState ?? initialSessionState(tables, sessionId);
    for await (const stored of store.entries(sessionId, { from: state.head.seq + 1 }))
      state = applyEntry(tables, state, stored);
    const over = isSessionClosed(state) ? 'the session is closed' : null;
    for (const grant of state.facts.grants)
      all.push({ sessionId, agent: state.facts.agent, grant: { ...grant, ended: grant.ended ?? over } });
  }
  return all;
}
