// Opens the backend and calls it; prints the server's id. `forget`: ends without closing it; `hold`: makes the server
// stay whatever happens, and waits to be killed.
import type { CallEnvelope } from '../../../src/ports/tool-backend.ts';
import type { ToolSpec } from '../../../src/spec/types.ts';
import { upstreamBackend } from '../../../src/tools/upstream/upstream-backend.ts';

const [what, root = '', fixture = ''] = process.argv.slice(2);
const tool = (name: string): ToolSpec => ({
  id: name,
  purpose: 'as tested',
  effect: 'observe',
  parameters: [],
  limits: { seconds: 1000, outputBytes: 1000 },
  upstream: { server: 'fixture', tool: name, schemaHash: null, folders: 'contents' },
});
const backend = upstreamBackend({ tools: { pid: tool('pid'), stay: tool('stay') } });
const config = {
  scopes: {},
  upstream: { fixture: { command: [process.execPath, fixture], env: {}, cwd: null, contained: false } },
};
const call = (name: string) =>
  backend.run({
    tool: tool(name),
    args: {},
    envelope: { root, config } as unknown as CallEnvelope,
    sessionId: 's',
    signal: new AbortController().signal,
  });
const { outcome } = await call('pid');
if (what === 'hold') await call('stay');
console.log((outcome as unknown as { result: { content: [{ text: string }] } }).result.content[0].text);
if (what === 'hold') setInterval(() => {}, 1000);
