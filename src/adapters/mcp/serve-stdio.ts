import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type McpHost, Peer } from './host.ts';

/** A transport that says when it has ended, whoever ended it. */
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

/** Serves one client over two streams until it hangs up or `close` is called. */
export function serveOverStdio(
  host: McpHost,
  input: Readable,
  output: Writable,
): { readonly ended: Promise<void>; close(): Promise<void> } {
  const transport = new EndingTransport(input, output);
  const peer = new Peer({ connected: true });
  const served = serveStdio(() => host.server(peer), { transport, onerror: (error) => host.report(error) });
  return { ended: transport.ended, close: () => served.close() };
}
