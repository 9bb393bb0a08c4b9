import type { OperatorActions } from './page-data.ts';
import type { ServerApi } from './server-api.ts';

/** How long a whistle from the page waits, in seconds. A later answer comes as a message. */
const WHISTLE_SECONDS = 300;

export const sessionApiPath = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}`;

/** The operator's actions over the server's HTTP interface. `answered` is called after each answer. */
export function operatorActionsOver(api: ServerApi, answered: () => Promise<void>): OperatorActions {
  const act = async (path: string, body: unknown): Promise<string | null> => {
    try {
      const { ok, denial } = await api.post<{
        readonly ok: boolean;
        readonly denial?: { readonly message: string; readonly remedy: string };
      }>(path, body);
      return ok === false && denial ? `${denial.message} → ${denial.remedy}` : null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const answer = async (path: string, body: unknown): Promise<string | null> => {
    const refused = await act(path, body);
    await answered();
    return refused;
  };
  return {
    answer({ id, hash }, approve, reason, grant) {
      const more = { ...(reason === '' ? {} : { reason }), ...(grant ? { grant } : {}) };
      return answer(`/v1/approvals/${id}`, { verdict: approve ? 'yes' : 'no', hash, ...more });
    },
    revoke: (grant) => answer(`/v1/grants/${encodeURIComponent(grant)}/revoke`, {}),
    hop: (session, to, exit, reason) =>
      act(
        `${sessionApiPath(session)}/${exit === null ? 'start' : 'hop'}`,
        exit === null ? { peripheral: to } : { to, exit, reason },
      ),
    mode: (session, to, reason) => act(`${sessionApiPath(session)}/mode`, { to, reset: true, reason }),
    reply: ({ id }, text) => answer(`/v1/messages/${encodeURIComponent(id)}/answer`, { text }),
    acknowledge: ({ id }) => answer(`/v1/messages/${encodeURIComponent(id)}/read`, {}),
    ring: (session, text) => act('/v1/bell', { to: `session:${session}`, text }),
    async whistle(session, text) {
      const { answer } = await api.post<{ answer: { author: string; text: string } }>('/v1/whistle', {
        to: `session:${session}`,
        text,
        seconds: WHISTLE_SECONDS,
      });
      return `${answer.author}: ${answer.text}`;
    },
    note: (session, text) => act(`${sessionApiPath(session)}/note`, { text }),
    stop: (session, reason) => act(`${sessionApiPath(session)}/stop`, { reason }),
    async why(session, tool) {
      const { denial } = await api.post<{ denial: { message: string; remedy: string } | null }>(
        `${sessionApiPath(session)}/why`,
        { tool },
      );
      return denial && `${denial.message} → ${denial.remedy}`;
    },
  };
}
