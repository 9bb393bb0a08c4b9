import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type McpHost, Peer } from './mcp-host.ts';
import { mcpServer } from './server.ts';

/** A transport with a promise for its end, on either side. */
class EndingTransport extends StdioServerTransport {
  readonly ended: Promise<void>;
  #end: () => void = () => {};

  constructor(input: Readable, output: Writable) {
    super(input, output);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  override async close(): Promise<void> {
    await super.close();
    this.#end();
  }
}

/** Serves one client over two streams until it disconnects or `close` is called. */
export function serveOverStdio(
  host: McpHost,
  input: Readable,
  output: Writable,
): { readonly ended: Promise<void>; close(): Promise<void> } {
  const transport = new EndingTransport(input, output);
  return { ended: transport.ended, ...serveOverTransport(host, transport) };
}

/** Serves one client over a transport of the SDK, in either version of the protocol. */
export function serveOverTransport(host: McpHost, transport: Transport): { close(): Promise<void> } {
  const peer = new Peer({ connected: true });
  const served = serveStdio(() => mcpServer(host, peer), { transport, onerror: (error) => host.report(error) });
  return { close: () => served.close() };
}
