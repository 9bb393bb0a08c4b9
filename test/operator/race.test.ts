import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { depth } from '../depth.ts';
import { requestOf, say, stateFolder } from './support.ts';

const ROUNDS = depth(6, 30);

async function consumer(stateDir: string): Promise<ChildProcess> {
  const child = fork(resolve('test/operator/consume.ts'), [stateDir]);
  onTestFinished(() => void child.kill());
  await once(child, 'message');
  return child;
}

const ask = async (child: ChildProcess): Promise<unknown> => {
  const answer = once(child, 'message');
  child.send('now');
  return (await answer)[0];
};

it('one answer is given to one of several parallel processes', async () => {
  const stateDir = stateFolder();
  const children = await Promise.all([1, 2, 3].map(() => consumer(stateDir)));
  const approver = pendingApprover({ stateDir, root: '/repo' });
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = await approver.approve(requestOf());
    if (!asked || !('pending' in asked)) throw new Error('it was answered before it was asked');
    say(stateDir, asked.pending);
    const came = await Promise.all(children.map(ask));
    expect(came.sort()).toEqual(['given', 'not given', 'not given']);
  }
});

it('parallel processes with the same request get the same id', async () => {
  const stateDir = stateFolder();
  const approvers = Array.from({ length: 8 }, () => pendingApprover({ stateDir, root: '/repo' }));
  const answers = await Promise.all(approvers.map((approver) => approver.approve(requestOf())));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});
