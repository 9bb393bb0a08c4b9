import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { hopgateCommandLine } from '../../src/cli/client/client-program.ts';
import { carryOutSessionRequest } from '../../src/daemon/session-request.ts';
import { isDeep, sample } from '../depth.ts';
import { midGame } from './mid-game.ts';
import type { Served } from './serve-world.ts';

/** Runs a command of hopgate.el in Emacs, once a message has arrived. */
async function emacs({ root, env }: Served, command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-emacs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const words = hopgateCommandLine()
    .map((word) => JSON.stringify(word))
    .join(' ');
  writeFileSync(
    join(folder, 'ask.el'),
    `(load ${JSON.stringify(resolve('src/adapters/emacs/hopgate.el'))} nil t)
(setq hopgate-command (list ${words}))
(defvar said nil)
(advice-add 'hopgate--say :before (lambda (text) (setq said text)))
(defun wait (done) (let ((end (+ (float-time) 20))) (while (and (< (float-time) end) (not (funcall done))) (accept-process-output nil 0.05))))
(hopgate-start ${JSON.stringify(root)})
(wait (lambda () hopgate-messages))
${command}
(wait (lambda () said))
(hopgate-stop)
(unless said (kill-emacs 1))
`,
  );
  const started = { env: { ...process.env, ...env, HOPGATE_DAEMON: 'off' }, timeout: 60_000 };
  await promisify(execFile)('emacs', ['-Q', '--batch', '-l', join(folder, 'ask.el')], started);
}

const hasEmacs = spawnSync('emacs', ['--version']).status === 0;

const peripheral = async ({ ask }: Served, id: string) => (await ask(`GET /v1/sessions/${id}`)).json.peripheral;

it('the operator moves an agent out of its game by a hop over HTTP, and the agent returns to the same game', async () => {
  const { served, id, post, play, restart } = await midGame();
  const asAgent = await post('hop', { to: 'chat', exit: 'user-request', reason: 'out', by: 'operator' });
  expect(asAgent.json).not.toMatchObject({ ok: true });
  const out = await post(
    'hop',
    { to: 'chat', exit: 'user-request', reason: 'I need you', by: 'operator' },
    served.operator,
  );
  expect(out.json).toMatchObject({ ok: true, from: 'alfworld', exit: 'user-request', fruit: { 'world-steps': 2 } });
  expect(await peripheral(served, id)).toBe('chat');
  expect(await play('look')).toMatchObject({ ok: false, denial: { code: 'tool-not-allowed' } });
  await restart();
  expect((await post('hop', { to: 'alfworld', reason: 'back' })).json).toMatchObject({ ok: true });
  const back = await play('inventory');
  expect(back.result).toMatchObject({ step: 3, observation: 'You are not carrying anything.' });
  expect(back.result.text).toContain('your 2 commands had the same answers');
});

it.runIf(isDeep).each(['hopgate hop', 'Emacs'])(
  'the operator moves an agent out of its game by %s, and the game is kept',
  async (by) => {
    if (by === 'Emacs' && !hasEmacs) return;
    const { served, id, post, play, hopgate, house } = await midGame();
    await post('step', { tool: 'bell', args: { to: 'person:operator', text: 'I am in the house.' } });
    const before = await house();
    if (by === 'Emacs') await emacs(served, '(hopgate-move "chat" "user-request" "I need you")');
    else {
      await expect(hopgate('hop', id, 'reflect', '--exit', 'no-such-exit')).rejects.toMatchObject({ code: 1 });
      const { stdout } = await hopgate('hop', id, 'chat', '--exit', 'user-request', '--reason', 'I need you');
      expect(stdout).toBe('builder is in chat now.\n');
    }
    expect(await peripheral(served, id)).toBe('chat');
    expect(await house()).toBe(before);
    const hop = (await served.ask(`GET /v1/sessions/${id}/evidence`)).text;
    expect(hop).toContain('I need you');
    expect((await post('hop', { to: 'alfworld', reason: 'back' })).json).toMatchObject({ ok: true });
    expect(await play('look')).toMatchObject({ ok: true, result: { step: 3 } });
  },
);

it('a hop by the operator needs the operator’s token', async () => {
  const { served, id } = await midGame();
  const hop = { op: 'hop', root: served.root, session: id, to: 'chat', exit: 'user-request', reason: 'out' } as const;
  const act = { ...hop, token: served.agent };
  expect(await carryOutSessionRequest(served.host(), served.nobody, act, new AbortController().signal)).toMatchObject({
    ok: false,
    why: expect.stringContaining("not the operator's token"),
  });
  expect(await peripheral(served, id)).toBe('alfworld');
});

it.each(sample(['hopgate bell', 'Emacs'], 2))(
  'a request to hop by %s leaves the decision and the state to the agent',
  async (from) => {
    const { served, id, post, play, hopgate } = await midGame();
    if (from === 'Emacs') {
      if (!hasEmacs) return;
      // The person answers a message of the agent by asking it to hop.
      await post('step', { tool: 'bell', args: { to: 'person:operator', text: 'I am in the house.' } });
      await emacs(served, '(hopgate-ask-to-hop "chat" "dinner")');
    } else await hopgate('bell', `session:${id}`, 'Please hop to chat: dinner', '--act', 'request');
    await play('inventory');
    expect(await peripheral(served, id)).toBe('alfworld');
    const after = await served.ask(`GET /v1/sessions/${id}/evidence`);
    expect(after.text).toContain('Please hop to chat: dinner');
    expect((await post('hop', { to: 'chat', exit: 'hop-chat', reason: 'the operator asked' })).json).toMatchObject({
      ok: true,
    });
    expect((await post('hop', { to: 'alfworld', reason: 'back' })).json).toMatchObject({ ok: true });
    expect(await play('look')).toMatchObject({ result: { step: 4 } });
  },
);
