import { afterEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';

const repository = {
  'src/a.js': 'one\n',
  'README.md': 'read me\n',
  'hopgate.yaml': 'specs: specs\n',
  'specs/peripherals/control.yaml': `id: control
purpose: Leads the work.
tools: [read]
scope: full-codebase
entry: [default, from-any]
exit: { over: work }
delegates: [{ to: work, within: own }]
`,
  'specs/peripherals/work.yaml': `id: work
purpose: Changes the code.
tools: [read, write, grep, bash]
scope: { paths: [src/] }
entry: [from-control]
exit: { back: control }
`,
  'specs/peripherals/ship.yaml': `id: ship
purpose: Ships the code.
tools: [read, bash-git]
scope: git-push-only
entry: [from-work]
exit: { back: control }
`,
};

let world: ClaudeWorld;
afterEach(() => world.close());

describe.skipIf(!CLAUDE_BIN)('a sub-agent that Claude Code starts from a narrow controller', () => {
  it('works in the wider peripheral that the controller delegates to, and all sessions verify', async () => {
    world = new ClaudeWorld(repository);
    expect((await world.hopgate('trust', '--yes')).code).toBe(0);
    const agent = (subagent_type: string, prompt: string) =>
      call('Agent', { description: 'the task', prompt, subagent_type, run_in_background: false });
    const write = (path: string) => call('Write', { file_path: world.path(path), content: 'sub\n' });
    const done = { text: 'done' };
    const run = await world.run({
      main: [
        write('src/main.js'),
        agent('ship', 'SHIP-MARK ship it'),
        agent('work', 'SUB-MARK do it'),
        agent('general-purpose', 'PLAIN-MARK do it'),
        done,
        done,
      ],
      'SUB-MARK': [
        write('src/sub.js'),
        write('README.new'),
        call(own('grep'), { pattern: 'one' }),
        call('Bash', { command: 'echo more >> src/sub.js', description: 'for the test' }),
        { text: 'sub done' },
      ],
      'PLAIN-MARK': [write('src/plain.js'), { text: 'plain done' }],
    });
    const seen = run.results.map(({ name, failed, text }) => `${name} ${failed}: ${text.slice(0, 400)}`).join('\n');
    expect(world.read('src/main.js'), seen).toBeNull();
    expect(world.read('src/sub.js'), seen).toBe('sub\nmore\n');
    expect([world.read('README.new'), world.read('src/plain.js')], seen).toEqual([null, null]);
    expect(seen).toContain('Start it in one of: work');
    expect(await world.evidence(run.session)).toContain('delegation');
    const verified = await world.hopgate('verify', '--json');
    expect(verified.code, verified.stdout).toBe(0);
    const events = await Promise.all((await world.sessions()).map((id) => world.evidence(id)));
    expect(events).toHaveLength(3);
    expect(events.flat()).toContain('step grep ok');
  });
});
