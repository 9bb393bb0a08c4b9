import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifySession } from '../../../src/audit/verify/verify-session.ts';
import { openSession } from '../../../src/open-session.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { BackgroundJob } from '../../../src/tools/shell/background/jobs.ts';
import { isDeep, sample } from '../../depth.ts';
import { must } from '../../session/sessions.ts';
import { scratch, sleepers } from './support.ts';

const mark = () => `3${Math.floor(Math.random() * 1e8)}`;

/** A session in explore on a real repository with the real sandbox. */
async function exploring(files: { readonly [path: string]: string } = {}) {
  const root = scratch(files);
  const store = memoryStore();
  const session = await openSession({ root, agent: 'tester', store });
  onTestFinished(() => session.detach());
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.start('explore', { by: 'operator' }));
  const background = async (args: object) => {
    const came = await must(session.step({ tool: 'bash-background', args }));
    // biome-ignore lint/suspicious/noExplicitAny: results are JSON
    return { ...came, result: came.result as any };
  };
  return { root, store, session, background };
}

async function findings({ store, session: { id, specs, config } }: Explored) {
  const { ok, audit } = await verifySession(id, { specs, config }, store.entries(id));
  return ok ? [] : audit.violations;
}

test('a background command continues after its call, and later calls read its output and stop all its processes', async () => {
  const explored = await exploring();
  const { session, background } = explored;
  const name = mark();
  const { job, ...first } = (await background({ command: `sleep ${name} & sleep 1; echo two; wait` })).result;
  expect(first).toMatchObject({ running: true, stdout: '' });
  const { stdout } = (await must(session.step({ tool: 'bash-readonly', args: { command: 'echo meanwhile' } })))
    .result as { stdout: string };
  expect(stdout).toBe('meanwhile\n');
  expect((await background({ job, wait: 60 })).result).toMatchObject({ running: true, stdout: 'two\n' });
  expect(sleepers(name)).toHaveLength(1);
  expect((await background({ job, stop: true })).result).toMatchObject({ job, running: false, signal: 'SIGKILL' });
  expect(sleepers(name)).toEqual([]);
  await must(session.stop('done', { by: 'operator' }));
  expect(await findings(explored)).toEqual([]);
});

test('the first result of a background command includes a failure at its start', async () => {
  // A busy machine may need longer for the command than the first answer waits.
  const waiting = vi.spyOn(BackgroundJob.prototype, 'endedWithin').mockImplementation(function (this: BackgroundJob) {
    return this.ended;
  });
  onTestFinished(() => waiting.mockRestore());
  const { background } = await exploring();
  expect((await background({ command: 'echo no >&2; exit 3' })).result).toMatchObject({
    running: false,
    exit: 3,
    stdout: 'no\n',
  });
});

const LEAVING = [
  ['a stop', async ({ session }: Explored) => must(session.stop('done', { by: 'operator' }))],
  ['a hop', async ({ session }: Explored) => must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'x' }))],
  [
    'a mode in which nothing is observed',
    async ({ session }: Explored) => must(session.setMode({ to: 'discuss', reset: true, by: 'operator' })),
  ],
  ['the release of the session', async ({ session }: Explored) => session.detach()],
] as const;
test.each(sample(LEAVING, 4))('no background command outlives %s', async (_, leave) => {
  const explored = await exploring();
  const name = mark();
  await explored.background({ command: `sleep ${name}` });
  await expect.poll(() => sleepers(name)).toHaveLength(1);
  await leave(explored);
  expect(sleepers(name)).toEqual([]);
  expect(await findings(explored)).toEqual([]);
});
type Explored = Awaited<ReturnType<typeof exploring>>;

test.runIf(isDeep)('the end of a visit names the commands that ended with it, and the audit counts them', async () => {
  const explored = await exploring();
  const { session, background } = explored;
  const { job } = (await background({ command: 'sleep 1000' })).result;
  const { evidence } = await must(session.stop('done', { by: 'operator' }));
  expect(evidence.at(-1)?.body).toMatchObject({ event: 'stop', ended: [job] });
  expect(await findings(explored)).toEqual([]);
});

test.runIf(isDeep)(
  'a fifth background command is refused, and a new masked file ends a command before its output is shown',
  async () => {
    const { root, session, background } = await exploring({ a: 'a' });
    for (let i = 0; i < 4; i += 1) await background({ command: 'sleep 1000' });
    const fifth = await must(session.step({ tool: 'bash-background', args: { command: 'true' } }));
    expect(fifth).toMatchObject({ outcome: 'failed', error: { code: 'too-many-jobs' } });
    const { jobs } = (await background({})).result;
    expect(jobs).toHaveLength(4);
    await background({ job: jobs[0].job, stop: true });
    const { job } = (await background({ command: 'until [ -e .env ]; do sleep 0.05; done; cat .env; sleep 1000' }))
      .result;
    writeFileSync(join(root, '.env'), 'SECRET=1');
    const read = await must(session.step({ tool: 'bash-background', args: { job, wait: 1 } }));
    expect(read).toMatchObject({ outcome: 'failed', error: { code: 'masked-file-uncovered' } });
    expect(JSON.stringify(read)).not.toContain('SECRET');
  },
);
