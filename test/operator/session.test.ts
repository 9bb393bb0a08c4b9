import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import { openSession } from '../../src/open-session.ts';
import { listPendingRequests } from '../../src/operator/answer-request.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { denied, must, stage } from '../session/sessions.ts';
import { readAnswerFile, say, stateFolder, writeAnswerFile } from './support.ts';

const deploy = { to: 'deploy', exit: 'pass', reason: 'the tests pass' };

/** A session in test with passing tests: only the approval for deploy is missing. */
async function ready() {
  const stateDir = stateFolder();
  const root = '/repo';
  const approver = pendingApprover({ stateDir, root });
  const made = await stage({ approver });
  const { session, store, reopen } = made;
  const execute = { to: 'execute', reason: 'to work', exitCriteria: 'all tests pass' } as const;
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.setMode(execute, { approver: { via: 'approver', approve: async () => ({ by: 'operator' }) } }));
  await must(session.start('edit', { by: 'operator' }));
  await must(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
  const fruit = { 'commit-message': 'fix: b' };
  await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
  await must(session.step({ tool: 'bash-test' }));
  return { stateDir, session, store, reopen };
}

it('a call is refused with a request id, and allowed after the operator’s yes', async () => {
  const { stateDir, session } = await ready();
  const { denial } = await denied(session.hop(deploy));
  const id = String(denial.about['pending']);
  expect(denial).toMatchObject({ code: 'approval-required' });
  expect(denial.remedy).toContain(`hopgate approve ${id}`);
  const [item] = listPendingRequests(stateDir);
  expect(item?.pending.request.view).toMatchObject({
    context: { 'commit-message': 'fix: b' },
    changes: { 'src/a.ts': 'f'.repeat(64) },
  });
  expect((await denied(session.hop(deploy))).denial.about['pending']).toBe(id);
  say(stateDir, id);
  const other = await denied(session.hop({ ...deploy, reason: 'because I say so' }));
  expect(other.denial.about['pending']).not.toBe(id);
  const { evidence } = await must(session.hop(deploy));
  expect(toBody(evidence[0]!.body)).toMatchObject({
    event: 'approval',
    record: { by: 'mary', via: 'operator-token', requestHash: item?.pending.request.hash },
  });
  expect(session.state.peripheral).toBe('deploy');
});

it('one yes allows one call', async () => {
  const { stateDir, session } = await ready();
  const mode = { to: 'execute', reason: 'again' } as const;
  await must(session.setMode({ to: 'discuss', summary: 'done' }));
  await must(session.setMode({ to: 'diagnose' }));
  const { denial } = await denied(session.setMode(mode));
  const hash = listPendingRequests(stateDir)[0]!.pending.request.hash;
  say(stateDir, String(denial.about['pending']));
  const answer = readAnswerFile(stateDir, hash);
  await must(session.setMode(mode));
  await must(session.setMode({ to: 'discuss', summary: 'done' }));
  await must(session.setMode({ to: 'diagnose' }));
  writeAnswerFile(stateDir, hash, answer);
  expect((await denied(session.setMode(mode))).denial.code).toBe('approval-required');
});

it('an answer is used by another process that continues the session', async () => {
  const { stateDir, session, reopen } = await ready();
  const { denial } = await denied(session.hop(deploy));
  await session.detach();
  const script = `
    const { listPendingRequests, answerRequest } = await import(process.argv[1]);
    const { ensureOperatorToken } = await import(process.argv[2]);
    const [item] = listPendingRequests(process.argv[3]);
    answerRequest(process.argv[3], item.pending, { verdict: 'yes', by: 'mary', minutes: 5 }, ensureOperatorToken(process.argv[3]));`;
  const files = ['answer-request', 'operator-token'].map((name) => resolve(`src/operator/${name}.ts`));
  execFileSync(process.execPath, ['--input-type=module', '-e', script, ...files, stateDir]);
  const again = await reopen();
  await must(again.hop(deploy));
  expect(String(denial.about['pending'])).toMatch(/^[a-z2-9]{6}$/);
});

it('a no refuses the call', async () => {
  const { stateDir, session } = await ready();
  const { denial } = await denied(session.hop(deploy));
  say(stateDir, String(denial.about['pending']), 'no');
  const refused = await denied(session.hop(deploy));
  expect(refused.denial.message).toContain('mary declined it');
  expect(refused.denial.remedy).toContain('Do not repeat this request');
  expect((await denied(session.hop(deploy))).denial.about['pending']).not.toBe(denial.about['pending']);
});

it("openSession({ approver: 'operator' }) sends approvals to 'hopgate approve'", async () => {
  vi.stubEnv('XDG_STATE_HOME', stateFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const root = stateFolder();
  const session = await openSession({
    specs: fixtureSpecs,
    root,
    agent: 'mine',
    store: 'memory',
    approver: 'operator',
  });
  await session.setMode({ to: 'diagnose' });
  const asked = () => session.setMode({ to: 'execute', reason: 'to work' });
  const { about, remedy } = (await denied(asked())).denial;
  expect(remedy).toContain(`hopgate approve ${about['pending']}`);
  say(stateDir(root, process.env), String(about['pending']));
  expect(await asked()).toMatchObject({ ok: true, mode: 'execute' });
  await session.detach();
});
