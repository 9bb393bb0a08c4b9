import type { Session } from '../../session/session.ts';
import type { ServerServices } from '../services.ts';

/** How long a call waits for other work in its session, in milliseconds. */
const WAIT_MS = 10_000;

/** Calls `work` with a session that nothing else writes meanwhile. A denial is counted for the metrics. */
export async function withHostedSession<Answer extends { readonly ok: boolean }>(
  { host, allEvidence, counters }: ServerServices,
  sessionId: string,
  what: string,
  work: (session: Session) => Promise<Answer>,
): Promise<Answer> {
  const { root } = await allEvidence.ownSession(sessionId);
  const answer = await host.sessions.use(root, sessionId, what, work, WAIT_MS);
  if (!answer.ok) counters.denials++;
  return answer;
}
