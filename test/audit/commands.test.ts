import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { CliCommand } from '../../src/cli/cli-command.ts';
import * as infer from '../../src/cli/commands/evidence/infer.ts';
import * as replayCommand from '../../src/cli/commands/evidence/replay.ts';
import * as seal from '../../src/cli/commands/evidence/seal.ts';
import * as thread from '../../src/cli/commands/evidence/thread.ts';
import * as verify from '../../src/cli/commands/evidence/verify.ts';
import type { Io } from '../../src/cli/io.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import { createSession } from '../../src/session/create-session.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { answering, CONFIG, fivePeripherals, folder, parts, SPECS, yes } from './audited-session.ts';

/** A repository with one session in its store, and the commands over it. */
async function audited() {
  const root = folder({ 'src/a.ts': 'x' });
  const state = folder();
  const env = { PATH: process.env['PATH'], HOME: state, XDG_STATE_HOME: state };
  ensureStateDir(root, env);
  const file = evidenceFile(root, env);
  const store = sqliteStore(file);
  const { clock, ids } = parts();
  const session = await createSession(
    { store, clock, ids, backends: [answering()], approver: yes },
    { specs: SPECS, config: CONFIG, agent: 'agent-1', root: '/repo', unsafeNoSandbox: false, version: '0' },
  );
  await fivePeripherals({ session });
  await store.close();
  const run = async (...argv: string[]) => {
    const out: string[] = [];
    const sink = () =>
      new Writable({
        write(chunk, _encoding, done) {
          out.push(String(chunk));
          done();
        },
      });
    const io: Io = {
      ...({ stdin: process.stdin, isTty: false, color: false } as const),
      stdout: sink(),
      stderr: sink(),
      env,
      cwd: root,
      json: false,
      exitCode: 0,
    };
    const program = new CliCommand('hopgate').option('--json').exitOverride();
    program.hook('preAction', () => {
      io.json = program.opts<{ json?: boolean }>().json === true;
    });
    const commands = { verify, seal, infer, replay: replayCommand, thread };
    for (const [name, { configureCommand }] of Object.entries(commands)) configureCommand(program.command(name), io);
    await program.parseAsync(argv, { from: 'user' });
    return { code: io.exitCode, out: out.join('') };
  };
  return { root, file, id: session.id, run, state };
}

it('verify accepts a clean session and finds violations in a changed store', async () => {
  const { file, id, run } = await audited();
  expect(await run('verify')).toEqual({ code: 0, out: expect.stringContaining(`clean  ${id}`) });
  const db = new DatabaseSync(file);
  db.exec("UPDATE entries SET body = replace(body, 'src/a.ts', 'src/z.ts') WHERE rowid = 8");
  db.close();
  const found = await run('--json', 'verify', id);
  expect(found.code).toBe(1);
  expect(JSON.parse(found.out)).toMatchObject({ ok: false, chain: [{ rule: 'body' }] });
});

it('verify finds removed entries with a seal', async () => {
  const { root, file, id, run, state } = await audited();
  const made = await run('seal', id, '--out', 'a.seal.json');
  expect(made.out).toContain('sealed');
  const key = /keep a copy of (\S+) elsewhere/.exec(made.out)![1]!;
  expect(key.startsWith(state)).toBe(true);
  expect(await run('verify', id, '--seal', 'a.seal.json', '--key', key)).toMatchObject({ code: 0 });
  const db = new DatabaseSync(file);
  db.exec('DELETE FROM entries WHERE rowid = (SELECT max(rowid) FROM entries); UPDATE sessions SET closed = 0');
  // The kept state names the last entry, so a forger removes it, too.
  expect(await run('verify', id)).toMatchObject({ code: 1, out: expect.stringContaining('folds') });
  db.exec('DELETE FROM folds');
  db.close();
  expect(await run('verify', id)).toMatchObject({ code: 0 });
  const found = await run('verify', id, '--seal', 'a.seal.json', '--key', key);
  expect(found).toMatchObject({ code: 1, out: expect.stringContaining('entries were cut off') });
  const text = readFileSync(join(root, 'a.seal.json'), 'utf8');
  writeFileSync(join(root, 'b.seal.json'), text.replace(/"size": \d+/, '"size": 1'));
  expect(await run('verify', id, '--seal', 'b.seal.json', '--key', key)).toMatchObject({
    code: 1,
    out: expect.stringContaining('not signed with this key'),
  });
  await expect(run('verify', id, '--seal', 'a.seal.json', '--key', 'a.seal.json')).rejects.toMatchObject({
    code: 'invalid-seal',
    remedy: expect.stringContaining('public key'),
  });
});

it('infer writes specs under which replay shows no difference', async () => {
  const { id, run } = await audited();
  expect((await run('infer', '--out', 'tight')).out).toContain('Granted, never used');
  expect(await run('replay', '--specs', 'tight', id)).toMatchObject({
    code: 0,
    out: expect.stringContaining('0 would change'),
  });
  expect((await run('infer', '--diff')).out).toContain('-  - write');
});

it('thread shows a session as a tree', async () => {
  const { id, run } = await audited();
  const shown = await run('thread', id);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`session ${id}  closed`) });
  expect(JSON.parse((await run('--json', 'thread', id)).out)).toMatchObject({ violations: [], status: 'closed' });
});
