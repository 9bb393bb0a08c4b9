import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sendBell } from '../../src/messages/send-message.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureTokenFile } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { hasTmux, Screen } from '../clients/screen.ts';
import { isDeep } from '../depth.ts';
import { hasEmacs } from './has-emacs.ts';

const SCRIPT = (root: string) => `
(load ${JSON.stringify(resolve('src/adapters/emacs/hopgate.el'))} nil t)
(setq hopgate-command (list ${JSON.stringify(process.execPath)} ${JSON.stringify(resolve('src/cli/main.ts'))}))
(hopgate-start ${JSON.stringify(root)})
(hopgate-show)
(delete-other-windows)
(message "Emacs is ready.")
`;

it.skipIf(!hasEmacs || !hasTmux || !isDeep)(
  'Emacs at a terminal rings, shows, answers, asks to hop, and approves only with the operator’s token',
  async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'messages-screen-')));
    const root = mkdtempSync(join(home, 'root-'));
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state'), LANG: 'C.UTF-8' };
    const stateDir = ensureStateDir(root, env);
    const store = sqliteStore(join(stateDir, 'evidence.db'));
    const session = await openSession({ root, agent: 'ann', store, approver: pendingApprover({ stateDir, root }) });
    const [script, bells] = [join(home, 'script.el'), join(home, 'bells')];
    writeFileSync(script, SCRIPT(root));
    const screen = new Screen(home);
    onTestFinished(async () => {
      await screen.close();
      await session.detach();
      await store.close();
      rmSync(home, { recursive: true });
    });
    await screen.open(['emacs', '-nw', '-Q', '-l', script], { cwd: root, env, prompt: /Emacs is ready/ });
    screen.tmux('set-hook', '-g', 'alert-bell', `run-shell "echo bell >> ${bells}"`);
    screen.tmux('set-option', '-g', 'bell-action', 'any');

    const from = `session:${session.id}`;
    const bell = { id: 'm-1', kind: 'bell', act: 'query', from, author: 'ann', to: 'person:operator', ref: null };
    const rungAt = performance.now();
    await sendBell(store.messages!, { ...bell, text: 'Where is the mug?' } as Parameters<typeof sendBell>[1]);
    await screen.shows(/\[bell from agent:ann, query\] Where is the mug\?/);
    console.log(`The bell was on the screen after ${Math.round(performance.now() - rungAt)} ms.`);
    expect(readFileSync(bells, 'utf8')).toBe('bell\n');
    await expect
      .poll(() => store.messages!.receipts(from, 0))
      .toMatchObject([
        { message: 'm-1', state: 'sent' },
        { message: 'm-1', state: 'read' },
      ]);

    await screen.press('C-c', 'h', 'a');
    await screen.shows(/Answer agent:ann:/);
    await screen.type('In the sink.');
    await screen.shows(/hopgate: .*m-/);
    expect(await store.messages!.inbox(from)).toMatchObject([{ act: 'answer', ref: 'm-1', text: 'In the sink.' }]);

    await screen.press('C-c', 'h', 'h');
    await screen.shows(/Hop to:/);
    await screen.type('edit');
    await screen.shows(/Reason:/);
    await screen.type('it is there');
    await expect
      .poll(async () => (await store.messages!.inbox(from)).at(-1))
      .toMatchObject({ act: 'request', text: 'Please hop to edit: it is there' });

    await session.start('explore');
    await session.setMode({ to: 'diagnose', reason: 'look' });
    const asked = { to: 'execute', reason: 'mend it', 'exit-criteria': 'it works' } as const;
    const first = await session.setMode(asked);
    const id = /hopgate approve (\w+)/.exec(JSON.stringify(first))?.[1] ?? '';
    expect(id).not.toBe('');
    const approve = async () => {
      await screen.press('C-c', 'h', 'y');
      await screen.shows(/Approve request:/);
      await screen.type(id);
      await screen.shows(/ann asks for mode diagnose → execute\s+reason: mend it/);
      await screen.shows(/yes or no/);
      await screen.type('yes');
    };
    const withToken = async (file: string | null) => {
      await screen.press('M-:');
      await screen.shows(/Eval:/);
      await screen.type(`(progn (setq hopgate-token-file ${file ? JSON.stringify(file) : 'nil'}) 'set)`);
      await screen.shows(/^set\s*$/m);
    };
    await withToken('/nowhere/token');
    await approve();
    await screen.shows(/\/nowhere\/token cannot be read/);
    const forged = join(home, 'forged.token');
    ensureTokenFile(forged, 'operator');
    await withToken(forged);
    await approve();
    await screen.shows(/is not the operator's token/);
    expect(await session.setMode(asked)).toMatchObject({ ok: false });
    await withToken(null);
    await approve();
    await expect.poll(() => session.setMode(asked)).toMatchObject({ ok: true, mode: 'execute' });
  },
  180_000,
);
