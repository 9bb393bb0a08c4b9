import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFolder } from '../../daemon/package-files.ts';
import { sendBell } from '../../messages/send-message.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { Session } from '../../session/session.ts';
import { hopgateCommandLine } from '../client/client-program.ts';

type Environment = { readonly [name: string]: string | undefined };

/** A participant that answers messages until the story ends. */
export interface StoryParticipant {
  readonly end: () => Promise<void>;
}

const POLL_MS = 25;

/** Joe, played by a script: he answers each message with his knowledge, over the inbox that Emacs also uses. */
export async function playJoeByScript({ messages }: EvidenceStore, knows: string): Promise<StoryParticipant> {
  await messages!.addPerson('joe');
  return poll(async () => {
    for (const { id, from } of await messages!.inbox('person:joe', { unread: true })) {
      await messages!.mark(id, 'read');
      const to = { from: 'person:joe', author: 'joe', to: from };
      await sendBell(messages!, { ...to, id: `answer-${id}`, kind: 'bell', act: 'answer', text: knows, ref: id });
    }
  });
}

/** An agent with its own session, which answers whistles by its tool `bell`. */
export const startAnsweringAgent = (session: Session, knows: string): StoryParticipant =>
  poll(async () => {
    const inbox = await session.inbox();
    if (!inbox.ok) return;
    for (const { id, from, kind } of inbox.messages) {
      if (kind === 'whistle')
        await session.step({ tool: 'bell', args: { to: from, text: knows, act: 'answer', ref: id } });
      await session.acknowledge([id]);
    }
  });

function poll(look: () => Promise<void>): StoryParticipant {
  let ended = false;
  const work = (async () => {
    while (!ended) {
      await look();
      await sleep(POLL_MS);
    }
  })();
  return {
    async end() {
      ended = true;
      await work;
    },
  };
}

/** Joe, played by `emacs --batch` with hopgate.el. `printLine` receives the lines that Emacs prints. */
export async function playJoeInEmacs(
  {
    root,
    env,
    store,
    printLine,
  }: { root: string; env: Environment; store: EvidenceStore; printLine: (line: string) => void },
  knows: string,
): Promise<StoryParticipant> {
  await store.messages!.addPerson('joe');
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-emacs-'));
  const script = join(folder, 'joe.el');
  const text = (value: string): string => JSON.stringify(value);
  writeFileSync(
    script,
    `(load ${text(join(packageFolder(), 'src', 'adapters', 'emacs', 'hopgate.el'))} nil t)
(setq hopgate-command (list ${hopgateCommandLine().map(text).join(' ')}) hopgate-person "joe")
(add-hook 'hopgate-message-functions
  (lambda (message)
    (message "ding! %s" (hopgate--line message))
    (hopgate-answer ${text(knows)})))
(hopgate-start ${text(root)})
(while (and hopgate--process (process-attributes ${process.pid})) (accept-process-output nil 0.1))
`,
  );
  const emacs = spawn('emacs', ['-Q', '--batch', '-l', script], {
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let rest = '';
  emacs.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('ding! ')) printLine(`(Joe's Emacs) ${line}`);
  });
  const gone = new Promise<void>((resolve) => {
    emacs.once('close', () => resolve());
    emacs.once('error', () => resolve());
  });
  return {
    async end() {
      emacs.kill();
      await gone;
      rmSync(folder, { recursive: true });
    },
  };
}
