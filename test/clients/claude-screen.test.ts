import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClaudeScreen } from './claude-screen.ts';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';
import type { Step } from './messages-server.ts';
import { hasTmux } from './screen.ts';

let world: ClaudeWorld;
let screen: ClaudeScreen | null = null;
beforeEach(() => {
  world = new ClaudeWorld();
});
afterEach(async () => {
  await screen?.close();
  screen = null;
  await world.close();
});

const bash = (command: string) => call('Bash', { command, description: 'for the test' });
const toEdit = call(own('hop'), {
  to: 'edit',
  exit: 'hop-edit',
  reason: 'I change a',
  mode: 'execute',
  'exit-criteria': 'a is two',
});
const start = (script: readonly Step[], ...args: readonly string[]) => ClaudeScreen.start(world, script, args);

describe.skipIf(!CLAUDE_BIN || !hasTmux)('Claude Code on a terminal', () => {
  it('shows no false warning after Esc, a prompt typed early, a No, an ask rule, or Ctrl-C during a call', async () => {
    world.write('.claude/settings.json', JSON.stringify({ permissions: { ask: ['Bash(ls:*)'] } }));
    const write = call('Write', { file_path: world.path('src/b.js'), content: 'b\n' });
    const script = [
      ...[toEdit, bash('sleep 20'), { text: 'after-esc' }],
      ...[bash('sleep 4; echo slept'), { text: 'after-ahead' }],
      ...[write, { text: 'after-no' }, bash('ls src'), { text: 'after-ask' }, bash('sleep 20')],
    ];
    screen = await start(script, '--approve', 'execute', '--permission-mode', 'default');
    await screen.type('one');
    await screen.shows(/\$ sleep 20[\s\S]*esc to interrupt/);
    await screen.press('Escape');
    await screen.shows(/Interrupted/);
    await screen.press('C-u');
    await screen.type('two');
    await screen.shows(/after-esc/);
    await screen.type('three');
    await screen.shows(/\$ sleep 4[\s\S]*esc to interrupt/);
    await screen.type('typed ahead');
    await screen.shows(/after-ahead/);
    await screen.type('four');
    await screen.shows(/Do you want to (?:create|make)/);
    await screen.press('Escape'); // the person's No
    await screen.press('C-u');
    await screen.type('five');
    await screen.shows(/after-no/);
    await screen.type('six');
    await screen.shows(/Do you want to proceed/);
    await screen.press('Escape'); // the person's No
    await screen.press('C-u');
    await screen.type('seven');
    await screen.shows(/after-ask/);
    await screen.type('eight');
    await screen.shows(/after-ask[\s\S]*\$ sleep 20[\s\S]*esc to interrupt/);
    const text = await screen.quit();
    expect(text).toContain('EXIT=0');
    expect(text).not.toMatch(/WARNING|no (?:SessionStart )?hook (?:reported|was answered)|hooks stopped answering/);
    expect(world.read('src/b.js')).toBeNull();
    const { code, stdout } = await world.hopgate('verify', '--inhabited');
    expect(stdout).toContain('clean so far');
    expect(stdout).not.toMatch(/P-[12346] .*fails/);
    expect(code, stdout).toBe(0);
  });

  it('shows the status of the session, and behind it the user’s own status line', async () => {
    const own = { type: 'command', command: `printf "it's %s" mine`, padding: 0 };
    mkdirSync(join(world.home, '.claude'), { recursive: true });
    writeFileSync(join(world.home, '.claude/settings.json'), JSON.stringify({ statusLine: own }));
    screen = await start([toEdit, { text: 'in-edit' }], '--approve', 'execute', '--permission-mode', 'acceptEdits');
    await screen.shows(/explore · DISCUSS \| it's mine/);
    await screen.type('go');
    await screen.shows(/in-edit[\s\S]*edit · EXECUTE \| it's mine/);
  });

  it('uses approvals given in advance, and asks for the others with a form', async () => {
    const script = [toEdit, call('Read', { file_path: world.path('src/a.js') }), { text: 'in-edit' }, { text: 'end' }];
    screen = await start(script, '--approve', 'execute,deploy', '--permission-mode', 'acceptEdits');
    await screen.type('go');
    await screen.shows(/in-edit/);
    expect(screen.text).not.toContain('requests your input');
    expect(await screen.quit()).toContain('in edit, mode execute');
    await screen.close();
    screen = await start([toEdit, { text: 'in-edit' }, { text: 'end' }], '--permission-mode', 'acceptEdits');
    await screen.type('go');
    await screen.shows(/requests your input[\s\S]*mode diagnose → execute/);
    await screen.press('Space', 'Down');
    await screen.type('3x');
    await screen.press('Enter');
    await screen.shows(/in-edit/);
    expect((await world.hopgate('grants')).stdout).toMatch(/mode diagnose → execute.*3 times/);
    expect(await screen.quit()).toContain('in edit, mode execute');
  });
});
