import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';

const SERVER = resolve('test/clients/search-server.mjs');
const FILES = {
  'hopgate.yaml': `specs: specs\nupstream:\n  finder: { command: ["${process.execPath}", "${SERVER}"] }\n`,
  'specs/tools.yaml': `tools:
  web-search:
    purpose: Searches the web.
    effect: observe
    upstream: { server: finder, tool: search }
    parameters:
      - { name: query, role: text, description: What to search. }
    limits: { seconds: 20, output-bytes: 65536 }
`,
  'specs/peripherals/look.yaml':
    'id: look\npurpose: Reads.\ntools: [read]\nscope: { paths: [src/] }\nentry: [default, from-work]\nexit: { search: work }\n',
  'specs/peripherals/work.yaml':
    'id: work\npurpose: Searches.\ntools: [read, web-search]\nscope: { paths: [src/] }\nentry: [from-look]\nexit: { back: look }\n',
  'src/a.js': 'one\n',
};

describe.skipIf(!CLAUDE_BIN)('Claude Code, after a hop in a turn', () => {
  it.each([
    ['has the new tool in its very next request, when all tools are loaded', { ENABLE_TOOL_SEARCH: 'false' }],
    ['calls the new tool next, when tools are searched for', { ENABLE_TOOL_SEARCH: 'true' }],
  ])('%s', async (_, env) => {
    const world = new ClaudeWorld(FILES);
    try {
      expect((await world.hopgate('trust', '--yes')).code).toBe(0);
      const search = call(own('web-search'), { query: 'how to hop' });
      const hop = call(own('hop'), { to: 'work', exit: 'search', reason: 'to search' });
      const run = await world.run([search, hop, search, { text: 'done' }, { text: 'done' }], { env });
      const [before, next, found] = run.results;
      expect(before, run.stderr + run.stdout).toMatchObject({ failed: true });
      expect(next).toMatchObject({ failed: false });
      if (env.ENABLE_TOOL_SEARCH === 'false') {
        expect(run.requests[1]?.tools).not.toContain(own('web-search'));
        expect(run.requests[2]?.tools).toContain(own('web-search'));
      }
      expect(found).toMatchObject({ failed: false, text: expect.stringContaining('found for how to hop') });
    } finally {
      await world.close?.();
    }
  });
});
