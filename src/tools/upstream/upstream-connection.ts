import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { errorText } from '../../base/text.ts';
import type { Env } from '../../base/user-folders.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Fields, UpstreamServer } from '../../spec/types.ts';
import type { ListedTool } from './listed-tool.ts';
import { openUpstreamTransport, type ServerTransport } from './open-transport.ts';
import { fillServerSettings, makeSecretRedactor } from './server-env.ts';
import { removeControlCharacters } from './stderr-tail.ts';

/** Time limit in milliseconds for a server to become ready; its program may be downloaded first. */
export const READY_MS = 60_000;
const LIST_MS = 20_000;
/** Time limit for the ping after a timed-out call; without an answer the server counts as dead. */
const PING_MS = 2_000;

export interface ConnectionParts {
  readonly root: string;
  /** Values for `${NAME}` in hopgate.yaml. */
  readonly env: Env;
  readonly clock: Clock;
  /** At least 0, less than 1; spreads the times at which a dead server is tried again. */
  readonly random: () => number;
  /** hopgate's version, as sent to servers. */
  readonly version: string;
}

interface UpState {
  readonly client: Client;
  readonly transport: ServerTransport;
  tools: ReadonlyMap<string, ListedTool>;
  /** True if the server announced that its list of tools changed. */
  stale: boolean;
}

interface DownState {
  /** Time of the failure in epoch milliseconds. */
  readonly since: number;
  readonly retryAt: number;
  readonly why: string;
}

/** Thrown if the server does not answer and the next attempt is not due yet. */
export class UpstreamDownError extends Error {
  override readonly name = 'UpstreamDown';
}

/**
 * The connection to one MCP server. It opens at first use and reopens at the next use after its end, but not before a
 * delay that grows with each failure. No timer runs. hopgate declares no client capabilities: the server cannot ask for
 * sampling, elicitation or roots.
 */
export class UpstreamConnection {
  readonly #name: string;
  readonly #server: UpstreamServer;
  readonly #parts: ConnectionParts;
  #up: UpState | null = null;
  #down: DownState | null = null;
  #opening: Promise<UpState> | null = null;
  /** The connection that is being opened, so that `close` need not wait for a silent server. */
  #openingTransport: ServerTransport | null = null;
  #failures = 0;
  #closed = false;
  #redact = (text: string): string => text;
  /** Removes this server's secrets from a text. */
  readonly clean = (text: string): string => this.#redact(text);

  constructor(name: string, server: UpstreamServer, parts: ConnectionParts) {
    this.#name = name;
    this.#server = server;
    this.#parts = parts;
  }

  /** Lists the server's tools by name. @throws UpstreamDownError */
  async tools(): Promise<ReadonlyMap<string, ListedTool>> {
    const up = await this.#ready();
    if (up.stale) {
      up.stale = false;
      await this.#orLost(up, async () => {
        up.tools = await listTools(up.client);
      });
    }
    return up.tools;
  }

  /**
   * Calls a tool once. Returns the server's answer unchanged; protocol errors propagate.
   * @throws UpstreamDownError, the SDK's errors, or the signal's reason
   */
  async call(
    tool: string,
    args: Fields,
    { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<CallToolResult> {
    const up = await this.#ready();
    const milliseconds = Math.ceil(seconds * 1000);
    const limits = { timeout: milliseconds, maxTotalTimeout: milliseconds, signal };
    const result = await this.#orLost(up, () => up.client.callTool({ name: tool, arguments: { ...args } }, limits));
    this.#failures = 0;
    return result;
  }

  /** Pings the server after a call that timed out, and closes the connection if there is no answer. */
  async probe(): Promise<void> {
    const up = this.#up;
    if (!up) return;
    await up.client.ping({ timeout: PING_MS }).catch(() => this.#lose(up, 'it stopped answering'));
  }

  /** Closes the connection and ends the program. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#openingTransport?.close().catch(() => {});
    await this.#opening?.catch(() => {});
    const up = this.#up;
    this.#up = null;
    await up?.transport.close();
  }

  async #ready(): Promise<UpState> {
    if (this.#closed) throw new UpstreamDownError(`The connection to the upstream "${this.#name}" is closed.`);
    if (this.#up) return this.#up;
    if (this.#down && this.#parts.clock.now() < this.#down.retryAt)
      throw new UpstreamDownError(this.#downMessage(this.#down));
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
      this.#openingTransport = null;
    });
    return this.#opening;
  }

  async #open(): Promise<UpState> {
    let transport: ServerTransport | null = null;
    try {
      const filled = fillServerSettings(this.#server, this.#parts.env);
      this.#redact = makeSecretRedactor(filled);
      transport = await openUpstreamTransport(filled, this.#parts.root, this.#parts.env);
      this.#openingTransport = transport;
      if (this.#closed) throw new Error('the session is over');
      const client = await newClient('url' in this.#server, this.#parts.version);
      let up: UpState | null = null;
      client.setNotificationHandler('notifications/tools/list_changed', () => {
        if (up) up.stale = true;
      });
      await client.connect(transport.transport, { timeout: READY_MS, maxTotalTimeout: READY_MS });
      up = { client, transport: transport, tools: await listTools(client), stale: false };
      const opened = up;
      client.onclose = () => this.#lose(opened, 'the connection ended');
      if (transport.endReason().why !== null) throw new Error('the connection ended');
      this.#up = up;
      this.#down = null;
      return up;
    } catch (error) {
      await transport?.close().catch(() => {});
      const last = transport?.endReason();
      this.#fail(last?.why ?? messageOf(error), last?.line ?? null);
      throw new UpstreamDownError(this.#downMessage(this.#down!));
    }
  }

  async #orLost<T>(up: UpState, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (up.transport.isLost(error)) this.#lose(up, messageOf(error));
      if (this.#up === up || !this.#down) throw error;
      throw new UpstreamDownError(
        `${this.#downMessage(this.#down)} It went down during this call; the effects of the call are unknown.`,
      );
    }
  }

  #lose(up: UpState, otherwise: string): void {
    if (this.#up !== up) return;
    this.#up = null;
    const { why, line } = up.transport.endReason();
    this.#fail(why ?? otherwise, line);
    void up.transport.close().catch(() => {});
  }

  #fail(why: string, lastLine: string | null): void {
    this.#failures += 1;
    const since = this.#parts.clock.now();
    const problem = lastLine === null ? why : `${why}; its last line: "${lastLine}"`;
    this.#down = {
      since,
      retryAt: since + reconnectDelay(this.#failures, this.#parts.random()),
      why: this.clean(removeControlCharacters(problem)),
    };
  }

  #downMessage({ since, retryAt: again, why }: DownState): string {
    const at = (time: number) => new Date(time).toISOString();
    return `The upstream "${this.#name}" is down since ${at(since)}: ${why}. It is tried again by the next call from ${at(again)} on.`;
  }
}

async function newClient(http: boolean, version: string): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client');
  return new Client(
    { name: 'hopgate', version },
    {
      capabilities: {},
      inputRequired: { autoFulfill: false },
      // Passes every answer on unchecked: a check by the schema would lose the answer after the tool has run.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      // Only HTTP servers are probed for their version: some programs never answer an unknown request.
      versionNegotiation: { mode: http ? 'auto' : 'legacy' },
    },
  );
}

async function listTools(client: Client): Promise<ReadonlyMap<string, ListedTool>> {
  if (client.getServerCapabilities()?.tools === undefined) return new Map();
  const { tools } = await client.listTools(undefined, { timeout: LIST_MS, cacheMode: 'refresh' });
  return new Map(tools.map((tool) => [tool.name, tool]));
}

const MAX_MESSAGE = 500;
const messageOf = (error: unknown): string => removeControlCharacters(errorText(error)).slice(0, MAX_MESSAGE);

const FIRST_MS = 100;
const MAX_MS = 30_000;

/**
 * Delay before the next attempt after `failures` consecutive failures (from 1): 100 ms, doubled each time up to 30 s,
 * minus a random part of up to half, so that many sessions do not retry at once.
 * @param random at least 0, less than 1
 */
export function reconnectDelay(failures: number, random: number): number {
  const whole = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round(whole * (1 - random / 2));
}
