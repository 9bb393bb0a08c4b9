import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { done, inspect, MAIN, repository, toolNames } from './mcp.ts';
import type { Machine } from './run.ts';

const PAGE = readFileSync('docs/recipes/mcp-server.md', 'utf8');
const block = (lang: string): string => new RegExp(`^\`\`\`${lang}\n([\\s\\S]*?)^\`\`\``, 'm').exec(PAGE)?.[1] ?? '';

interface Config {
  readonly mcpServers: { readonly hopgate: { readonly command: string; readonly args: readonly string[] } };
}

/** The repository of a reader who has installed hopgate in it. */
async function reader(): Promise<Machine> {
  const here = await repository();
  const bin = join(here.root, 'node_modules/.bin/hopgate');
  mkdirSync(dirname(bin), { recursive: true });
  writeFileSync(bin, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
  chmodSync(bin, 0o755);
  return here;
}

const of = ({ root }: Machine, text: string): string => text.replaceAll('/home/me/mine', root);

it.runIf(isDeep)('the JSON configuration in docs/recipes/mcp-server.md starts a working server', async () => {
  const here = await reader();
  const { command, args } = (JSON.parse(of(here, block('json'))) as Config).mcpServers.hopgate;
  const env = Object.fromEntries(Object.entries(here.env).map(([name, value]) => [name, value ?? '']));
  const transport = new StdioClientTransport({ command, args: [...args], env, cwd: here.root, stderr: 'ignore' });
  const client = new Client({ name: 'a client', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  expect(await toolNames(client)).toContain('hop');
  await done(client, 'mode', { to: 'diagnose' });
  expect(await done(client, 'status')).toContain('explore');
});

it.runIf(isDeep)(
  'the MCP Inspector reads that configuration with the options in docs/recipes/mcp-server.md',
  async () => {
    const here = await reader();
    const file = join(here.root, '.mcp.json');
    const config = JSON.parse(of(here, block('json'))) as Config;
    const { hopgate } = config.mcpServers;
    const cwd = here.root;
    writeFileSync(file, JSON.stringify({ mcpServers: { hopgate: { ...hopgate, cwd, env: here.env } } }));
    const [, options = ''] = /--cli --config \.mcp\.json (.*)/.exec(PAGE) ?? [];
    const { code, out, err } = await inspect(here, ['--config', file, ...options.split(' ')]);
    expect(code, err).toBe(0);
    expect(out).toContain('"hop"');
  },
);

it('the TOML for Codex in docs/recipes/mcp-server.md is equivalent to the JSON configuration', () => {
  const toml = block('toml');
  const [, command] = /^command = "(.*)"$/m.exec(toml) ?? [];
  const args = JSON.parse(/^args = (.*)$/m.exec(toml)?.[1] ?? '[]') as string[];
  const { hopgate } = (JSON.parse(block('json')) as Config).mcpServers;
  expect({ command, args: args.slice(0, -1) }).toEqual({ command: hopgate.command, args: hopgate.args.slice(0, -1) });
});
