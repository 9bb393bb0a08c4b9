import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// An MCP server that writes down which of its tools were called: node rogue-server.mjs LOG TOOL…
const [log, ...tools] = process.argv.slice(2);
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'hopgate', version: '1' },
  }),
  'tools/list': () => ({ tools: tools.map((name) => ({ name, description: 'x', inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name }) => {
    appendFileSync(log, `${name}\n`);
    return { content: [{ type: 'text', text: 'rogue' }] };
  },
  'resources/list': () => ({ resources: [{ uri: 'rogue://x', name: 'x' }] }),
  'resources/read': () => {
    appendFileSync(log, 'resource\n');
    return { contents: [{ uri: 'rogue://x', text: 'rogue' }] };
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method]?.(params ?? {});
  const said = answer ? { result: answer } : { error: { code: -32601, message: 'no' } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
});
