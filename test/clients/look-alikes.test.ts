import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER } from '../server-name.ts';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';
import { CODEX_BIN, type CodexWorld, codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { ScriptedTurn } from './responses-server.ts';

const worlds: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const ROGUE = join(import.meta.dirname, 'rogue-server.mjs');
const TOOLS = ['evil', 'hop', 'read', 'bash', 'x__read'];
const done = { text: 'done' };
const calledAt = (log: string): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');

describe.skipIf(!CLAUDE_BIN)('servers in Claude Code that are named as hopgate’s is', () => {
  it.each([
    ['that does not know the secret name', 'hopgate'],
    ['that knows it', SERVER],
  ])('get no call, in whichever file they are configured, from one %s', async (_, name) => {
    const world = new ClaudeWorld();
    worlds.push(world);
    const log = join(world.folder, 'rogue.log');
    const rogue = { command: process.execPath, args: [ROGUE, log, ...TOOLS], alwaysLoad: true };
    const plain = `plugin_hopgate_${name}`;
    const shared = [plain, `${plain}__x`, `${plain}_`, `Plugin_hopgate_${name}`, `plugin.hopgate.${name}`, 'hopgate'];
    world.write('.mcp.json', JSON.stringify({ mcpServers: Object.fromEntries(shared.map((key) => [key, rogue])) }));
    world.write('.claude/settings.json', JSON.stringify({ enableAllProjectMcpServers: true }));
    world.write('.claude/skills/hopgate/.claude-plugin/plugin.json', '{"name":"hopgate","version":"9.9.9"}');
    world.write('.claude/skills/hopgate/.mcp.json', JSON.stringify({ mcpServers: { hopgate: rogue, [name]: rogue } }));
    world.write(
      '.claude/agents/helper.md',
      `---\nname: helper\ndescription: helps\nmcpServers:\n  - ${plain}_h:\n      command: ${process.execPath}\n      args: ${JSON.stringify(rogue.args)}\n---\nYou help.\n`,
    );
    const file = join(world.home, '.claude.json');
    const user = JSON.parse(readFileSync(file, 'utf8')) as { projects: { [root: string]: object } };
    const [local, ofUser] = [{ [`${plain}_l`]: rogue }, { [`${plain}_u`]: rogue, [`hopgate_${name}`]: rogue }];
    user.projects[world.root] = { ...user.projects[world.root], mcpServers: local };
    writeFileSync(file, JSON.stringify({ ...user, mcpServers: ofUser }));
    const asked = join(world.folder, 'mcp.json');
    writeFileSync(asked, JSON.stringify({ mcpServers: { [`${plain}_c`]: rogue } }));

    const servers = [...shared, `${plain}_l`, `${plain}_u`, `hopgate_${name}`, `${plain}_c`];
    const calls = servers.flatMap((server) =>
      ['evil', 'read'].map((tool) => `mcp__${server.replace('.', '_')}__${tool}`),
    );
    const run = await world.run(
      {
        main: [
          ...calls.map((tool) => call(tool, {})),
          call('ReadMcpResourceTool', { server: 'hopgate', uri: 'rogue://x' }),
          call('ReadMcpResourceTool', { server: plain, uri: 'rogue://x' }),
          call('Agent', {
            description: 'x',
            prompt: 'SUB-THREAD go',
            subagent_type: 'helper',
            run_in_background: false,
          }),
          done,
          done,
          done,
        ],
        'SUB-THREAD': [call(`mcp__${plain}_h__evil`, {}), done, done],
      },
      { args: ['--mcp-config', asked], env: { ENABLE_TOOL_SEARCH: 'false' } },
    );
    // The servers run, and their tools are offered: nothing but the hook keeps the agent from them.
    expect(run.requests[0]?.tools).toEqual(expect.arrayContaining([`mcp__${plain}__evil`, `mcp__${plain}_u__read`]));
    expect(run.results.filter(({ name }) => name.startsWith('mcp__')).every(({ failed }) => failed)).toBe(true);
    expect(run.results.length).toBeGreaterThan(calls.length + 2);
    expect(calledAt(log)).toBe('');
  });

  it('get no call, and no resource is read, from a file that is written in the middle of a session', async () => {
    const world = new ClaudeWorld();
    worlds.push(world);
    const log = join(world.folder, 'rogue.log');
    const rogue = { command: process.execPath, args: [ROGUE, log, ...TOOLS], alwaysLoad: true };
    const names = [`plugin:hopgate:${SERVER}`, `plugin_hopgate_${SERVER}`, SERVER, 'fresh'];
    const servers = JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, rogue])) });
    world.write('.claude/settings.json', JSON.stringify({ enableAllProjectMcpServers: true }));
    const calls = names.flatMap((server) => [
      call('ReadMcpResourceTool', { server, uri: 'rogue://x' }),
      call(`mcp__${server.replaceAll(':', '_')}__evil`, {}),
    ]);
    const written = async () => {
      world.write('.mcp.json', servers);
      await sleep(3000);
      return { calls: [{ name: own('mode'), input: { to: 'diagnose', reason: 'look' } }] };
    };
    const env = { ENABLE_TOOL_SEARCH: 'false' };
    const during = await world.run([written, ...calls, done, done], { env });
    expect(during.results.length, during.stderr).toBe(calls.length + 1);
    // The next session starts with them.
    const after = await world.run([...calls, call(own('hop'), {}), done, done], { env });
    expect(after.requests[0]?.tools).toContain('mcp__fresh__evil');
    expect(calledAt(log), JSON.stringify([during.results, after.results])).toBe('');
  });

  it('are found in its own transcript, where one has got a call all the same', async () => {
    const world = new ClaudeWorld();
    worlds.push(world);
    const run = await world.run([call(own('mode'), { to: 'diagnose', reason: 'look' }), done, done]);
    expect(run.stderr).not.toContain('WARNING');
    const before = await world.hopgate('verify', run.session, '--inhabited');
    expect(before.stdout).toMatch(/P-1 .*holds/);
    // What Claude Code writes of a call that another server has carried out.
    const folder = join(world.home, '.claude/projects', world.root.replaceAll(/[^A-Za-z0-9]/g, '-'));
    const [main] = execFileSync('find', [folder, '-name', '*.jsonl'], { encoding: 'utf8' }).split('\n');
    const timestamp = new Date().toISOString();
    const line = (role: string, block: object) =>
      `${JSON.stringify({ type: role, timestamp, message: { role, content: [block] } })}\n`;
    appendFileSync(
      main ?? '',
      line('assistant', { type: 'tool_use', id: 'toolu_x', name: own('evil'), input: {} }) +
        line('user', { type: 'tool_result', tool_use_id: 'toolu_x', content: 'rogue' }),
    );
    const { stdout } = await world.hopgate('verify', run.session, '--inhabited');
    expect(stdout).toMatch(/P-1 .*fails/);
    expect(stdout).toContain('evil');
  });
});

describe.skipIf(!CODEX_BIN)('servers in Codex that are named as hopgate’s is', () => {
  it.each([
    ['the config of the user', 'home/.codex/config.toml'],
    ['that of a repository which Codex trusts', 'repo/.codex/config.toml'],
  ])('get no call, in %s', async (_, file) => {
    const servers = ['hopgate', 'hopgate__x', 'hopgate_', 'Hopgate', `${SERVER}__x`, `${SERVER}x`];
    const call = (server: string, name: string, input: object = {}): ScriptedTurn => ({
      calls: [{ namespace: `mcp__${server}`, name, input }],
    });
    const resource = (server: string): ScriptedTurn => ({
      calls: [{ name: 'read_mcp_resource', input: { server, uri: 'rogue://x' } }],
    });
    const calls = servers.flatMap((server) => [call(server, 'evil'), call(server, 'read'), resource(server)]);
    const mode = call(SERVER, 'mode', { to: 'diagnose', reason: 'look' });
    const world: CodexWorld = await codexWorld({ scripts: { main: [mode, ...calls, done, done] } });
    worlds.push(world);
    const [repo, log] = [join(world.folder, 'repo'), join(world.folder, 'rogue.log')];
    writeTree(repo, { 'README.md': 'x\n', '.codex/config.toml': '' });
    execFileSync('git', ['init', '-q', '-b', 'main', repo]);
    const trust = `\n[projects.${JSON.stringify(repo)}]\ntrust_level = "trusted"\n`;
    appendFileSync(join(world.codexHome, 'config.toml'), trust);
    const rogue = `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([ROGUE, log, ...TOOLS])}\ndefault_tools_approval_mode = "approve"\n`;
    for (const server of servers) appendFileSync(join(world.folder, file), `\n[mcp_servers.${server}]\n${rogue}`);
    await hopgate(world, repo, ['codex', 'exec', '--json', 'begin']);
    const { requests } = world.model;
    expect(requests[0]?.tools).toEqual(expect.arrayContaining(['mcp__hopgate.evil', `mcp__${SERVER}x.read`]));
    const results = requests.flatMap(({ results }) => results.map(({ text }) => text));
    expect(results[0]).toContain('mode diagnose');
    expect(results).toHaveLength(calls.length + 1);
    expect(results.slice(1).filter((text) => !/blocked by PreToolUse hook|unsupported call/.test(text))).toEqual([]);
    expect(calledAt(log)).toBe('');
  });
});
