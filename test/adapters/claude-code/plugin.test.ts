import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderHookReply } from '../../../src/adapters/claude-code/hook-reply.ts';
import { makePlugin } from '../../../src/adapters/claude-code/plugin/plugin-files.ts';
import { folder } from '../../cli/run.ts';
import { SERVER } from '../../server-name.ts';

const plugin = (hookCommand: string) =>
  makePlugin({
    version: '1.2.3',
    hookCommand,
    server: SERVER,
    mcp: { command: '/bin/node', args: ['main.js', 'mcp', '--attach'] },
  });

interface Hooks {
  readonly hooks: {
    readonly [event: string]: readonly { readonly matcher?: string; readonly hooks: readonly object[] }[];
  };
}

describe('the plugin for Claude Code', () => {
  it('registers hopgate for every important event of every tool, and blocks the call if the hook fails', () => {
    const { hooks } = JSON.parse(plugin('x')['hooks/hooks.json'] ?? '') as Hooks;
    const blocks = Object.entries(hooks).map(([event, groups]) => {
      expect(groups).toHaveLength(1);
      expect(groups[0]).not.toHaveProperty('matcher');
      const hook = groups[0]?.hooks[0] as { onFailure?: string; timeout: number; command: string };
      expect(hook.timeout).toBe(30);
      expect(hook.command).toBe(`/bin/sh "\${CLAUDE_PLUGIN_ROOT}/hooks/ask.sh" ${event}`);
      return `${event} ${hook.onFailure ?? 'continues'}`;
    });
    expect(blocks).toEqual([
      'SessionStart block',
      'UserPromptSubmit block',
      'PreToolUse block',
      'PostToolUse block',
      'PostToolUseFailure block',
      'SubagentStart block',
      'SubagentStop continues',
      'Stop continues',
      'SessionEnd continues',
      'ConfigChange block',
    ]);
  });

  it('starts the MCP server that joins the hooks’ session, and keeps its tools out of the tool search', () => {
    expect(JSON.parse(plugin('x')['.mcp.json'] ?? '')).toEqual({
      mcpServers: { [SERVER]: { command: '/bin/node', args: ['main.js', 'mcp', '--attach'], alwaysLoad: true } },
    });
  });

  it('calls hopgate’s tools by Claude Code’s names in its slash commands', () => {
    for (const name of ['hop', 'mode', 'par', 'peripheral'])
      expect(plugin('x')[`commands/${name}.md`]).toContain(`mcp__plugin_hopgate_${SERVER}__`);
  });
});

/** Runs the plugin's script with a double of the program that answers hooks. */
function ask(event: string, answer: string) {
  const dir = folder();
  const answerer = join(dir, 'answer.sh');
  writeFileSync(answerer, answer);
  const script = join(dir, 'ask.sh');
  writeFileSync(script, plugin(`sh '${answerer}'`)['hooks/ask.sh'] ?? '');
  const { status, stdout, stderr } = spawnSync('sh', [script, event], { encoding: 'utf8', input: '{"a":1}' });
  return { status, stdout, stderr };
}

const printing = (text: string): string => `cat > /dev/null; printf '%s' '${text}'`;
const allow = renderHookReply({ kind: 'allow' }, null).stdout;

describe('the script that starts the hook', () => {
  it.each([
    ['an allow', allow],
    ['an allow with a remark', renderHookReply({ kind: 'allow' }, 'it was silent').stdout],
    ['a rewritten call', renderHookReply({ kind: 'allow', input: { command: 'x "y" }' } }, null).stdout],
  ])('passes on %s unchanged', (_, output) => {
    expect(ask('PreToolUse', printing(output))).toEqual({ status: 0, stdout: output, stderr: '' });
  });

  it('passes on a refusal with its reason', () => {
    expect(ask('PreToolUse', 'echo no >&2; exit 2')).toEqual({ status: 2, stdout: '', stderr: 'no\n' });
  });

  it('passes the input to the hook', () => {
    expect(ask('PostToolUse', 'cat').stdout).toBe('{"a":1}');
  });

  it.each([
    ['silence', 'exit 0'],
    ['text', 'echo all is well'],
    ['an answer without its last character', printing(allow.slice(0, -1))],
    ['an answer that ends early', printing(`${allow.slice(0, allow.indexOf(',"continue"'))}}`)],
    ['the answer of another event', printing('{"hookSpecificOutput":{"hookEventName":"SessionStart"}}')],
    ['an allow behind something else', printing(`x${allow}`)],
    ['a crash', 'exit 1'],
    ['a crash after an allow', `${printing(allow)}; exit 1`],
    ['a signal', 'kill -9 $$'],
    ['a program that is not there', 'exec /nowhere/at-all'],
  ])('refuses %s with a reason', (_, answer) => {
    const result = ask('PreToolUse', answer);
    expect(result.status).toBe(2);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('hopgate could not decide');
  });

  it.each(['UserPromptSubmit', 'PostToolUse', 'SessionStart', 'ConfigChange'])(
    'refuses at %s if the hook crashes',
    (event) => {
      expect(ask(event, 'exit 1').status).toBe(2);
    },
  );

  it.each(['Stop', 'SubagentStop', 'SessionEnd'])(
    'does not block the agent at %s if the hook fails, and reports the failure',
    (event) => {
      for (const answer of ['exit 1', 'exit 2', 'exec /nowhere/at-all']) {
        const result = ask(event, answer);
        expect(result.status).toBe(0);
        expect(JSON.parse(result.stdout).systemMessage).toContain(event);
      }
    },
  );
});
