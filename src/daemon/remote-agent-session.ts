import type { AgentAnswer, AgentCall, AgentSession, AgentTool } from '../adapters/core/agent-session.ts';
import type { Env } from '../base/user-folders.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import { askDaemon, NoDaemonError } from './hook/ask-daemon.ts';
import type { SessionRequest, SessionRequestAnswer } from './session-request.ts';
import { ensureDaemon, isDaemonEnabled } from './start-daemon.ts';

interface RemoteOptions {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** The agent name for a new session: the client program's name. */
  readonly agent: string;
  /** `HOPGATE_SESSION` names the session; `HOPGATE_DAEMON=off` keeps everything in this process. */
  readonly env: Env;
  /** The process whose ancestors are searched for the client program; default: this process. */
  readonly pid?: number;
}

type Perform = (op: SessionRequest, signal?: AbortSignal) => Promise<unknown>;

interface Performer {
  readonly perform: Perform;
  close(): Promise<void>;
}

/** The answer if the daemon ended during a call. */
const INTERRUPTED_ANSWER: AgentAnswer = {
  status: 'failed',
  text: 'interrupted: hopgate stopped during this call and its result is unknown; check the current state before you repeat it.',
  data: { code: 'interrupted' },
  denial: null,
  toolsChanged: true,
};

/**
 * The session of the client program that started this process, over this user's daemon. The client's hooks use the same
 * session. If the daemon dies, it is started again, and the session is opened by its id.
 * @throws Error if the session does not exist, or no daemon can be started
 */
export async function remoteAgentSession(options: RemoteOptions): Promise<AgentSession> {
  const { root, agent } = options;
  const { perform, close } = await performer(options);
  const session = (await perform({ op: 'attach', root, agent })) as string;
  const at = { root, session };
  return {
    id: session,
    tools: async () => (await perform({ ...at, op: 'tools' })) as readonly AgentTool[],
    allTools: async () => (await perform({ ...at, op: 'allTools' })) as readonly AgentTool[],
    async call({ signal, ...call }: AgentCall) {
      try {
        return (await perform({ ...at, op: 'call', call }, signal)) as AgentAnswer;
      } catch (error) {
        if (error instanceof NoDaemonError && error.hasStarted) return INTERRUPTED_ANSWER;
        throw error;
      }
    },
    wants: async ({ signal: _, ...call }) => (await perform({ ...at, op: 'wants', call })) as ApprovalRequest | null,
    status: async () => (await perform({ ...at, op: 'status' })) as Awaited<ReturnType<AgentSession['status']>>,
    prompt: async () => (await perform({ ...at, op: 'prompt' })) as string,
    close,
  };
}

type OperatorAct = Extract<SessionRequest, { readonly op: 'note' | 'hop' }>;

/** Acts as the operator in a session. Returns the answer of the session. @throws Error if it cannot be reached */
export async function sendOperatorAct(act: OperatorAct, env: Env): Promise<unknown> {
  const options = { root: act.root, agent: 'operator', env };
  const { perform, close } = await performer(options);
  try {
    return await perform(act);
  } finally {
    await close();
  }
}

/** Performs requests by the daemon; with `HOPGATE_DAEMON=off`, in this process, which then loads all of the code. */
const performer = (options: RemoteOptions): Promise<Performer> | Performer =>
  isDaemonEnabled(options.env) ? overDaemon(options) : inProcess(options);

function overDaemon({ env, pid = process.pid }: RemoteOptions): Performer {
  const perform: Perform = async (op, signal) => {
    for (let attempt = 0; ; attempt++) {
      try {
        const bytes = await askDaemon('/agent', { env, pid, body: JSON.stringify(op), ...(signal ? { signal } : {}) });
        return outcomeOf(JSON.parse(bytes.toString()) as SessionRequestAnswer);
      } catch (error) {
        const again =
          error instanceof NoDaemonError &&
          (!error.hasStarted || !['call', 'note', 'hop'].includes(op.op)) &&
          attempt < 3;
        if (!again) throw error;
        await ensureDaemon(env);
      }
    }
  };
  return { perform, close: async () => {} };
}

async function inProcess({ env, pid = process.pid }: RemoteOptions): Promise<Performer> {
  const [{ SessionHost }, { carryOutSessionRequest }] = await Promise.all([
    import('./session-host.ts'),
    import('./session-request.ts'),
  ]);
  const host = new SessionHost({ env, keepOpenMs: 0 });
  return {
    perform: async (op, signal = new AbortController().signal) =>
      outcomeOf(await carryOutSessionRequest(host, { env, pid }, op, signal)),
    close: () => host.close(),
  };
}

function outcomeOf(answer: SessionRequestAnswer): unknown {
  if (answer.ok) return answer.value;
  throw Object.assign(new Error(answer.why), answer.cause);
}
