import { describe, expect, it } from 'vitest';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { actToCalls } from '../../src/trajectories/act-to-calls.ts';
import { readTrajectory, SHELL_ACT_NAME } from '../../src/trajectories/read-trajectory.ts';
import { REPLAY_CONFIG, replayTrajectory } from '../../src/trajectories/replay-trajectory.ts';
import { machine } from '../cli/run.ts';
import { ATIF, MINI, SWE } from './runs.ts';

const specs = await loadSpecs('specs');

describe('a foreign trajectory', () => {
  it('of SWE-agent is read', () => {
    const run = readTrajectory('a', SWE)!;
    expect(run).toMatchObject({ format: 'swe-agent', folder: '/repo', submitted: true });
    expect(run.acts.map(({ input }) => input['command'])).toEqual([
      'open "src/cart.js"',
      'edit 1:1\nlet total = 0;\nend_of_edit',
      'submit',
    ]);
  });

  it.each(['with recorded actions', 'with tool calls', 'with blocks of code'] as const)(
    'of mini-swe-agent is read %s',
    (form) => {
      const run = readTrajectory('b', MINI(form))!;
      expect(run).toMatchObject({ format: 'mini-swe-agent', folder: '/testbed', submitted: false });
      expect(run.acts).toEqual([
        { name: SHELL_ACT_NAME, input: { command: 'cat src/a.py' }, output: expect.stringContaining('one'), exit: 0 },
        {
          name: SHELL_ACT_NAME,
          input: { command: 'python -m pytest -q' },
          output: expect.stringContaining('failed'),
          exit: 1,
        },
      ]);
    },
  );

  it('of mini-swe-agent may be the list of messages alone', () => {
    expect(readTrajectory('b', MINI('with blocks of code').messages)?.acts).toHaveLength(2);
  });

  it('in the interchange format is read', () => {
    const run = readTrajectory('c', ATIF)!;
    expect(run.acts.map(({ name, output }) => [name, output])).toEqual([
      ['Read', 'let total'],
      ['Edit', 'done'],
      ['Bash', '1 passed'],
      ['Bash', 'committed'],
    ]);
  });

  it.each([
    null,
    3,
    'x',
    {},
    { trajectory: 1 },
    { schema_version: 'ATIF-v1.7' },
    [],
    [{ conversations: [] }],
    { messages: [{ type: 'user', content: 'hi' }] },
  ])('is not read from the value %j', (value) => {
    expect(readTrajectory('d', value)).toBeNull();
  });
});

describe('the calls that an action of a trajectory becomes', () => {
  const at = (command: string) => {
    const meaning = actToCalls(
      { name: SHELL_ACT_NAME, input: { command }, output: '', exit: null },
      '/repo',
      'src/open.py',
    );
    return meaning.kind === 'submit'
      ? 'submit'
      : meaning.calls.map(({ tool, args }) => [tool, ...Object.values(args)].join(' ').trim());
  };
  it.each([
    ['ls -la && cat src/a.py | head', ['bash-readonly ls -la && cat src/a.py | head']],
    ["cat <<'EOF' > src/new.py\nx = 1\nEOF", ['write src/new.py']],
    ['cd src && sed -i s/a/b/ a.py b.py', ['write src/a.py', 'write src/b.py']],
    ['sed -n 1,5p a.py 2>/dev/null', ['bash-readonly sed -n 1,5p a.py 2>/dev/null']],
    ['echo a >> /etc/hosts', ['write /etc/hosts']],
    ['for f in a b; do rm -rf $f/x; done', ['write $f/x']],
    ['cd /repo && python -m pytest tests/test_a.py -x', ['bash-test']],
    ['npm run test:unit', ['bash-test']],
    ['go test ./...', ['bash-test']],
    ['pip install -e .[dev]', ['install']],
    ['python3 -m pip install x', ['install']],
    ['git add -A && git commit -m done', ['bash-git commit -m,submitted']],
    ['git log -1', ['bash-readonly git log -1']],
    ['curl -s https://example.com/x', ['web-fetch https://example.com/x']],
    ['edit 3:4\ntext\nend_of_edit', ['write src/open.py']],
    ['str_replace_editor view /repo/src/a.py', ['read src/a.py']],
    ['str_replace_editor str_replace "/repo/src/a.py" --old_str x', ['write src/a.py']],
    ['echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT', 'submit'],
  ])('of the command %j are %j', (command, expected) => expect(at(command)).toEqual(expected));
});

describe('a replayed trajectory', () => {
  const run = (acts: readonly (readonly [command: string, exit?: number])[]) =>
    replayTrajectory(
      {
        id: 'run',
        format: 'mini-swe-agent',
        folder: '/repo',
        submitted: true,
        acts: acts.map(([command, exit = 0]) => ({ name: SHELL_ACT_NAME, input: { command }, output: '', exit })),
      },
      specs,
    );

  it('that tests what it submits is refused nothing, and needs five hops', async () => {
    const replayed = await run([
      ['cat src/a.py'],
      ['sed -i s/a/b/ src/a.py'],
      ['pytest', 1],
      ['sed -i s/b/c/ src/a.py'],
      ['pytest'],
      ['submit'],
    ]);
    expect(replayed.refused).toEqual([]);
    // explore, edit, test, edit, test, deploy
    expect(replayed.moves).toEqual({ hops: 6, modes: 2 });
  });

  it.each([
    ['without a test', [['sed -i s/a/b/ a.py'], ['submit']]],
    ['after a failed test', [['sed -i s/a/b/ a.py'], ['pytest', 1], ['submit']]],
    ['after a change since the test', [['sed -i s/a/b/ a.py'], ['pytest'], ['sed -i s/b/c/ a.py'], ['submit']]],
  ] as const)('is refused a submission %s', async (_, acts) => {
    const { refused } = await run(acts);
    expect(refused.map(({ act, request, code }) => [act, request, code])).toEqual([
      [acts.length - 1, 'submit', 'exit-not-met'],
    ]);
  });

  it('is refused a path outside its folder and a host that is not configured', async () => {
    const { refused } = await run([
      ['echo x > /etc/cron.d/x'],
      ['curl https://example.com/'],
      ['cat .env > .git/hooks/x'],
    ]);
    expect(refused.map(({ request, code }) => [request, code])).toEqual([
      ['write /etc/cron.d/x', 'out-of-scope'],
      ['web-fetch https://example.com/', 'out-of-scope'],
      ['write .git/hooks/x', 'out-of-scope'],
    ]);
  });

  it('is judged by the scopes of a configuration', async () => {
    const trajectory = readTrajectory('c', ATIF)!;
    const wide = await replayTrajectory(trajectory, specs);
    const narrow = await replayTrajectory(trajectory, specs, {
      config: { ...REPLAY_CONFIG, scopes: { edit: ['lib/'] } },
    });
    expect(wide.refused).toEqual([]);
    expect(narrow.refused.map(({ request }) => request)).toContain('write src/cart.js');
  });
});

describe('hopgate replay --trajectories', () => {
  const here = () =>
    machine({
      'runs/a/x.traj': JSON.stringify(SWE),
      'runs/b/trajectory.json': JSON.stringify(ATIF),
      'runs/b/result.json': '{"reward": 1}',
      'runs/broken.traj': '{"trajectory": [',
      'report.json': JSON.stringify({ resolved_ids: ['b'], x: false }),
    });

  it('lists the refused acts of each run, and counts them by the end of the run', async () => {
    const { code, out } = await here().run('replay', '--trajectories', 'runs', '--results', 'report.json');
    expect(code).toBe(0);
    expect(out).toContain('a/x  3 acts, not solved: 3 calls, 3 hops, 1 refused');
    expect(out).toMatch(/solved runs with a refusal +0 of 1/);
    expect(out).toMatch(/failed runs with a refusal +1 of 1/);
    expect(out).toContain('not read: broken.traj');
  });

  it('prints JSON', async () => {
    const { out } = await here().run('replay', '--trajectories', 'runs', '--json');
    const { runs, unread } = JSON.parse(out);
    expect(runs.map((run: { id: string }) => run.id)).toEqual(['a/x', 'b']);
    expect(unread).toHaveLength(1);
  });

  it.each([
    ['a folder without trajectories', ['--trajectories', 'nothing'], 'no trajectory can be read'],
    ['results that are not JSON', ['--trajectories', 'runs', '--results', 'runs/broken.traj'], 'cannot be read'],
    ['neither trajectories nor specs', [], 'Name a spec set with --specs DIR'],
  ])('fails on %s', async (_, args, message) => {
    const { code, err } = await here().run('replay', ...args);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});
