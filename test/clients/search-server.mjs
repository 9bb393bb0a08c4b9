import { createInterface } from 'node:readline';

// An MCP server whose only tool searches: it finds one page for each query.
const search = { name: 'search', description: 'x', inputSchema: { type: 'object', required: ['query'] } };
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'search', version: '1' },
  }),
  'tools/list': () => ({ tools: [search] }),
  'tools/call': ({ arguments: { query } }) => ({
    content: [{ type: 'text', text: `https://example.org/found for ${query}` }],
  }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params ?? {});
  const answer = result ? { result } : { error: { code: -32601, message: 'no' } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
