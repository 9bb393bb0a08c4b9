import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSession } from '../../src/open-session.ts';
import { answerRequest, listPendingRequests } from '../../src/operator/answer-request.ts';
import { ensureOperatorToken } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import type { Session } from '../../src/session/session.ts';
import { isDeep, sample } from '../depth.ts';

const LOCK = 'package-lock.json';
let folder: string;
let root: string;
let stateDir: string;
const at = (name: string) => join(root, name);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-install-')));
  [root, stateDir] = [join(folder, 'root'), join(folder, 'state')];
  mkdirSync(at('src'), { recursive: true });
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(at('.gitignore'), 'node_modules/\n');
  writeFileSync(at(LOCK), '{"lock": 1}\n');
  writeFileSync(at('package.json'), '{"name": "shop"}\n');
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ])
    execFileSync('git', words, { cwd: root, stdio: 'ignore' });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A session in edit, which installs by `line` once the operator has approved it. */
async function inEdit(line = 'mkdir node_modules && cp package-lock.json node_modules/seen'): Promise<Session> {
  const session = await openSession({
    root,
    agent: 'attacker',
    store: 'memory',
    trustConfig: true,
    config: { install: [{ run: ['bash', '-c', line], scripts: false, approval: true }], scopes: { edit: ['.'] } },
    approver: pendingApprover({ stateDir, root }),
  });
  const must = async (step: Promise<{ readonly ok: boolean }>) => expect(await step).toMatchObject({ ok: true });
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.step({ tool: 'read', args: [LOCK] }));
  await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'to edit' }));
  const execute = () => session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' });
  await execute();
  answer(session);
  await must(execute());
  return session;
}

/** The operator says yes to the session's last request. */
function answer({ id }: Session): void {
  const item = listPendingRequests(stateDir).findLast(({ pending }) => pending.request.sessionId === id);
  answerRequest(stateDir, item!.pending, { verdict: 'yes', by: 'operator', minutes: 5 }, ensureOperatorToken(stateDir));
}

const install = (session: Session) => session.step({ tool: 'install', args: {} });

async function approved(session: Session): Promise<void> {
  expect(await install(session)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
  answer(session);
}

describe('an approval of an install', () => {
  it('is used up by the install', async () => {
    const session = await inEdit();
    await approved(session);
    expect(await install(session)).toMatchObject({ ok: true, result: { exit: 0, kept: ['node_modules'] } });
    expect(await install(session)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    await session.detach();
  });

  const attacks: readonly (readonly [how: string, change: () => void])[] = [
    ['the lock file was changed', () => writeFileSync(at(LOCK), '{"lock": "evil"}\n')],
    ['the manifest was changed', () => writeFileSync(at('package.json'), '{"dependencies": {"evil": "1"}}\n')],
    ['the lock file was removed', () => rmSync(at(LOCK))],
    ['another lock file was added', () => writeFileSync(at('yarn.lock'), 'evil\n')],
    [
      'the lock file became a link to the same content',
      () => {
        renameSync(at(LOCK), at('src/lock.json'));
        symlinkSync('src/lock.json', at(LOCK));
      },
    ],
    [
      'the lock file became a folder',
      () => {
        rmSync(at(LOCK));
        mkdirSync(at(LOCK));
      },
    ],
  ];
  it.each(sample(attacks, 3))('does not hold after %s', async (_, change) => {
    const session = await inEdit();
    await approved(session);
    change();
    expect(await install(session)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    expect(existsSync(at('node_modules'))).toBe(false);
    await session.detach();
  });

  it.runIf(isDeep)('does not hold after the file behind a linked lock file was changed', async () => {
    renameSync(at(LOCK), at('src/lock.json'));
    symlinkSync('src/lock.json', at(LOCK));
    const session = await inEdit();
    await approved(session);
    writeFileSync(at('src/lock.json'), '{"lock": "evil"}\n');
    expect(await install(session)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    await session.detach();
  });

  it.runIf(isDeep)('does not hold in another session', async () => {
    const one = await inEdit();
    await approved(one);
    const two = await inEdit();
    expect(await install(two)).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    await Promise.all([one.detach(), two.detach()]);
  });

  it.runIf(isDeep)(
    'keeps no change of the install if another program changes the lock file during the run',
    async () => {
      const session = await inEdit(
        `mkdir node_modules && touch node_modules/a && echo begun && until grep -q evil ${LOCK}; do sleep 0.05; done`,
      );
      await approved(session);
      const onOutput = () => writeFileSync(at(LOCK), '{"lock": "evil"}\n');
      const report = await session.step({ tool: 'install', args: {}, onOutput });
      expect(report).toMatchObject({
        ok: true,
        outcome: 'failed',
        error: {
          code: 'locks-changed',
          message: `${LOCK} changed while the command ran, so nothing was kept. Install again.`,
        },
      });
      expect(existsSync(at('node_modules'))).toBe(false);
      await session.detach();
    },
  );
});
