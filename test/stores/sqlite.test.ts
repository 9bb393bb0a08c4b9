import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveReviewDocument } from '../../src/agency/par/serve-document.ts';
import { openRunJournal } from '../../src/agency/run-journal.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { openEvidenceFile } from '../../src/open-evidence.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { describeEvidenceStore } from '../contracts/evidence-store.ts';
import { depth, isDeep } from '../depth.ts';
import { conversation, draft, opening } from '../evidence/drafts.ts';

describeEvidenceStore('sqlite', async (clock) => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-store-'));
  const file = join(folder, 'evidence.db');
  let store = sqliteStore(file, { clock });
  const reopen = async () => {
    await store.close();
    store = sqliteStore(file, { clock });
    return store;
  };
  return { store, reopen, cleanup: async () => rmSync(folder, { recursive: true }) };
});

const TTL = 60_000;
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-sqlite-'));
  file = join(folder, 'evidence.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Runs a writing process; resolves with the lines it said, once it ended. With `killAfter` lines it is killed without
 * warning.
 */
function runWriter(
  holder: string,
  appends: number,
  sessionIds: readonly string[],
  killAfter = Number.POSITIVE_INFINITY,
) {
  const script = join(import.meta.dirname, 'writer.ts');
  const child = spawn(process.execPath, [script, file, holder, String(appends), ...sessionIds], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  return new Promise<{ lines: string[]; code: number | null }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ lines: output.split('\n').slice(0, -1), code }));
  });
}

describe('the write-ahead log of the store', () => {
  it.runIf(isDeep)('is checkpointed at its maximum number of pages', async () => {
    const pages = async (options: object): Promise<number> => {
      const store = sqliteStore(file, options);
      let lease = await store.acquire('s', 'w', TTL);
      for (let i = 0; i < 100; i++) {
        await store.release(lease);
        lease = await store.acquire('s', 'w', TTL);
      }
      const { size } = statSync(`${file}-wal`);
      await store.close();
      return size / 4096;
    };
    expect(await pages({ checkpointPages: 16 })).toBeLessThan(64);
    expect(await pages({})).toBeGreaterThan(100);
  });
});

describe('group commit', () => {
  it('makes the appends of many sessions durable in few transactions', async () => {
    const commits: number[] = [];
    const store = sqliteStore(file, { onCommit: (writes) => commits.push(writes) });
    const ids = Array.from({ length: 100 }, (_, index) => `s-${index}`);
    const leases = await Promise.all(ids.map((id) => store.acquire(id, 'w-1', TTL)));
    expect(commits).toEqual([100]);
    await Promise.all(leases.map((lease) => store.append(lease, EMPTY_CHAIN, [opening(lease.sessionId)])));
    expect(commits).toEqual([100, 100]);
    await store.close();
  });

  it('answers only after the commit', async () => {
    const order: string[] = [];
    const store = sqliteStore(file, { onCommit: () => order.push('commit') });
    const lease = await store.acquire('s-1', 'w-1', TTL);
    await store.append(lease, EMPTY_CHAIN, [opening('s-1')]).then(() => order.push('answer'));
    expect(order).toEqual(['commit', 'commit', 'answer']);
    await store.close();
  });
});

it('a forged lease without end is shortened, and the refusal names the shorter end', async () => {
  const now = Date.now();
  const store = sqliteStore(file, { clock: { now: () => now } });
  await store.acquire('s-1', 'w-1', TTL);
  const db = new DatabaseSync(file);
  db.exec(`UPDATE leases SET until = ${Number.MAX_SAFE_INTEGER}`);
  const end = new Date(Math.ceil(now + TTL * 1.125)).toISOString();
  const busy = { code: 'session-busy', message: expect.stringContaining(`by w-1 until ${end}`) };
  await expect(store.acquire('s-1', 'w-2', TTL)).rejects.toMatchObject(busy);
  await vi.waitFor(() =>
    expect(new Date(Number(db.prepare('SELECT until FROM leases').get()!['until'])).toISOString()).toBe(end),
  );
  db.exec(`UPDATE leases SET until = ${Number.MIN_SAFE_INTEGER}`);
  expect(await store.acquire('s-1', 'w-2', TTL)).toMatchObject({ holder: 'w-2' });
  db.close();
  await store.close();
});

it('a session whose labels are altered hides no other session', async () => {
  const store = sqliteStore(file);
  await store.append(await store.acquire('s-1', 'w-1', 60_000), EMPTY_CHAIN, conversation('s-1', 1));
  const db = new DatabaseSync(file);
  db.exec('UPDATE sessions SET archived = 9223372036854775807, closed = 9223372036854775807');
  db.close();
  expect(await store.sessions()).toMatchObject([{ sessionId: 's-1', archived: false, closed: false }]);
  await store.close();
});

describe('several processes on one file', () => {
  it.runIf(isDeep)('write their sessions in turn, and only one of them gets a session that two want', async () => {
    const runs = await Promise.all([runWriter('w-1', 30, ['a', 'both']), runWriter('w-2', 30, ['b', 'both'])]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const store = sqliteStore(file);
    for (const id of ['a', 'b', 'both']) {
      expect(await verifyChain(store.entries(id))).toMatchObject({ ok: true, count: 30 });
    }
    expect(runs.flatMap(({ lines }) => lines.filter((line) => line.startsWith('!')))).toEqual(['!session-busy both']);
    expect(await store.notes()).toMatchObject([{ code: 'session-busy', sessionId: 'both' }]);
    await store.close();
  });

  it('open a new file that another process creates between two reads of this process', async () => {
    const { prepare } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql) {
      const statement = prepare.call(this, sql);
      const get = statement.get.bind(statement);
      if (sql === 'PRAGMA application_id')
        statement.get = () => {
          const row = get();
          spy.mockRestore();
          try {
            void sqliteStore(file, { busyMs: 0 }).close();
          } catch {
            // The first one holds a lock.
          }
          return row;
        };
      return statement;
    });
    const store = sqliteStore(file);
    expect(await store.sessions()).toEqual([]);
    await store.close();
  });

  it('refuse an append whose chain has moved in another process', async () => {
    const [here, there] = [sqliteStore(file), sqliteStore(file)];
    const lease = await here.acquire('s-1', 'w-1', TTL);
    await there.append(lease, EMPTY_CHAIN, [opening('s-1')]);
    const stale = here.append(lease, EMPTY_CHAIN, [draft({ id: 'stale' })]);
    await expect(stale).rejects.toMatchObject({ code: 'chain-conflict' });
    await Promise.all([here.close(), there.close()]);
  });

  it('fail a write with a clear error while another holds the lock, and succeed later', async () => {
    const store = sqliteStore(file, { busyMs: 20 });
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.acquire('s-1', 'w-1', TTL)).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/another process kept .* locked.*try again/),
    });
    other.exec('ROLLBACK');
    await expect(store.acquire('s-1', 'w-1', TTL)).resolves.toMatchObject({ holder: 'w-1' });
    other.close();
    await store.close();
  });
});

describe('a crash of writing processes', () => {
  // test/session/crash.test.ts has such a test in `npm test`.
  it.runIf(isDeep)('loses no acknowledged entry', async () => {
    expect(await runWriter('w-0', 10, ['whole'])).toMatchObject({ code: 0 });
    for (let round = 0; round < 3; round++) {
      const runs = [0, 1, 2, 3].map(async (writer) => {
        const ids = ['a', 'b'].map((name) => `${round}-${writer}-${name}`);
        return { ids, ...(await runWriter(`w-${writer}`, 100_000, ids, 1 + Math.floor(Math.random() * 30))) };
      });
      const ended = await Promise.all(runs);
      const store = sqliteStore(file);
      for (const { ids, lines, code } of ended) {
        expect(code, 'killed').toBeNull();
        expect(lines.length).toBeGreaterThan(0);
        const lost = [];
        for (const id of lines) if ((await store.get(id)) === null) lost.push(id);
        expect(lost).toEqual([]);
        for (const id of ids) expect(await verifyChain(store.entries(id))).toMatchObject({ ok: true });
      }
      await store.close();
    }
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

it.each<readonly [string, (file: string) => void]>([
  ['removed', (file) => rmSync(file)],
  ['renamed', (file) => renameSync(file, `${file}.away`)],
  [
    'replaced',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
])('a store whose open file is %s acknowledges no more entries', async (_, change) => {
  const store = sqliteStore(file);
  const [first, second] = conversation('s-1', 2);
  const lease = await store.acquire('s-1', 'w-1', TTL);
  const [stored] = await store.append(lease, EMPTY_CHAIN, [first!]);
  change(file);
  const lost = { code: 'store-failed', message: expect.stringContaining('it was removed or replaced') };
  await expect(store.append(lease, stored!.entry, [second!])).rejects.toMatchObject(lost);
  expect(store.failed).toBe(true);
  await store.close();
});

describe.skipIf(!canMount)('a full disk (mounting a small one needs root)', () => {
  let disk: string;
  beforeEach(() => {
    disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk]);
    file = join(disk, 'evidence.db');
  });
  afterEach(() => execFileSync('umount', ['--lazy', disk]));

  it.each([0, 4096, 20_480, 45_056, 61_440])(
    'is named in the error when a store is opened with %i bytes left',
    (left) => {
      writeFileSync(join(disk, 'fill'), Buffer.alloc((1 << 20) - left));
      expect(() => sqliteStore(file)).toThrow(/cannot open .*no space is left on its disk; free some/);
      rmSync(join(disk, 'fill'));
    },
  );

  it('is named in the errors of the other databases', async () => {
    writeFileSync(join(disk, 'fill'), Buffer.alloc(1 << 20));
    const reason = /cannot use .*no space is left on its disk; free some/;
    expect(() => openRunJournal(file)).toThrow(reason);
    await expect(serveReviewDocument({ file, name: 'd', host: '', port: 0, admits: () => true })).rejects.toThrow(
      reason,
    );
  });

  it('does not keep a closed store from being read', async () => {
    const store = sqliteStore(file);
    const [first] = conversation('s-1', 2);
    await store.append(await store.acquire('s-1', 'w-1', TTL), EMPTY_CHAIN, [first!]);
    await store.close();
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'fill'), Buffer.alloc(bavail * bsize));
    const read = openEvidenceFile(file, 'read');
    expect(await read.head('s-1')).toMatchObject({ seq: 0 });
    await read.close();
  });

  it('stops the store at the first failed write; acknowledged entries are there after reopening', async () => {
    const store = sqliteStore(file);
    const leases = await Promise.all(['s-1', 's-2', 's-3'].map((id) => store.acquire(id, 'w-1', TTL)));
    const acknowledged: string[] = [];
    const failures: unknown[] = [];
    await Promise.all(
      leases.map(async (lease) => {
        const { sessionId } = lease;
        let head = EMPTY_CHAIN;
        for (const entry of conversation(sessionId, 5000)) {
          try {
            const body = { event: 'step', filler: 'x'.repeat(5000) };
            const [stored] = await store.append(lease, head, [entry.id.endsWith('open') ? entry : { ...entry, body }]);
            head = { seq: stored!.entry.seq, hash: stored!.entry.hash };
            acknowledged.push(entry.id);
          } catch (error) {
            failures.push(error);
            return;
          }
        }
      }),
    );
    const failed = {
      code: 'store-failed',
      message: expect.stringMatching(/cannot write \S+evidence.db: .*free space.*open the store/),
    };
    expect(failures).toMatchObject([failed, failed, failed]);
    expect(acknowledged.length).toBeGreaterThan(10);

    // Free space alone does not repair the store, because the result of the failed write is unknown.
    execFileSync('mount', ['-o', 'remount,size=64m', disk]);
    await expect(store.note({ at: '', code: '', sessionId: null, message: '' })).rejects.toMatchObject(failed);
    await expect(store.acquire('s-1', 'w-1', TTL)).rejects.toMatchObject(failed);
    expect(await store.get(acknowledged[0]!)).not.toBeNull();
    await store.close();

    const again = sqliteStore(file);
    let count = 0;
    for (const { sessionId } of leases) {
      const check = await verifyChain(again.entries(sessionId));
      expect(check).toMatchObject({ ok: true });
      count += check.ok ? check.count : 0;
      const lease = await again.acquire(sessionId, 'w-1', TTL);
      await again.append(lease, await again.head(sessionId), [draft({ id: `${sessionId}-after`, sessionId })]);
    }
    expect(count).toBe(acknowledged.length);
    await again.close();
  });
});

const hasCompiler = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

describe.skipIf(!hasCompiler)('a failing disk (making calls fail needs Linux and cc)', () => {
  interface Run {
    readonly fired: boolean;
    readonly failure: string | null;
    readonly tookMore: boolean;
    readonly lost: readonly string[];
    readonly ok: boolean;
  }

  it.each(depth(['sync'], ['write', 'sync']))(
    'loses no acknowledged entry if %s fails, and the store then accepts no writes',
    (kind) => {
      const library = join(folder, 'fault.so');
      execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(import.meta.dirname, 'fault.c'), '-ldl']);
      const script = join(import.meta.dirname, 'fault-loop.ts');
      const env = { ...process.env, LD_PRELOAD: library };
      const runs: Run[] = JSON.parse(execFileSync(process.execPath, [script, folder, kind], { env, encoding: 'utf8' }));
      expect(runs.length).toBeGreaterThan(10);
      expect(runs.map(({ fired }) => fired)).toEqual([...runs.slice(1).map(() => true), false]);
      for (const run of runs) {
        expect(run).toMatchObject({ lost: [], ok: true, tookMore: false });
        expect([null, 'store-failed']).toContain(run.failure);
      }
      expect(runs.filter(({ failure }) => failure !== null).length).toBeGreaterThan(5);
      expect(runs.at(-1)?.failure).toBeNull();
    },
  );
});

describe('the store’s file', () => {
  it('is private, in a private folder', async () => {
    file = join(folder, 'deep', 'er', 'evidence.db');
    const store = sqliteStore(file);
    await store.acquire('s-1', 'w-1', TTL);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([mode(join(folder, 'deep')), mode(join(folder, 'deep', 'er'))]).toEqual(['700', '700']);
    expect([file, `${file}-wal`, `${file}-shm`].map(mode)).toEqual(['600', '600', '600']);
    await store.close();
  });

  it.each([
    [99, /a newer hopgate wrote it \(schema 99, this one knows 8\); upgrade/],
    [1, /its schema 1 is from before 0\.1\.0; name another file/],
  ])('of schema %i is refused and left unchanged', async (version, message) => {
    await sqliteStore(file).close();
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    expect(() => sqliteStore(file)).toThrow(message);
  });

  it('of another program is refused and left unchanged', () => {
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE theirs (x)');
    db.close();
    const before = readFileSync(file);
    expect(() => sqliteStore(file)).toThrow(/database of another program/);
    expect(readFileSync(file).equals(before)).toBe(true);
    writeFileSync(file, 'this is not a database, but a text that is long enough to look at'.repeat(20));
    expect(() => sqliteStore(file)).toThrow(/^\[stores\/sqlite\] cannot open .*not a database/);
  });

  it('that is a link to a device is refused, and the device keeps its mode', () => {
    symlinkSync('/dev/full', file);
    const { mode } = statSync('/dev/full');
    expect(() => sqliteStore(file)).toThrow(/cannot open .*: it is not a regular file; move it away/);
    expect(statSync('/dev/full').mode).toBe(mode);
  });

  it.each<[string, string, string, object[]]>([
    ['a letter of a body', '"path":"src/a.ts"', '"path":"src/b.ts"', [{ rule: 'body' }]],
    ['a letter of a head', '"claim":"step"', '"claim":"stop"', [{ rule: 'hash' }]],
    ['the spelling of a head', '{"at":"2026-01-31T09:00:02', '["at":"2026-01-31T09:00:02', [{ rule: 'canonical' }]],
    ['a seq', '"seq":2', '"seq":0', [{ rule: 'hash' }, { rule: 'seq' }, { rule: 'seq' }]],
  ])('fails the verification after a change on disk in %s', async (_what, from, to, problems) => {
    const store = sqliteStore(file);
    const lease = await store.acquire('s-1', 'w-1', TTL);
    await store.append(lease, EMPTY_CHAIN, conversation('s-1', 3));
    await store.close();
    const bytes = readFileSync(file, 'latin1');
    const at = bytes.lastIndexOf(from);
    expect(at).toBeGreaterThan(0);
    writeFileSync(file, bytes.slice(0, at) + to + bytes.slice(at + to.length), 'latin1');
    const again = sqliteStore(file);
    const check = await verifyChain(again.entries('s-1'));
    expect(check).toMatchObject({ ok: false, problems });
    await again.close();
  });
});
