import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished } from 'vitest';
import { commitAll, type Machine, machine } from './run.ts';

export const MAIN = resolve('src/cli/main.ts');

const FILES = {
  'src/sum.js': 'export const sum = (a, b) => a - b;\n',
  'check.sh': 'grep -q "a + b" src/sum.js\n',
  'hopgate.yaml': 'scopes: { edit: [src/] }\ntest: [{ run: [sh, check.sh], report: none }]\n',
};

/** A trusted repository with a bug. */
export async function repository(): Promise<Machine> {
  const here = machine(FILES);
  commitAll(here.root);
  await here.run('trust', '--yes');
  return here;
}

const defined = (env: Machine['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

export interface Opened {
  readonly session: string;
  readonly agent: string;
  readonly mode: string | null;
  readonly peripheral: string | null;
  readonly url?: string;
  readonly token?: string | null;
}

export interface Served {
  readonly client: Client;
  /** The server's standard error. */
  readonly opened: Opened;
  readonly pid: number;
  /** Standard output that is not part of the protocol. */
  readonly noise: readonly Error[];
  kill(): Promise<void>;
}

export interface ServeOptions {
  readonly era?: 'legacy' | 'auto';
  readonly approves?: boolean;
  readonly env?: { readonly [name: string]: string };
}

/** A real `hopgate mcp` over stdio, and the official client at the other end. */
export async function serve(here: Machine, argv: readonly string[] = [], options: ServeOptions = {}): Promise<Served> {
  const { era = 'legacy', approves, env = {} } = options;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--json', '--root', here.root, ...argv],
    env: { ...defined(here.env), ...env },
    stderr: 'pipe',
  });
  const client = new Client(
    { name: 'a client', version: '1' },
    {
      capabilities: approves === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era },
      // A client that lists the tools again, as real ones do; otherwise the server waits after each change.
      listChanged: { tools: { debounceMs: 0, onChanged: () => {} } },
    },
  );
  if (approves !== undefined)
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { approve: approves } }));
  const noise: Error[] = [];
  client.onerror = (error) => noise.push(error);
  const opening = firstOpening(transport.stderr as unknown as NodeJS.ReadableStream);
  await client.connect(transport);
  onTestFinished(() => client.close());
  const pid = transport.pid ?? 0;
  const kill = async (): Promise<void> => {
    const gone = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(pid, 'SIGKILL');
    await gone;
  };
  return { client, opened: await opening, pid, noise, kill };
}

function firstOpening(stderr: NodeJS.ReadableStream): Promise<Opened> {
  const { promise, resolve } = Promise.withResolvers<Opened>();
  createInterface({ input: stderr }).on('line', (line) => {
    if (line.startsWith('{')) resolve(JSON.parse(line) as Opened);
  });
  return promise;
}

/** A real `hopgate mcp --http`. */
export async function serveHttp(
  here: Machine,
  argv: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Promise<{ readonly child: ChildProcess; readonly opened: Opened; readonly ended: Promise<number | null> }> {
  const child = spawn(process.execPath, [MAIN, 'mcp', '--json', '--root', here.root, '--http', ...argv], {
    env: { ...here.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, opened: await firstOpening(child.stderr) };
}

export async function httpClient(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'a client', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** Makes a call that must be allowed; returns the text that the model reads. */
export async function done(client: Client, name: string, input: { readonly [key: string]: unknown } = {}) {
  const { text, isError } = await called(client, name, input);
  expect(isError, text).toBe(false);
  return text;
}

export async function called(client: Client, name: string, input: { readonly [key: string]: unknown } = {}) {
  const { content, isError } = await client.callTool({ name, arguments: { ...input } });
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return { text, isError: isError === true };
}

export const toolNames = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

/** The Inspector's command line, on a server or an address. */
export function inspect(here: Machine, argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const cli = resolve('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  return new Promise((done) => {
    execFile(process.execPath, [cli, '--cli', ...argv], { env: defined(here.env) }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}
