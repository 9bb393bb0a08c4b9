import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { evidenceFile } from '../../src/cli/open-store.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { processHolder } from '../../src/stores/process-holder.ts';
import { countingIds } from '../../src/testing/doubles/counting-ids.ts';
import { machine } from './run.ts';

/** A holder in a process that has ended. */
const goneHolder = (): string => processHolder('w').replace(/\.\d+\.\d+$/, `.${spawnSync('true').pid}.1`);

it.each([
  ['in use while its writer lives', () => processHolder('w'), 'open, in use', true],
  ['open once its writer was killed, before its lease ends', goneHolder, 'open', false],
])('a session is %s', async (_when, holder, state, inUse) => {
  const { root, env, run } = machine();
  ensureStateDir(root, env);
  const ids = countingIds();
  const session = await openSession({
    root,
    agent: 'a',
    specs: 'default',
    store: evidenceFile(root, env),
    trustConfig: true,
    ids: { next: (kind) => (kind === 'writer' ? holder() : ids.next(kind)) },
  });
  await session.settle();
  const rows = (await run('sessions')).out.split('\n');
  expect(rows.find((row) => row.startsWith(session.id))).toMatch(new RegExp(`  ${state}$`));
  expect(JSON.parse((await run('sessions', '--json')).out)).toMatchObject({ sessionId: session.id, inUse });
  await session.detach();
});
