import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, call, ClaudeWorld, own } from './claude-world.ts';

let world: ClaudeWorld;
beforeEach(() => {
  world = new ClaudeWorld();
});
afterEach(() => world.close());

const mode = (to: string) => call(own('mode'), { to, reason: 'for the test', 'exit-criteria': 'it is tested' });
const hop = (to: string, exit: string) => call(own('hop'), { to, exit, reason: 'for the test' });
const done = { text: 'done' };

describe.skipIf(!CLAUDE_BIN)('Claude Code in hopgate', () => {
  it('does not run a denied tool, and the model reads what to do instead', async () => {
    const run = await world.run([call('Write', { file_path: world.path('new.txt'), content: 'x' }), done]);
    expect(run.code, run.stderr + run.stdout).toBe(0);
    expect(world.read('new.txt')).toBeNull();
    expect(run.results[0]).toMatchObject({ name: 'Write', failed: true });
    expect(run.results[0]?.text).toContain('What to do:');
    expect(run.results[0]?.text).toContain(own('hop'));
    expect(await world.evidence(run.session)).toContain('denial tool-not-allowed');
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
  });

  it('changes what may run with a hop, in the very next call', async () => {
    const write = call('Write', { file_path: world.path('src/new.js'), content: 'new\n' });
    const run = await world.run(
      [
        mode('diagnose'),
        call('Read', { file_path: world.path('src/a.js') }),
        write,
        hop('edit', 'hop-edit'),
        mode('execute'),
        write,
        done,
      ],
      { own: ['--approve', 'execute'] },
    );
    expect(run.results.map(({ name, failed }) => `${name} ${failed ? 'refused' : 'ran'}`)).toEqual([
      `${own('mode')} ran`,
      'Read ran',
      'Write refused',
      `${own('hop')} ran`,
      `${own('mode')} ran`,
      'Write ran',
    ]);
    expect(world.read('src/new.js')).toBe('new\n');
    expect(await world.evidence(run.session)).toContain('outcome write ok, create src/new.js');
  });
});
