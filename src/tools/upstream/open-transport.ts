import { resolve } from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import { requestProblem } from '../../base/http.ts';
import { resultWithin } from '../../base/limited-wait.ts';
import type { Env } from '../../base/user-folders.ts';
import { MAX_MESSAGE_BYTES, ProcessTransport } from './process-transport.ts';
import { envForServer, type FilledServerSettings } from './server-env.ts';

export interface ServerTransport {
  readonly transport: Transport;
  /** The reason why the connection ended unexpectedly, and the program's last line on stderr; null if unknown. */
  endReason(): { readonly why: string | null; readonly line: string | null };
  /** True if an error of a call means that the server is gone. */
  isLost(error: unknown): boolean;
  close(): Promise<void>;
}

/** Starts the program or prepares the HTTP connection. Sends nothing yet. */
export async function openUpstreamTransport(
  { server }: FilledServerSettings,
  root: string,
  env: Env,
): Promise<ServerTransport> {
  return 'url' in server ? httpTransport(server) : programTransport(server, root, env);
}

function programTransport(
  { command, env: own, cwd }: Extract<FilledServerSettings['server'], { command: unknown }>,
  root: string,
  env: Env,
): ServerTransport {
  const transport = new ProcessTransport({
    command,
    cwd: resolve(root, cwd ?? '.'),
    env: { ...envForServer(env), ...own },
  });
  return {
    transport,
    endReason: () => ({ why: transport.why, line: transport.lastLine }),
    isLost: () => false,
    close: () => transport.close(),
  };
}

/** Time limit for ending the HTTP session. */
const FAREWELL_MS = 1000;

async function httpTransport({
  url,
  headers,
}: Extract<FilledServerSettings['server'], { url: unknown }>): Promise<ServerTransport> {
  const { StreamableHTTPClientTransport, SdkHttpError } = await import('@modelcontextprotocol/client');
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: async (input, init) =>
      limitBody(
        await fetch(input, init).catch((error: unknown) => {
          throw error instanceof TypeError ? new TypeError(requestProblem(error), { cause: error }) : error;
        }),
      ),
  });
  return {
    transport,
    endReason: () => ({ why: null, line: null }),
    isLost: (error) =>
      error instanceof SdkHttpError ? error.status === 404 || error.status >= 500 : error instanceof TypeError,
    async close() {
      await resultWithin(FAREWELL_MS, transport.terminateSession(), null).catch(() => {});
      await transport.close();
    },
  };
}

/** Limits the length of a response body; a longer one ends with an error. */
function limitBody(response: Response): Response {
  if (response.body === null) return response;
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MAX_MESSAGE_BYTES) controller.error(new TypeError('the server sends too much data'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
}
