import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { transcriptPath } from '../../src/adapters/core/transcript/transcript-file.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { readForms } from '../../src/evidence/musn/read-forms.ts';
import { openSession } from '../../src/open-session.ts';
import { approvalsFolder } from '../../src/operator/approvals-folder.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { conversation, draft } from '../evidence/drafts.ts';
import { requestOf } from '../operator/request.ts';
import { type Machine, machine, put } from './run.ts';

async function withSession({ root, env }: Machine): Promise<void> {
  ensureStateDir(root, env);
  const store = sqliteStore(evidenceFile(root, env));
  const pin = await store.putBlob(Buffer.from('pin'));
  const [first, ...rest] = conversation('s-1', 2);
  const lease = await store.acquire('s-1', 'w-1', 60_000);
  const par = draft({
    id: 'par',
    at: '2026-01-31T09:01:00.000Z',
    body: { event: 'par', par: { what_went_well: ['tests \u202e first'] } },
  });
  await store.append(lease, EMPTY_CHAIN, [
    { ...first!, body: { event: 'session-open', agent: 'agent-1', pin } },
    ...rest,
    par,
  ]);
  await store.release(lease);
  await store.close();
}

describe('hopgate activity', () => {
  it('lists events by page, the newest first', async () => {
    const here = machine();
    await withSession(here);
    const first = await here.run('activity', 's-1', '--limit', '2');
    expect(first.out.split('\n').map((line) => line.split(/ {2,}/)[1])).toEqual([
      'event',
      'session/par',
      'agent/interaction',
      undefined,
    ]);
    expect(first.out).toContain('\\u{202e}');
    const [, cursor] = /--after (\S+)/.exec(first.err) ?? [];
    const second = await here.run('activity', 's', '--after', cursor!, '--json');
    const { events, next } = JSON.parse(second.out);
    expect(events.map((event: { [key: string]: string }) => event['event/type'])).toEqual([
      'agent/interaction',
      'session/open',
    ]);
    expect(next).toBeNull();
  });

  it('explains an invalid cursor or session', async () => {
    const here = machine();
    expect(await here.run('activity', 's-1')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has no sessions yet/),
    });
    await withSession(here);
    expect(await here.run('activity', 's-1', '--after', 'x')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/after: is not a cursor.*\n.*leave out --after/),
    });
    expect(await here.run('activity', 's-2')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no session "s-2".*s-1/s),
    });
  });

  it('says that it waits if the file of --import is a named pipe', async () => {
    const here = machine();
    const pipe = join(here.root, 'pipe');
    execFileSync('mkfifo', [pipe]);
    spawn('sh', ['-c', `echo '{}' > '${pipe}'`]);
    const { err } = await here.run('activity', 's-1', '--import', 'pipe');
    expect(err).toMatch(/^hopgate: pipe is a pipe; waiting for a program that writes to it\n/);
  });

  it.each([[], ['--entries'], ['--edn'], ['--entries', '--edn']])(
    'exports %j in a form that another store imports',
    async (...flags: string[]) => {
      const [here, there] = [machine(), machine()];
      await withSession(here);
      const exported = await here.run('activity', 's-1', ...flags, ...(flags.includes('--edn') ? [] : ['--json']));
      const text = flags.includes('--edn') ? exported.out : JSON.stringify(Object.values(JSON.parse(exported.out))[0]);
      put(there.root, { 'log.txt': text });
      expect(await there.run('activity', 's-1', '--import', 'log.txt')).toMatchObject({
        code: 0,
        out: '4 imported as session s-1\n',
      });
      if (!flags.includes('--entries')) expect(await there.run('thread', 's-1')).toMatchObject({ code: 0 });
      const again = await there.run('activity', 's-1', '--import', 'log.txt');
      expect(again.out).toMatch(/imported before; nothing was added/);
      const listed = await there.run(
        'activity',
        's-1',
        '--limit',
        '4',
        ...flags,
        ...(flags.includes('--edn') ? [] : ['--json']),
      );
      const forms = (out: string): unknown => {
        const read = readForms(out);
        return read.ok ? read.forms : read.problems;
      };
      expect(forms(listed.out)).toEqual(forms(exported.out));
      expect(forms(listed.out)).toHaveLength(4);
    },
  );

  it('imports a session of hopgate as foreign evidence, which no command reports as altered', async () => {
    const [here, there] = [machine(), machine()];
    const store = sqliteStore(join(ensureStateDir(here.root, here.env), 'evidence.db'));
    const grant = { until: Date.now() + 60_000 };
    const approver = { via: 'approver', approve: async () => ({ by: 'mary', grant }) } as const;
    const session = await openSession({ root: here.root, agent: 'ann', store, approver });
    const { id } = session;
    const [from, to] = ['person:operator', `session:${id}`];
    await store.messages!.send({
      id: 'm-1',
      kind: 'bell',
      act: 'assert',
      from,
      author: 'operator',
      to,
      text: 'hello',
      ref: null,
    });
    await session.setMode({ to: 'diagnose' });
    expect(await session.setMode({ to: 'execute', reason: 'the cause is known' })).toMatchObject({ ok: true });
    await session.detach();
    await store.close();
    const { out } = await here.run('activity', id, '--entries', '--json');
    put(there.root, { 'log.json': JSON.stringify(JSON.parse(out).entries) });
    expect(await there.run('activity', id, '--import', 'log.json')).toMatchObject({ code: 0 });
    expect(await there.run('verify', '--strict')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^foreign {2}\S+ {2}7 entries, /),
    });
    expect(await there.run('grants', '--all')).toMatchObject({ code: 0, out: 'No grant was given.\n', err: '' });
    expect((await there.run('explain', '--session', id, '-t', 'read', 'a')).err).toContain('was imported');
  });

  it('refuses a file that is not a log, and an import into hopgate’s own session', async () => {
    const here = machine({
      'bad.edn': '{:evidence/type :gossip}',
      'good.json': '{"event/type":"x","at":"2026-01-29T12:00:00Z"}',
    });
    await withSession(here);
    const bad = await here.run('activity', 'f', '--import', 'bad.edn');
    expect(bad).toMatchObject({
      code: 1,
      err: expect.stringMatching(/\[0\]\.evidence\/type: .*Nothing was imported/s),
    });
    expect(await here.run('activity', 's-1', '--import', 'good.json')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be added/),
    });
    expect(await here.run('activity', 'f', '--import', 'gone.json')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/gone\.json does not exist/),
    });
    expect((await here.run('sessions')).out).not.toMatch(/^f /m);
  });
});

describe('hopgate erase', () => {
  it('asks for --yes, then erases the bodies and leaves a valid chain', async () => {
    const here = machine();
    await withSession(here);
    const dir = ensureStateDir(here.root, here.env);
    put(dirname(transcriptPath(dir, 's-1')), { 's-1.jsonl': 'what was said\n' });
    const { pending } = approvalsFolder(dir);
    await pendingApprover({ stateDir: dir, root: here.root }).approve(requestOf({ sessionId: 's-1' }));
    expect(pending()).toHaveLength(1);
    expect(await here.run('erase', 's-1')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/4 entries of session s-1\n.*--yes/),
    });
    expect(await here.run('erase', 's-1', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^4 bodies of session s-1 erased, 0 unused blobs/),
    });
    expect(existsSync(transcriptPath(dir, 's-1'))).toBe(false);
    expect(pending()).toEqual([]);
    const store = sqliteStore(evidenceFile(here.root, here.env));
    expect(await verifyChain(store.entries('s-1'))).toMatchObject({ ok: true, count: 4 });
    expect((await store.get('par'))?.body).toBeNull();
    expect((await store.sessions())[0]).toMatchObject({
      agent: 'agent-1',
      pin: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await store.close();
    expect((await here.run('log', 's-1')).out).toMatch(/\(the body was erased\)/);
    expect((await here.run('log', '--operator')).out).toMatch(/^time +code +session +message\n.* s-1 /);
    expect(JSON.parse((await here.run('log', 's-1', '--operator', '--json')).out)).toMatchObject({ sessionId: 's-1' });
    expect((await here.run('log', 's-2', '--operator')).out).toContain('is empty');
    expect(await here.run('log')).toMatchObject({ code: 2, err: expect.stringContaining('--operator') });
  });
});
