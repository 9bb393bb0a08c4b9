import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { called, done, serve, toolNames } from './mcp.ts';
import { commitAll, machine } from './run.ts';

const FILESYSTEM = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const FILES = {
  'hopgate.yaml': `specs: specs\nupstream:\n  files: { command: ["${process.execPath}", "${FILESYSTEM}", "."] }\n`,
  'specs/gate.yaml':
    'initial: diagnose\nmodes:\n  discuss: { effects: [] }\n  diagnose: { effects: [observe, coordinate] }\n  execute: { effects: [observe, act, coordinate] }\ntransitions:\n  - { from: diagnose, to: execute, approval: operator }\nreset: diagnose\n',
  'specs/tools.yaml': `tools:
  files-read:
    purpose: Reads a file.
    effect: observe
    upstream: { server: files, tool: read_text_file }
    parameters:
      - { name: path, role: path:read, description: The file. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-write:
    purpose: Writes a file.
    effect: act
    upstream: { server: files, tool: write_file }
    parameters:
      - { name: path, role: path:write, description: The file. }
      - { name: content, role: text, description: What it holds. }
    limits: { seconds: 20, output-bytes: 65536 }
`,
  'specs/peripherals/work.yaml':
    'id: work\npurpose: Works by another server.\ntools: [files-read, files-write]\nscope: { paths: [src/] }\nentry: [default, from-work]\nexit: { again: work }\n',
  'src/a.txt': 'hello\n',
  'README.md': '# Mine\n',
  '.env': 'TOKEN=planted-secret\n',
};

it('upstream tools pass through the gate, under their own names if configured', async () => {
  const here = machine(FILES);
  commitAll(here.root);
  const trusted = await here.run('trust', '--yes');
  expect(trusted.code, trusted.all).toBe(0);
  const { client, opened, noise } = await serve(here, ['--upstream-names', '--approve', 'execute']);
  expect(await toolNames(client)).toEqual(['read_text_file', 'hop', 'mode', 'status', 'why']);
  expect(await done(client, 'read_text_file', { path: 'src/a.txt' })).toBe('hello\n');
  expect((await called(client, 'read_text_file', { path: '.env' })).text).toContain('out-of-scope');
  expect((await called(client, 'read_text_file', { path: '../a' })).text).toContain('out-of-scope');
  expect((await called(client, 'write_file', { path: 'src/b.txt', content: 'b' })).text).toContain('mode-forbids');
  const opens = await done(client, 'mode', { to: 'execute', reason: 'to write' });
  expect(opens).toContain('Tools open now: read_text_file, write_file, hop');
  await done(client, 'write_file', { path: 'src/b.txt', content: 'b' });
  expect(await done(client, 'files-read', { path: 'src/b.txt' })).toBe('b');
  expect((await called(client, 'write_file', { path: 'README.md', content: 'x' })).text).toContain('out-of-scope');
  const nothing = await called(client, 'read_text_file', { path: 'src/none.txt' });
  expect(nothing).toMatchObject({ isError: true, text: expect.stringContaining('none.txt') });
  expect(noise).toEqual([]);
  await client.close();
  const { out } = await here.run('thread', opened.session);
  expect(out).toContain('files-read src/a.txt');
  expect(out).not.toContain('planted-secret');
});

it.runIf(isDeep)('a tool of an unconfigured server is not shown, and the remedy is for the operator', async () => {
  const here = machine({ ...FILES, 'hopgate.yaml': 'specs: specs\n' });
  commitAll(here.root);
  expect((await here.run('trust', '--yes')).code).toBe(0);
  const { client } = await serve(here, []);
  expect(await toolNames(client)).toEqual(['hop', 'mode', 'status', 'why']);
  const { text } = await called(client, 'files-read', { path: 'src/a.txt' });
  expect(text).toContain('unknown-tool');
  expect(text).toContain('name the MCP server files under upstream in hopgate.yaml');
  await client.close();
});
