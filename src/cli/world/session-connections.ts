import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { quoteWord } from '../../adapters/text-turns.ts';
import type { Json } from '../../spec/types.ts';
import { hopgateCommandLine } from '../client/client-program.ts';
import type { Io } from '../io.ts';
import type { SessionDataConnection, StepOrHopAnswer } from './data-session.ts';

interface ConnectionSetting {
  readonly session: string;
  readonly root: string;
  readonly env: Io['env'];
}

/** Connects to a session by the HTTP API, with the token of its agent. The server ends with the connection. */
export async function connectOverHttp({ session, env }: ConnectionSetting): Promise<SessionDataConnection> {
  const [{ SessionHost }, { openHttpServer }, { Tokens }] = await Promise.all([
    import('../../daemon/session-host.ts'),
    import('../../server/http-server.ts'),
    import('../../server/access/tokens.ts'),
  ]);
  // The token is read before the server is opened, because reading throws if the token's file is not safe.
  const token = new Tokens(env).ofSession(session);
  const host = new SessionHost({ env, keepOpenMs: 0 });
  const http = await openHttpServer(host, { env, listen: { port: 0 } });
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const response = await fetch(`${http.address}/v1/sessions/${session}${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    });
    const answer = (await response.json()) as { error: { message: string } };
    if (!response.ok) throw new Error(`${path}: ${answer.error.message}`);
    return answer as T;
  };
  return {
    step: (tool, args) => ask('/step', { tool, args }),
    hop: (hop) => ask('/hop', hop),
    status: async () => ({ ...(await ask<object>('')), available: await ask('/available') }) as never,
    inbox: async () => (await ask<{ messages: never[] }>('/inbox?unread=true')).messages,
    acknowledge: async (messages) => void (await ask('/inbox/read', { messages })),
    async close() {
      await http.close();
      await host.close();
    },
  };
}

/** Connects to a session in a separate process, `hopgate shell --json`, which writes one JSON object per line. */
export async function connectOverShell({ session, root, env }: ConnectionSetting): Promise<SessionDataConnection> {
  const [command, ...args] = hopgateCommandLine();
  const shell = spawn(command, [...args, 'shell', '--json', '--root', root, '--session', session], {
    env: env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(shell, 'exit');
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const answer = async <T>(): Promise<T> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('hopgate shell ended');
    const { type, ...fields } = JSON.parse(value);
    if (type === 'mistake') throw new Error(fields.message);
    return fields as T;
  };
  const type = <T>(line: string): Promise<T> => {
    shell.stdin.write(`${line}\n`);
    return answer<T>();
  };
  const word = (value: Json): string => quoteWord(String(value));
  await answer();
  return {
    step: (tool, args) =>
      type<StepOrHopAnswer>([tool, ...Object.entries(args).map(([name, value]) => `${name}=${word(value)}`)].join(' ')),
    hop: ({ hop, exit, reason }) =>
      type<StepOrHopAnswer>(`hop ${hop}${exit === undefined ? '' : ` --exit ${exit}`} --reason ${word(reason)}`),
    status: () => type('status'),
    inbox: async () => (await type<{ messages: never[] }>('inbox')).messages,
    // The shell acknowledges the messages that it prints.
    acknowledge: async () => {},
    async close() {
      shell.stdin.end();
      await exited;
    },
  };
}
