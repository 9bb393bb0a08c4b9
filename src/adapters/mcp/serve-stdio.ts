import { finished, type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { ProtocolErrorCode, type RequestId, type Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { type McpHost, ServedClient } from './mcp-host.ts';
import { makeMcpServer } from './mcp-server.ts';

/** A transport whose `ended` resolves when either side closes it. */
class EndingTransport extends StdioServerTransport {
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;

  override async close(): Promise<void> {
    await super.close();
    this.#end.resolve();
  }
}

/**
 * Serves one client over two streams until it disconnects or `close` is called. A request that is too large gets an
 * error.
 * @example await serveOverStdio(new McpHost({ session: agentSession(session) }), process.stdin, process.stdout).ended;
 */
export function serveOverStdio(
  host: McpHost,
  input: Readable,
  output: Writable,
): { readonly ended: Promise<void>; close(): Promise<void> } {
  assertArgument(hasMethods(input, 'pipe'), 'serveOverStdio: input', 'a readable stream', input);
  assertArgument(hasMethods(output, 'write'), 'serveOverStdio: output', 'a writable stream', output);
  const lines = new LimitedLines((size, id) => {
    const message = `the message has ${size} bytes, more than ${MAX_MESSAGE}. Send a smaller one: for example, write the file in parts with edit.`;
    if (id === null) host.report(new Error(message));
    else
      output.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InvalidRequest, message } })}\n`,
      );
  });
  const transport = new EndingTransport(lines, output);
  input.pipe(lines);
  finished(input, () => lines.end());
  void transport.ended.then(() => input.unpipe(lines));
  return { ended: transport.ended, ...serveOverTransport(host, transport) };
}

/** Serves one client over a transport of the SDK, in either version of the protocol. */
export function serveOverTransport(host: McpHost, transport: Transport): { close(): Promise<void> } {
  assertArgument(hasMethods(host, 'observe'), 'serveOverTransport: host', 'an McpHost', host);
  const peer = new ServedClient({ connected: true });
  const served = serveStdio(() => makeMcpServer(host, peer), { transport, onerror: (error) => host.report(error) });
  return { close: () => served.close() };
}

/** Maximum size of a message, in bytes. The SDK ends the connection at a larger one. */
const MAX_MESSAGE = 10 * 2 ** 20;
/** Number of bytes at each end of a larger message that are searched for its id. */
const SEARCHED_BYTES = 1024;

/** Passes on the lines of a client. A line that is too large is dropped and reported. */
class LimitedLines extends Transform {
  readonly #onTooLarge: (size: number, id: RequestId | null) => void;
  #parts: Buffer[] = [];
  #size = 0;
  #head = '';

  /** @param onTooLarge called with the size of a line that is dropped, and with the id of the request in it */
  constructor(onTooLarge: (size: number, id: RequestId | null) => void) {
    super();
    this.#onTooLarge = onTooLarge;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#add(rest.subarray(0, end + 1));
      this.#endLine();
      rest = rest.subarray(end + 1);
    }
    this.#add(rest);
    done();
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= MAX_MESSAGE) return;
    const all = Buffer.concat(this.#parts);
    this.#head ||= all.toString('utf8', 0, SEARCHED_BYTES);
    this.#parts = [all.subarray(-SEARCHED_BYTES)];
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts);
    if (this.#size <= MAX_MESSAGE) this.push(line);
    else this.#onTooLarge(this.#size, idOf(this.#head, line.toString('utf8')));
    [this.#parts, this.#size, this.#head] = [[], 0, ''];
  }
}

const MEMBER = String.raw`"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"`;
const ID = String.raw`"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,200}")`;
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:${MEMBER}\s*,\s*)*${ID}\s*,`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${MEMBER}\s*)*\}\s*$`);

/** The id of a request, which clients write before or after its parameters; null if neither end shows it. */
function idOf(head: string, tail: string): RequestId | null {
  const [, id] = FIRST.exec(head) ?? LAST.exec(tail) ?? [];
  return id === undefined ? null : (JSON.parse(id) as RequestId);
}
