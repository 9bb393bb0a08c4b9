import { once } from 'node:events';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isObject, parseJsonMessage } from '../../base/json.ts';
import { ServerProcessGroup } from './process-group.ts';
import { StderrTail } from './stderr-tail.ts';

/** Maximum size of a server's message in bytes; a longer one ends the connection. */
export const MAX_MESSAGE_BYTES = 32 * 2 ** 20;
/** Maximum bytes of output that is not MCP or answers no request; more ends the connection. */
const MAX_JUNK_BYTES = 1 * 2 ** 20;
const MAX_UNASKED_BYTES = 64 * 2 ** 20;
/** Time limit for reading an ended program's remaining output: a process that left the group may hold the pipe open. */
const DRAIN_MS = 500;

interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** MCP over the standard streams of a program in its own process group, with bounded messages and output. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** The reason for which the connection ended; null while it is open. */
  why: string | null = null;
  readonly #program: Program;
  readonly #stderr = new StderrTail();
  #group: ServerProcessGroup | null = null;
  #parts: Buffer[] = [];
  #size = 0;
  #junk = 0;
  #unasked = 0;
  #closing = false;
  #closed = false;

  constructor(program: Program) {
    this.#program = program;
  }

  get lastLine(): string | null {
    // setpriv reports a missing program in its own words.
    return this.#stderr.lastLine()?.replace(/^setpriv: failed to execute /, 'cannot run ') ?? null;
  }

  async start(): Promise<void> {
    const group = new ServerProcessGroup(this.#program.command, this.#program);
    this.#group = group;
    const { child } = group;
    child.stderr!.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    child.stdout!.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.once('exit', (code, signal) => {
      const isExpected = this.#closing && (signal !== null || code === 0);
      if (!isExpected) this.why ??= signal === null ? `it ended with exit status ${code}` : `it was ended by ${signal}`;
      const drained = setTimeout(() => this.#finish(), DRAIN_MS);
      child.once('close', () => {
        clearTimeout(drained);
        this.#finish();
      });
    });
    await once(child, 'spawn').catch((error: Error) => {
      this.why ??= `it could not be started (${error.message})`;
      throw error;
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const input = this.#group?.child.stdin;
    if (!input?.writable) reject(new Error('the program stopped reading'));
    else input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    return promise;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#group?.end();
    this.#finish();
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let stop = chunk.indexOf(10); stop >= 0 && !this.#closed; stop = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(start, stop)]);
      [this.#parts, this.#size, start] = [[], 0, stop + 1];
      this.#read(line);
    }
    if (this.#closed) return;
    this.#parts.push(chunk.subarray(start));
    this.#size += chunk.length - start;
    if (this.#size > MAX_MESSAGE_BYTES)
      this.#abort(`it wrote a message of more than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB`);
  }

  #read(line: Buffer): void {
    if (line.length === 0) return;
    const message = parse(line);
    if (message === null) {
      this.#junk += line.length;
      if (this.#junk > MAX_JUNK_BYTES) this.#abort('it wrote too much output that is not MCP');
      return;
    }
    this.#unasked = 'method' in message ? this.#unasked + line.length : 0;
    if (this.#unasked > MAX_UNASKED_BYTES) return this.#abort('it wrote endless output without an answer');
    this.onmessage?.(message);
  }

  #abort(why: string): void {
    this.why ??= why;
    this.#group?.kill('SIGKILL');
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts = [];
    for (const stream of this.#group?.child.stdio ?? []) stream?.destroy();
    this.onclose?.();
  }
}

function parse(line: Buffer): JSONRPCMessage | null {
  const value: unknown = parseJsonMessage(line.toString('utf8'));
  return isObject(value) && 'jsonrpc' in value ? (value as JSONRPCMessage) : null;
}
