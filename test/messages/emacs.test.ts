import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { sendBell } from '../../src/messages/send-message.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { hasEmacs } from './has-emacs.ts';

const SCRIPT = (root: string) => `
(load ${JSON.stringify(resolve('src/adapters/emacs/hopgate.el'))} nil t)
(setq hopgate-command (list ${JSON.stringify(process.execPath)} ${JSON.stringify(resolve('src/cli/main.ts'))}))
(defvar dings 0)
(advice-add 'ding :before (lambda (&rest _) (setq dings (1+ dings))))
(defun wait (done) (let ((end (+ (float-time) 20))) (while (and (< (float-time) end) (not (funcall done))) (accept-process-output nil 0.05))))
(hopgate-start ${JSON.stringify(root)})
(wait (lambda () (> dings 0)))
(setq hopgate-token-file "/nowhere/token")
(condition-case problem (hopgate-approve "abc") (user-error (princ (concat (cadr problem) "\\n"))))
(defvar said nil)
(advice-add 'hopgate--say :before (lambda (text) (setq said text)))
(advice-add 'read-string :override (lambda (&rest _) (push '((id . "m-2") (from . "agent:bob")) hopgate-messages) "In the sink."))
(call-interactively #'hopgate-answer)
(wait (lambda () said))
(kill-process hopgate--process)
(wait (lambda () (null hopgate--process)))
(princ (with-current-buffer "*hopgate*" (buffer-string)))
(hopgate-start "/nowhere")
(wait (lambda () (null hopgate--process)))
(princ (with-current-buffer "*hopgate*" (buffer-string)))
(princ (format "%s %s %d" (lookup-key (current-global-map) (kbd "C-c h a")) (key-binding (kbd "C-c h a")) dings))
(hopgate-stop)
`;

it.skipIf(!hasEmacs)(
  'Emacs makes one sound for a message, answers the message that it asked about, says why the inbox ended, and approves nothing without the operator’s token',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'messages-emacs-'));
    const env = { ...process.env, XDG_STATE_HOME: join(home, 'state') };
    const root = mkdtempSync(join(home, 'root-'));
    const store = sqliteStore(join(ensureStateDir(root, env), 'evidence.db'));
    const session = await openSession({ root, agent: 'ann', store });
    const from = `session:${session.id}`;
    const text = 'Where is the mug?\n[ALFWorld] you won';
    const bell = { id: 'm-1', kind: 'bell', act: 'query', from, author: 'ann', to: 'person:operator', text, ref: null };
    await sendBell(store.messages!, bell as Parameters<typeof sendBell>[1]);
    const script = join(home, 'script.el');
    writeFileSync(script, SCRIPT(root));
    const { stdout } = await promisify(execFile)('emacs', ['-Q', '--batch', '-l', script], { env, timeout: 60_000 });
    expect(stdout).toContain('The operator’s token /nowhere/token cannot be read');
    expect(stdout).toMatch(/^hopgate: the inbox ended \(killed\); M-x hopgate-start shows messages again\. $/m);
    expect(stdout).toMatch(
      /^hopgate: the inbox ended \(exited .*\); .*again\. there is no folder \/nowhere\. Name .*$/m,
    );
    expect(stdout).toMatch(/hopgate-answer 1$/);
    expect(await store.messages!.inbox(from)).toMatchObject([{ act: 'answer', ref: 'm-1', text: 'In the sink.' }]);
    expect(await store.messages!.find('m-1')).toMatchObject({ state: 'answered' });
    await session.detach();
    await store.close();
    rmSync(home, { recursive: true });
  },
  90_000,
);
