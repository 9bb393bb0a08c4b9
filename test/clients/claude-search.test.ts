import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';

const SERVER = resolve('test/clients/search-server.mjs');
const FILES = {
  'hopgate.yaml': `specs: specs\nupstream:\n  finder: { command: ["${process.execPath}", "${SERVER}"] }\n`,
  'specs/gate.yaml':
    'initial: diagnose\nmodes:\n  diagnose: { effects: [observe, coordinate] }\n  execute: { effects: [observe, act, coordinate] }\ntransitions:\n  - { from: diagnose, to: execute, approval: operator }\nreset: diagnose\n',
  'specs/tools.yaml': `tools:
  web-search:
    purpose: Searches the web.
    effect: observe
    upstream: { server: finder, tool: search }
    parameters:
      - { name: query, role: text, description: What to search. }
    limits: { seconds: 20, output-bytes: 65536 }
`,
  'specs/peripherals/work.yaml':
    'id: work\npurpose: Reads and searches.\ntools: [read, web-search]\nscope: { paths: [src/] }\nentry: [default, from-work]\nexit: { again: work }\n',
  'src/a.js': 'one\n',
};

it.skipIf(!CLAUDE_BIN)('Claude Code searches the web through the server that the operator configured', async () => {
  const world = new ClaudeWorld(FILES);
  try {
    expect((await world.hopgate('trust', '--yes')).code).toBe(0);
    const search = { query: 'how to hop' };
    const run = await world.run([
      call('ToolSearch', { query: 'select:WebSearch' }),
      call('WebSearch', search),
      call(own('web-search'), search),
      { text: 'done' },
      { text: 'done' },
    ]);
    const [, refused, found] = run.results;
    expect(refused, run.stderr + run.stdout).toMatchObject({ failed: true, name: 'WebSearch' });
    expect(refused?.text).toContain(`${own('web-search')} with {"query":"how to hop"}`);
    expect(found).toMatchObject({ failed: false, text: expect.stringContaining('found for how to hop') });
    expect(await world.evidence(run.session)).toContainEqual(expect.stringMatching(/^step web-search ok/));
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
  } finally {
    await world.close();
  }
});
