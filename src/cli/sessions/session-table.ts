import { hasLiveLease } from '../../base/process-holder.ts';
import type { SessionSummary } from '../../ports/evidence-store.ts';
import type { Io } from '../io.ts';
import { formatTable } from '../table.ts';

/** A table of sessions. It has a column for names only if a session has a name. */
export function formatSessionTable(io: Io, sessions: readonly SessionSummary[]): string {
  const named = sessions.some(({ name }) => name !== null);
  const withName = <T>(id: T, name: T, ...rest: readonly T[]): readonly T[] =>
    named ? [id, name, ...rest] : [id, ...rest];
  return formatTable(
    io,
    withName('session', 'name', 'agent', 'opened', 'last entry', 'entries', 'state'),
    sessions.map((session) => {
      const { sessionId, name, agent, openedAt, lastAt, entries } = session;
      return withName(sessionId, name ?? '', agent, openedAt, lastAt, String(entries), stateOf(session));
    }),
  );
}

const stateOf = (session: SessionSummary): string =>
  [
    session.closed ? 'closed' : hasLiveLease(session) ? 'open, in use' : 'open',
    ...(session.erased ? ['erased'] : []),
    ...(session.archived ? ['archived'] : []),
  ].join(', ');
