import { fieldsOf } from '../base/json.ts';
import { errorText } from '../base/text.ts';
import { toBody } from '../evidence/bodies.ts';
import { type GrantView, grantEndReason } from '../gate/approvals/grant.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { SessionReader } from './session-reader.ts';

export interface ListedGrant {
  /** The state folder of the repository. */
  readonly stateDir: string;
  readonly session: string;
  readonly agent: string;
  readonly grant: GrantView;
  /** The reason why the grant covers no further request; null if it is valid. */
  readonly over: string | null;
}

/** A session whose grants cannot be listed, because its evidence was altered. The grants can be revoked. */
export interface UnreadableGrants {
  readonly stateDir: string;
  readonly session: string;
  /** The ids that the readable entries name. */
  readonly grants: readonly string[];
  readonly problem: string;
}

export interface ListedGrants {
  /** The latest first. */
  readonly grants: readonly ListedGrant[];
  readonly unreadable: readonly UnreadableGrants[];
}

/** The errors for a session that nobody can resume: it was imported, or its first entry was erased. */
const NO_GRANTS: readonly unknown[] = ['session-not-found', 'foreign-session', 'erased'];

/**
 * The grants in the sessions of a repository, also those that have ended. A session with altered evidence does not hide
 * the grants of other sessions.
 */
export async function listGrants(
  store: EvidenceStore,
  stateDir: string,
  read: (session: string) => Promise<Pick<SessionReader, 'view'>>,
): Promise<ListedGrants> {
  const grants: ListedGrant[] = [];
  const unreadable: UnreadableGrants[] = [];
  for (const [session, ids] of await idsOfGrants(store))
    try {
      const { view } = await read(session);
      for (const grant of view.grants ?? []) {
        const over = grantEndReason(grant, Date.now()) ?? (view.closed ? 'the session is closed' : null);
        grants.push({ stateDir, session, agent: view.agent, grant, over });
      }
    } catch (error) {
      if (!NO_GRANTS.includes(fieldsOf(error)['code']))
        unreadable.push({ stateDir, session, grants: ids, problem: errorText(error) });
    }
  return { grants: grants.sort((a, b) => b.grant.givenAt - a.grant.givenAt), unreadable };
}

/** The ids of the grants, by session. A session with an entry that cannot be read is among them. */
async function idsOfGrants(store: EvidenceStore): Promise<ReadonlyMap<string, readonly string[]>> {
  const idsIn = async (within: { readonly sessionId?: string }) => {
    const ids = new Map<string, string[]>();
    for (const { entry } of (await store.query({ ...within, tags: ['grant'], limit: 1000 })).entries) {
      const body = toBody(entry.body);
      if (body?.event === 'grant') ids.set(entry.sessionId, [...(ids.get(entry.sessionId) ?? []), body.id]);
    }
    return ids;
  };
  try {
    return await idsIn({});
  } catch {
    const each = (await store.sessions()).map(({ sessionId }) =>
      idsIn({ sessionId }).catch(() => new Map<string, string[]>([[sessionId, []]])),
    );
    return new Map((await Promise.all(each)).flatMap((ids) => [...ids]));
  }
}
