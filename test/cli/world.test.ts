import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from '../../src/base/process.ts';
import { isDeep } from '../depth.ts';
import { machine } from './run.ts';

it.runIf(isDeep)(
  'scorecard judges an agent’s session over each connection, and a broken session for each demand',
  async () => {
    const { root, run } = machine();
    const { out, code } = await run('scorecard', '--save', 'transcripts', '--json');
    const { lives, faults } = JSON.parse(out);
    const verdicts = lives.map(
      ({ name, won, judged }: { name: string; won: boolean; judged: { verdict: string }[] }) => [
        name,
        won,
        [...new Set(judged.map(({ verdict }) => verdict))],
      ],
    );
    expect(verdicts).toEqual([
      ['in process', true, ['holds']],
      ['world: HTTP', true, ['holds']],
      ['world: OpenEnv', true, ['holds']],
      ['MCP over HTTP', true, ['holds']],
      ['MCP over stdio', true, ['holds']],
      ['REST', true, ['holds']],
      ['command line', true, ['holds']],
    ]);
    const demands = ['P-1', 'P-2', 'P-3', 'P-4', 'P-5', 'P-6'];
    type Fault = { id: string; over: string; verdict: string };
    expect(faults.map(({ id, over, verdict }: Fault) => [over, id, verdict])).toEqual(
      verdicts.flatMap(([name]: [string]) => demands.map((id) => [name, id, 'fails'])),
    );
    expect(readdirSync(join(root, 'transcripts'))).toHaveLength(7 * 7);
    expect(code).toBe(0);
  },
);

it.runIf(isDeep)(
  'the agent of world --story gets stuck, asks, comes back to a world that was restarted, and wins',
  async () => {
    const { root, run } = machine();
    const { out, code } = await run('world', '--story', '--root', root);
    expect(out).toMatch(/hopgate watch s-\S+ --root/);
    if (findProgram('emacs', process.env['PATH']))
      expect(out).toContain("(Joe's Emacs) ding! [bell from agent:claude, assert] Which one is right");
    expect(out).toMatch(
      /now in alfworld[\s\S]*> whistle agent:codex[\s\S]*\[Whistle response from agent:codex\] "Open it[\s\S]*> bell joe[\s\S]*> hop-out "stuck[\s\S]*now in chat[\s\S]*\[bell \d+ from person joe, answer, [^\n]*goes into[\s\S]*now in alfworld[\s\S]*\[hopgate\] The world had lost your game\. The game was started again[\s\S]*Task completed![\s\S]*now in reflect[\s\S]*now in chat/,
    );
    expect(out).toMatch(
      /won true, score 1, world-steps \d+, steps \d+, bells 1, whistles 1\n\d+ alfworld-step, 1 bell, 1 whistle, 2 hop-out/,
    );
    expect(out).toContain('The audit found no violation.');
    expect(code).toBe(0);
  },
);

it('world exports a house, and plays the exported house', async () => {
  const { run } = machine();
  const walkthrough = (await run('world', '--seed', '7', '--walkthrough')).out;
  await run('world', '--seed', '7', '--export', 'house');
  expect((await run('world', '--game', 'house/game.tw-pddl', '--walkthrough')).out).toBe(walkthrough);
});

it.each([
  [['world', '--game', '/etc/hostname'], 'there is no (define (problem …))'],
  [['world', '--task', 'sleep'], 'Allowed choices are'],
  [['world', '--port', '70000'], 'a whole number from 0 to 65535'],
  [['world', '--story', '--port', '0'], "'--story' cannot be used with option '--port <n>'"],
  [['world', '--export', 'house', '--host', '::1'], "cannot be used with option '--host <address>'"],
  [['world', '--root', '.'], 'only --story uses --root'],
  [['agency', 'check', '--agency', 'nowhere'], 'there is no folder /'],
  [['serve', '--port', '0', '--agency', 'nowhere'], 'there is no folder /'],
])('the command line %j is refused', async (args, message) => {
  const { err, code } = await machine().run(...args);
  expect([err, code]).toEqual([expect.stringContaining(message), 2]);
});

it('world names an address at which it cannot listen, and the option to change', async () => {
  const { err, code } = await machine().run('world', '--host', '203.0.113.1');
  expect({ err, code }).toEqual({
    err: expect.stringMatching(
      /cannot listen on 203\.0\.113\.1:\d+: this machine has no address .*\n {2}Choose another --host/,
    ),
    code: 1,
  });
});
