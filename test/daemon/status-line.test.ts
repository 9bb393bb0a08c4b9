import { describe, expect, it } from 'vitest';
import { answerStatusLine } from '../../src/daemon/answer-status-line.ts';
import { installLauncher } from '../../src/daemon/hook/launcher.ts';
import { serveDaemon } from '../../src/daemon/serve-daemon.ts';
import { SessionHost } from '../../src/daemon/session-host.ts';
import { isDeep, sample } from '../depth.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { runProgram } from './processes.ts';

const plain = { NO_COLOR: '1' };

async function ask(world: World, args: readonly string[], input = '', env: { [name: string]: string } = {}) {
  const { file } = installLauncher(world.env);
  return runProgram(file, ['line', ...args], { ...world.env, ...plain, ...env }, input);
}

/** A session in explore with the conversation `c1`, that stays open. */
async function explored(world: World): Promise<string> {
  const host = new SessionHost({ env: world.env, keepOpenMs: 60_000 });
  world.later(() => host.close());
  const record = await host.hookContext(world.nobody).conversation(world.conversation());
  return record.sessionId;
}

describe.each(sample(['compiled', 'node'] as const, 2))('a status line of the %s client', (kind) => {
  it.each(sample(['without', 'with'], 2))(
    'shows the session of the repository or the conversation, %s a daemon',
    async (way) => {
      const made = makeWorld();
      const world: World = { ...made, env: { ...made.env, ...(kind === 'node' ? { HOPGATE_HOOK_CLIENT: kind } : {}) } };
      if (way === 'with') {
        const daemon = await serveDaemon({ env: world.env });
        world.later(() => daemon?.stop());
      }
      const none = await ask(world, [world.root]);
      expect(none).toMatchObject({ exit: 0, stdout: 'no session\n', stderr: '' });
      const session = await explored(world);
      const shown = 'explore · DISCUSS\n';
      const event = { session_id: 'c1', cwd: '/', workspace: { project_dir: world.root } };
      const pinned = { HOPGATE_SESSION: session, HOPGATE_ROOT: world.root };
      const asked = [
        [[], JSON.stringify(event), {}, shown],
        [[world.root], '', {}, shown],
        [[], JSON.stringify({ ...event, session_id: 'other' }), {}, 'no session\n'],
        [[], '{}', pinned, shown],
      ] as const;
      for (const [args, input, env, line] of sample(asked, 4))
        expect((await ask(world, args, input, env)).stdout, `${args} ${input}`).toBe(line);
      expect(await ask(world, [], '{broken')).toMatchObject({ exit: 1, stdout: '' });
    },
  );
});

describe('a joined status line', () => {
  it.runIf(isDeep)('gives the user’s own command the same input, and prints its lines byte for byte', async () => {
    const world = makeWorld();
    const own = `read -r event; printf '%s\\n' "it's" "$event" '\\n $HOME'`;
    const { stdout } = await ask(world, ['', own], JSON.stringify({ cwd: world.root }));
    expect(stdout).toBe(`no session | it's\n${JSON.stringify({ cwd: world.root })}\n\\n $HOME\n`);
  });

  it('is the user’s own alone if hopgate cannot answer', async () => {
    const world = makeWorld();
    expect((await ask(world, ['', 'echo mine'], '{broken')).stdout).toBe('mine\n');
  });
});

it('a status line is empty if its input, its folder or the evidence cannot be read', async () => {
  const asked = { folder: '', input: '', env: {}, cwd: '/nowhere/at/all' };
  expect(await answerStatusLine(asked, async () => null)).toMatchObject({ exit: 1, stdout: '' });
  const failing = answerStatusLine({ ...asked, cwd: '/' }, () => Promise.reject(new Error('altered')));
  expect(await failing).toEqual({ exit: 1, stdout: '', stderr: 'hopgate: altered\n' });
});
