import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { describeApprovalRequest } from '../../src/cli/approve/show-request.ts';
import { processIo } from '../../src/cli/io.ts';
import { openSession } from '../../src/open-session.ts';
import { answerRequest, listPendingRequests } from '../../src/operator/answer-request.ts';
import { approvalsFolder } from '../../src/operator/approvals-folder.ts';
import { ensureOperatorToken } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import type { Approver } from '../../src/ports/approver.ts';
import type { Session } from '../../src/session/session.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { ANSWERS, ASKS, VIEWS } from './cases/approvals.ts';
import { sample } from '../depth.ts';

let folder: string;
let root: string;
let stateDir: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-approvals-')));
  [root, stateDir] = [join(folder, 'root'), join(folder, 'state')];
  mkdirSync(join(root, 'src'), { recursive: true });
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(root, 'src/a.txt'), 'a\n');
  writeFileSync(join(root, 'hopgate.yaml'), 'test: [{ run: ["true"] }]\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (approver?: Approver): Promise<Session> =>
  openSession({
    specs: fixtureSpecs,
    root,
    agent: 'attacker',
    store: 'memory',
    trustConfig: true,
    ...(approver ? { approver } : {}),
  });

/**
 * Moves the session, by allowed moves, to where only the approval is missing: for execute in explore, or for the deploy
 * after a passing test.
 */
async function leadToApproval(session: Session, call: 'mode' | 'hop', answer: (yes: boolean) => void): Promise<void> {
  const must = async (step: Promise<{ readonly ok: boolean }>): Promise<void> => {
    const result = await step;
    if (!result.ok) throw new Error(JSON.stringify(result));
  };
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  if (call === 'mode') return;
  await must(session.step({ tool: 'read', args: ['src/a.txt'] }));
  await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'to edit' }));
  answer(true);
  await must(session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' }));
  answer(false);
  await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'to test', fruit: { 'commit-message': 'x' } }));
  await must(session.step({ tool: 'bash-test', args: {} }));
}

describe('an approval in an agent’s own words', () => {
  it.each(sample(ASKS, 2))('does not count: $name', async ({ call, input, approved }) => {
    let yes = false;
    const session = await open({ via: 'approver', approve: async () => (yes ? { by: 'operator' } : null) });
    await leadToApproval(session, call, (answer) => {
      yes = answer;
    });
    const before = session.state;
    const agent = agentSession(session);
    const answer = await agent.call({ name: call, input, ...(approved === undefined ? {} : { approved }) });
    expect(answer).toMatchObject({ status: 'refused', denial: { remedy: expect.stringMatching(/\S/) } });
    expect(answer.denial!.code).toMatch(/^approval-/);
    expect(session.state).toMatchObject({ mode: before.mode, peripheral: before.peripheral });
    // everything is fulfilled except the approval, which no words can give
    const wanted = await agent.wants({ name: call, input });
    const given = await agent.call({ name: call, input, approved: { hash: wanted!.hash, by: 'operator' } });
    expect(given).toMatchObject({ status: 'ok' });
    await session.detach();
  });
});

describe('an approval in the state folder', () => {
  it.each(sample(ANSWERS, 2))(
    'counts only if the file is unaltered; the file with $name is $kind',
    async ({ kind, file }) => {
      const session = await open(pendingApprover({ stateDir, root }));
      await leadToApproval(session, 'mode', () => {});
      const ask = () => session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' });
      expect(await ask()).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
      const [item] = listPendingRequests(stateDir);
      const token = ensureOperatorToken(stateDir);
      const honest = answerRequest(stateDir, item!.pending, { verdict: 'yes', by: 'operator', minutes: 5 }, token);
      const path = join(approvalsFolder(stateDir).answersFolder, `${item!.pending.request.hash}.json`);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(honest);
      const forged = file({ honest, token, stateDir });
      if (forged === null) rmSync(path);
      else writeFileSync(path, forged);
      const result = await ask();
      expect(result.ok, JSON.stringify(result)).toBe(kind === 'benign');
      expect(session.state.mode).toBe(kind === 'benign' ? 'execute' : 'diagnose');
      await session.detach();
    },
  );

  it('does not count if it was used and then put back', async () => {
    const session = await open(pendingApprover({ stateDir, root }));
    await leadToApproval(session, 'mode', () => {});
    const ask = () => session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' });
    await ask();
    const [item] = listPendingRequests(stateDir);
    const honest = answerRequest(
      stateDir,
      item!.pending,
      { verdict: 'yes', by: 'o', minutes: 5 },
      ensureOperatorToken(stateDir),
    );
    expect(await ask()).toMatchObject({ ok: true });
    await session.setMode({ to: 'discuss', summary: 'done' });
    await session.setMode({ to: 'diagnose' });
    approvalsFolder(stateDir).keepAnswer(honest);
    expect(await ask()).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    await session.detach();
  });
});

describe('the request that the operator sees', () => {
  const io = { ...processIo(), color: false };
  it.each(sample(VIEWS, 2))('includes each part of a request whose text has $name', async ({ text, shows }) => {
    const session = await open();
    await leadToApproval(session, 'mode', () => {});
    const request = await session.wants({ mode: { to: 'execute', reason: text, exitCriteria: text } });
    const shown = describeApprovalRequest(io, request!);
    expect(shown).toContain(shows);
    expect(shown.replaceAll('\n', '')).not.toMatch(
      /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u,
    );
    const lines = shown.split('\n');
    expect(lines.filter((line) => line.trimStart().startsWith('sha256'))).toEqual([`  sha256 ${request!.hash}`]);
    expect(lines.every((line) => !line.startsWith('Approve'))).toBe(true);
    await session.detach();
  });
});
