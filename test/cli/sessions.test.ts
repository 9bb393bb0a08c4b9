import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nameLeaseHolder } from '../../src/base/process-holder.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { openSession } from '../../src/open-session.ts';
import type { SessionSummary } from '../../src/ports/evidence-store.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { countingIds } from '../../src/testing/doubles/counting-ids.ts';
import { conversation } from '../evidence/drafts.ts';
import { type Machine, machine } from './run.ts';

/** A holder in a process that has ended. */
const goneHolder = (): string => nameLeaseHolder('w').replace(/\.\d+\.\d+$/, `.${spawnSync('true').pid}.1`);

it.each([
  ['in use while its writer lives', () => nameLeaseHolder('w'), 'open, in use', true],
  ['open once its writer was killed, before its lease ends', goneHolder, 'open', false],
])('a session is listed as %s', async (_when, holder, state, inUse) => {
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

describe('a list of sessions', () => {
  const DAY = 86_400_000;

  /** A repository with a session of each id; the age is that of its last entry, in days. */
  async function world(ages: { readonly [sessionId: string]: number }): Promise<Machine> {
    const here = machine();
    ensureStateDir(here.root, here.env);
    const store = sqliteStore(evidenceFile(here.root, here.env));
    for (const [sessionId, age] of Object.entries(ages)) {
      const lease = await store.acquire(sessionId, 'w', 60_000);
      const at = new Date(Date.now() - age * DAY).toISOString();
      await store.append(
        lease,
        EMPTY_CHAIN,
        conversation(sessionId, 1).map((one) => ({ ...one, at })),
      );
      await store.release(lease);
    }
    await store.close();
    return here;
  }
  const listed = async (here: Machine, ...flags: string[]) =>
    (await here.run('sessions', '--json', ...flags)).out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SessionSummary]))
      .map(({ sessionId, name, archived, erased }) => ({ sessionId, name, archived, erased }));

  it('shows names, which other commands accept and which must be unique', async () => {
    const here = await world({ 's-1': 0, 's-2': 1 });
    expect((await here.run('sessions', 'rename', 's-1', 'discounts')).out).toBe('Session s-1 is now "discounts".\n');
    expect((await here.run('sessions')).out).toMatch(/^session +name .*\ns-1 +discounts .*\ns-2 {4,}/);
    expect((await here.run('log', 'discounts')).out).toBe((await here.run('log', 's-1')).out);
    for (const taken of ['discounts', 's-1'])
      expect(await here.run('sessions', 'rename', 's-2', taken)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`session s-1 has the name "${taken}"`),
      });
    expect((await here.run('sessions', 'rename', 's-2', 'a\nb')).code).toBe(2);
    expect((await here.run('sessions', 'rename', 'discounts', '')).out).toBe('Session s-1 has no name now.\n');
    expect((await here.run('sessions')).out).not.toContain('name');
  });

  it('omits archived sessions, says so, and lists them on request', async () => {
    const here = await world({ 's-1': 0, 's-2': 1 });
    expect((await here.run('sessions', 'archive', 's-2')).out).toBe('Session s-2 is archived.\n');
    expect(await here.run('sessions')).toMatchObject({
      out: expect.not.stringContaining('s-2'),
      err: 'hopgate: 1 archived session left out; --all lists them\n',
    });
    expect((await here.run('sessions', '--all')).out).toMatch(/^s-2 .* open, archived$/m);
    expect(await listed(here)).toHaveLength(1);
    await here.run('sessions', 'archive', '--undo', 's-2');
    expect(await listed(here)).toHaveLength(2);
  });

  it('prunes old sessions after it has named them and a person agreed', async () => {
    const here = await world({ 's-new': 1, 's-old': 40, 's-older': 50 });
    const refused = await here.run('sessions', 'prune', '--older-than', '30d');
    expect(refused).toMatchObject({ code: 2, out: expect.stringMatching(/^s-old .*\ns-older /m) });
    expect(refused.err).toContain('this would permanently erase the content of 4 entries of 2 sessions');
    expect((await here.run('sessions', 'prune', '--older-than', '30d', '--json')).out).toContain('not-confirmed');
    expect(await here.type('n', 'sessions', 'prune', '--older-than', '30d')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing was erased'),
    });
    expect((await listed(here)).filter(({ erased }) => erased)).toEqual([]);
    expect((await here.type('y', 'sessions', 'prune', '--older-than', '6w')).out).toMatch(/s-older .*\n.*2 bodies/s);
    expect(JSON.parse((await here.run('sessions', 'prune', '--older-than', '30d', '--yes', '--json')).out)).toEqual({
      pruned: [{ sessionId: 's-old', erased: 2, blobs: expect.any(Number) }],
    });
    expect(await listed(here, '--all')).toEqual([
      { sessionId: 's-new', name: null, archived: false, erased: false },
      { sessionId: 's-old', name: null, archived: true, erased: true },
      { sessionId: 's-older', name: null, archived: true, erased: true },
    ]);
    const store = sqliteStore(evidenceFile(here.root, here.env));
    expect(await verifyChain(store.entries('s-old'))).toMatchObject({ ok: true, count: 2 });
    expect(await store.notes()).toMatchObject([{ code: 'erased', sessionId: 's-old' }, { sessionId: 's-older' }]);
    await store.close();
  });

  it('prunes archived and named sessions, but none in use', async () => {
    const here = await world({ 's-1': 1, 's-2': 2, 's-3': 3 });
    await here.run('sessions', 'archive', 's-1');
    expect((await here.run('sessions', 'prune', '--yes')).out).toMatch(/of session s-1 erased\n$/);
    expect((await here.run('sessions', 'prune', '--yes')).out).toBe('No session to prune.\n');
    const store = sqliteStore(evidenceFile(here.root, here.env));
    await store.acquire('s-2', nameLeaseHolder('w'), 60_000);
    expect(await here.run('sessions', 'prune', 's-2', 's-3', '--yes')).toMatchObject({
      out: expect.stringMatching(/of session s-3 erased\n$/),
      err: 'hopgate: session s-2 is in use, so it is left out\n',
    });
    expect((await here.run('sessions', 'prune', '--older-than', '3 days')).code).toBe(2);
    await store.close();
  });
});

it('verify has one row for the entries of an erased session', async () => {
  const here = machine({});
  await here.feed('mode diagnose\n', 'shell');
  await here.run('erase', 's-', '--yes');
  expect((await here.run('verify')).out).toMatch(/^0–\d+ +gap: erased +the body of the entry was erased$/m);
});
