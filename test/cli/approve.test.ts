import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/program.ts';
import { approvalHash } from '../../src/gate/approvals/approval.ts';
import { openSession } from '../../src/open-session.ts';
import { listPendingRequests } from '../../src/operator/answer-request.ts';
import { operatorTokenFile } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import type { ApprovalRequest } from '../../src/ports/approver.ts';
import { ensureStateDir, stateDir } from '../../src/project/state-dir.ts';
import { isDeep, sample } from '../depth.ts';
import { sessionsWithGrants } from '../operator/support.ts';
import { commitAll, folder, type Machine, machine, put, spawnCli } from './run.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const requestOf = (changes: Partial<Omit<ApprovalRequest, 'hash'>> = {}): ApprovalRequest => {
  const whole = {
    sessionId: 's-1',
    agent: 'builder',
    action: { kind: 'mode', from: 'diagnose', to: 'execute' } as const,
    reason: 'the cause is known',
    view: {},
    ...changes,
  };
  return { ...whole, hash: approvalHash(whole) };
};

async function ask({ root, env }: Machine, changes: Partial<Omit<ApprovalRequest, 'hash'>> = {}) {
  const answer = await pendingApprover({ stateDir: stateDir(root, env), root }).approve(requestOf(changes));
  return answer && 'pending' in answer ? answer.pending : answer;
}

/** Waits for the first request and returns its id. */
async function waitingId({ root, env }: Machine): Promise<string> {
  for (;;) {
    const [item] = listPendingRequests(stateDir(root, env));
    if (item) return item.pending.id;
    await new Promise((done) => setTimeout(done, 20));
  }
}

it('an approval request shows the diff with a line before the files outside of the scope, the effect of a yes, and the age of the tests', async () => {
  const on = machine({ 'src/cart.js': 'export const sum = 1;\n', Makefile: 'all:\n' });
  commitAll(on.root);
  put(on.root, { 'src/cart.js': 'export const sum = 2;\n', Makefile: 'all:\n\techo no\n' });
  vi.stubEnv('XDG_STATE_HOME', on.env['XDG_STATE_HOME']!);
  onTestFinished(() => void vi.unstubAllEnvs());
  const session = await openSession({ root: on.root, agent: 'builder' });
  await session.detach();
  const id = await ask(on, {
    sessionId: session.id,
    action: { kind: 'hop', from: 'test', exit: 'pass', to: 'deploy' },
    view: { changes: { 'src/cart.js': null, Makefile: null } },
  });
  const { out } = await on.type('\n', 'approve', String(id));
  expect(out).toMatch(/a yes opens: deploy: .*bash-git/);
  expect(out).toContain('tests: no run is recorded');
  const at = (text: string) => out.indexOf(text);
  expect(at('b/src/cart.js')).toBeGreaterThan(0);
  expect(at('── outside of the scope')).toBeGreaterThan(at('b/src/cart.js'));
  expect(at('b/Makefile')).toBeGreaterThan(at('── outside of the scope'));
});

it('the first answer to a request counts, and is replaced only with --replace or at the terminal that shows it', async () => {
  const on = machine();
  const id = String(await ask(on));
  expect((await on.run('approve', id, '--yes', '--by', 'mary')).code).toBe(0);
  const again = await on.run('approve', id, '--no');
  expect(again.code).toBe(1);
  expect(again.err).toContain(`${id} was answered already: mary has said yes`);
  expect((await on.run('approve', id, '--no', '--replace', '--by', 'john')).out).toContain('Refused');
  expect((await on.type('yes\n', 'approve', id)).out).toMatch(/john has said no; your answer replaces[\s\S]*Approved/);
  expect((await on.run('approve', id, '--replace')).code).toBe(2);
});

describe('the list of approval requests', () => {
  it('is empty without requests, and creates no files', async () => {
    const on = machine();
    expect(await on.run('approve')).toMatchObject({ code: 0, out: 'No request waits for an answer.\n' });
    expect((await on.run('approve', '--json')).out).toBe('[]\n');
    expect(statSync(stateDir(on.root, on.env), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('shows pending and answered requests', async () => {
    const on = machine();
    const first = await ask(on);
    const second = await ask(on, { reason: 'another' });
    await on.run('approve', String(first), '--yes', '--by', 'mary');
    const { code, out } = await on.run('approve');
    expect(code).toBe(0);
    expect(out).toContain(
      `${first}  now    builder  mode diagnose → execute  approved by mary, not used yet  the cause is known`,
    );
    expect(out).toMatch(new RegExp(`${second}  now    builder  mode diagnose → execute  none yet +another`));
    const [listed] = JSON.parse((await on.run('approve', '--json')).out);
    expect(listed).toMatchObject({
      id: first,
      root: on.root,
      answer: { verdict: 'yes', by: 'mary' },
      request: { reason: 'the cause is known' },
    });
  });

  it('covers one repository, or all', async () => {
    const on = machine();
    const other = folder();
    const dir = stateDir(other, on.env);
    const answer = await pendingApprover({ stateDir: dir, root: other }).approve(requestOf());
    const id = answer && 'pending' in answer ? answer.pending : '';
    const here = await on.run('approve');
    expect(here.out).toBe('No request waits for an answer.\n');
    expect(here.err).toContain('1 more in other repositories: hopgate approve --all-roots');
    expect((await on.run('approve', '--all-roots')).out).toContain(id);
    expect((await on.run('approve', '--root', other)).out).toContain(id);
    const elsewhere = await on.run('approve', id, '--root', on.root, '--yes');
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.err).toContain('List them with "hopgate approve --all-roots".');
    const answered = await on.run('approve', id, '--yes');
    expect({ code: answered.code, out: answered.out.split('\n')[0] }).toEqual({ code: 0, out: `In ${other}:` });
    const mine = await ask(on);
    expect((await on.run('approve', String(mine), '--yes')).out).not.toContain('In ');
  });
});

describe('the text of an approval request', () => {
  const COMMITTED = 'one\n';
  const NOW = 'one\ntwo\n';
  const deploy = (changes: { [path: string]: string | null }, message = 'fix: two') => ({
    action: { kind: 'hop', from: 'test', exit: 'pass', to: 'deploy' } as const,
    view: { fruit: { result: 'pass' }, context: { 'commit-message': message }, changes },
  });

  function changed() {
    const on = machine({ 'src/a.txt': COMMITTED });
    commitAll(on.root);
    put(on.root, { 'src/a.txt': NOW, 'src/new.txt': 'brand new\n' });
    return on;
  }

  it('contains the whole request and the diff, including new files', async () => {
    const on = changed();
    const id = await ask(on, deploy({ 'src/a.txt': sha256(NOW), 'src/new.txt': sha256('brand new\n') }));
    const { code, out, err } = await on.run('approve', String(id));
    for (const line of [
      'builder asks for the hop test → deploy (exit pass)',
      '  reason: the cause is known',
      '  fruit.result: pass',
      '  context.commit-message: fix: two',
      `  changes.src/a.txt: ${sha256(NOW)}`,
      '  the tree against the last commit, as it is now:',
      '+two',
      '+brand new',
      `  sha256 ${listPendingRequests(stateDir(on.root, on.env))[0]?.pending.request.hash}`,
    ])
      expect(out.split('\n')).toContain(line);
    expect(out).not.toContain('not any more');
    expect(code).toBe(2);
    expect(err).toContain(`hopgate approve ${id} --yes`);
    const shown = JSON.parse((await on.run('approve', String(id), '--json')).out);
    expect(shown.tree).toMatchObject({ changedSince: [], problem: null });
    expect(shown.tree.lines).toContain('+two');
  });

  it.runIf(isDeep)('names files that differ from the session’s last state', async () => {
    const on = changed();
    put(on.root, { 'src/back.txt': '' });
    const id = await ask(
      on,
      deploy({ 'src/a.txt': sha256('older'), 'src/gone.txt': sha256(''), 'src/back.txt': null, 'src/never.txt': null }),
    );
    const { out } = await on.run('approve', String(id));
    for (const path of ['src/a.txt', 'src/gone.txt', 'src/back.txt'])
      expect(out).toContain(`${path} differs from this session's last version`);
    expect(out).not.toContain('src/never.txt is not');
  });

  it('escapes invisible characters, and no text imitates hopgate’s own lines', async () => {
    const on = changed();
    put(on.root, { 'src/a.txt': 'one\n\u001b[2Kharmless\u202e\r\n' });
    const message = 'fix: two\n\u001b[1Acolour\n  sha256 0000\u202e';
    const id = await ask(on, {
      ...deploy({ 'src/a.txt': 'x' }, message),
      agent: 'a\u0007',
      reason: 'r\u200b\n  sha256 1111',
    });
    const { out } = await on.run('approve', String(id));
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/);
    expect(out.split('\n').filter((line) => line.startsWith('  sha256'))).toHaveLength(1);
    expect(out).toContain('    │ \\u{1b}[1Acolour');
    expect(out).toContain('+\\u{1b}[2Kharmless\\u{202e}\\u{d}');
  });

  it.runIf(isDeep)('shows the request’s new files first, and counts the omitted ones', async () => {
    const on = changed();
    put(on.root, Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`build/${n}.txt`, `${n}\n`])));
    const id = await ask(on, deploy({ 'src/new.txt': sha256('brand new\n') }));
    const { out } = await on.run('approve', String(id));
    expect(out.split('\n')).toContain('+brand new');
    expect(out).toContain('the diff is incomplete: 51 more new files are not shown');
  });

  it.runIf(isDeep)('does not run programs that the repository names', async () => {
    const on = machine();
    put(on.root, { 'src/a.js': 'one\n', 'inner/x': 'x\n' });
    const git = (...args: string[]) => execFileSync('git', ['-C', on.root, ...args]);
    commitAll(join(on.root, 'inner'));
    commitAll(on.root);
    put(on.root, { 'inner/x': 'y\n' });
    const mark = join(folder(), 'ran');
    const program = join(on.root, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`, { mode: 0o755 });
    for (const key of ['filter.e.clean', 'filter.e.process', 'diff.e.textconv', 'diff.e.command', 'diff.external'])
      git('config', key, program);
    git('config', 'filter.e.required', 'true');
    git('config', 'core.fsmonitor', program);
    execFileSync('git', ['-C', join(on.root, 'inner'), 'config', 'core.fsmonitor', program]);
    put(on.root, { '.gitattributes': '* filter=e diff=e\n', 'src/a.js': 'two\n' });
    const id = await ask(on, deploy({ 'src/a.js': sha256('two\n') }));
    const { out } = await on.run('approve', String(id));
    expect(out).toContain('+two');
    expect(out).not.toContain('the diff is incomplete');
    expect(existsSync(mark) ? readFileSync(mark, 'utf8') : '').toBe('');
  });

  it.runIf(isDeep)('contains the whole tree’s diff if the session itself changed nothing', async () => {
    const on = changed();
    const id = await ask(on, deploy({}));
    const { out } = await on.run('approve', String(id));
    for (const line of ['+two', '+brand new']) expect(out.split('\n')).toContain(line);
  });

  it('says why there is no diff', async () => {
    const on = machine();
    const id = await ask(on, deploy({ 'src/a.txt': 'x' }));
    expect((await on.run('approve', String(id))).out).toMatch(/the diff is incomplete: .* has no \.git/);
  });
});

describe('an answer of the operator', () => {
  it.each([
    ['yes\n', 0, 'yes', 'Approved'],
    ['Y\n', 0, 'yes', 'Approved'],
    ['no\n', 1, 'no', 'Refused'],
    ['\n', 1, undefined, 'still waits'],
    ['yes please\n', 1, undefined, 'still waits'],
  ])('is asked for at a terminal: %j', async (keys, code, verdict, says) => {
    const on = machine();
    const id = await ask(on);
    const ran = await on.type(keys, 'approve', String(id));
    expect(ran).toMatchObject({ code, out: expect.stringContaining(says) });
    expect(listPendingRequests(stateDir(on.root, on.env))[0]?.answer?.verdict).toBe(verdict);
  });

  it('reaches the waiting program with the approver’s name and the time limit', async () => {
    const on = machine();
    const id = String(await ask(on));
    const { out } = await on.run('approve', id.toUpperCase(), '--yes', '--by', 'mary', '--minutes', '5', '--json');
    expect(JSON.parse(out)).toMatchObject({ id, verdict: 'yes', by: 'mary', requestHash: requestOf().hash });
    expect(await ask(on)).toEqual({ by: 'mary', minutes: expect.closeTo(5, 0) });
  });

  it('is no with hopgate approve --no', async () => {
    const on = machine();
    const id = String(await ask(on));
    expect(await on.run('approve', id, '--no')).toMatchObject({ code: 0, out: expect.stringContaining('Refused') });
    expect(await ask(on)).toEqual({ declined: 'operator' });
  });

  it.each([
    [['approve', 'ID', '--yes', '--no'], 2, '--yes and --no exclude each other'],
    [['approve', '--yes'], 2, 'no request is named'],
    [['approve', 'ID', '--watch'], 2, '--watch takes no id'],
    [['approve', '--watch'], 2, '--watch asks at a terminal'],
    [['approve', 'ID', '--yes', '--minutes', '0'], 2, 'from 1 to 1440'],
    [['approve', 'ID', '--yes', '--by', '\u202e'], 2, 'must be a name'],
    [['approve', 'zzzzzz', '--yes'], 1, 'no request "zzzzzz" waits'],
    [['approve', 'ID', '--yes', '--token-file', 'nowhere'], 1, 'there is no token'],
  ])('is refused from %j', async (argv, code, says) => {
    const on = machine();
    const id = String(await ask(on));
    const ran = await on.run(...argv.map((word) => (word === 'ID' ? id : word)));
    expect(ran).toMatchObject({ code, err: expect.stringContaining(says) });
    expect(listPendingRequests(stateDir(on.root, on.env))[0]?.answer).toBeNull();
  });

  it('needs the operator’s token', async () => {
    const on = machine();
    const id = String(await ask(on));
    const file = operatorTokenFile(stateDir(on.root, on.env));
    const other = join(folder(), 'token');
    writeFileSync(other, `hopgate-operator-${'0'.repeat(64)}\n`, { mode: 0o600 });
    const wrong = await on.run('approve', id, '--yes', '--token-file', other);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining(`The token is in ${file}`) });
    expect((await on.run('approve', id, '--yes', '--token-file', file)).code).toBe(0);
    chmodSync(file, 0o644);
    expect(await on.run('approve', id, '--yes')).toMatchObject({ code: 1, err: expect.stringContaining('chmod 600') });
    rmSync(file);
    expect((await on.run('approve', id, '--yes')).code).toBe(0);
  });
});

describe('hopgate approve --watch', () => {
  it('reports a request that was answered elsewhere, and continues', async () => {
    const on = machine();
    const { watching, shown, stdin, prompts, until } = watch(on);
    const id = await ask(on);
    await until(() => prompts(1));
    expect((await on.run('approve', String(id), '--yes')).code).toBe(0);
    expect(await ask(on)).toMatchObject({ by: 'operator' });
    stdin.write('yes\n');
    await until(() => shown.join('').includes('does not wait any longer'));
    expect(shown.join('')).not.toContain('Approved');
    await ask(on, { reason: 'another' });
    await until(() => prompts(2));
    stdin.end();
    stdin.destroy();
    expect(await watching).toBe(0);
  });

  it.runIf(isDeep)('asks for each request once', async () => {
    const on = machine();
    const { watching, shown, stdin, prompts, until } = watch(on);
    await ask(on);
    await until(() => prompts(1));
    stdin.write('yes\n');
    expect(await asked(on)).toMatchObject({ by: 'operator' });
    await ask(on, { reason: 'another' });
    await until(() => prompts(2));
    stdin.write('\n');
    await until(() => shown.join('').includes('still waits'));
    stdin.end();
    stdin.destroy();
    expect(await watching).toBe(0);
    expect(prompts(3)).toBe(false);
  });

  it('rings at the terminal and runs the command of the operator, with the request in variables', async () => {
    const on = machine();
    const variablesFile = join(folder(), 'variables');
    const { watching, shown, stdin, prompts, until } = watch(
      on,
      '--exec',
      `printf '%s' "$HOPGATE_REQUEST_REASON" > ${variablesFile}`,
    );
    await ask(on, { reason: '$(touch /tmp/hopgate-never); `id`' });
    await until(() => prompts(1) && existsSync(variablesFile) && readFileSync(variablesFile, 'utf8') !== '');
    expect(readFileSync(variablesFile, 'utf8')).toBe('$(touch /tmp/hopgate-never); `id`');
    expect(shown.join('')).toContain('\u0007\u001b]9;hopgate: builder asks for mode diagnose → execute\u0007');
    stdin.end();
    stdin.destroy();
    expect(await watching).toBe(0);
  });

  function watch(on: Machine, ...options: string[]) {
    const shown: string[] = [];
    const stdin = new PassThrough();
    const prompts = (n: number) => shown.join('').split('[yes / no / Enter: later]').length - 1 >= n;
    const io: Io = {
      stdout: new Writable({
        write(chunk, _, done) {
          shown.push(String(chunk));
          done();
        },
      }),
      stderr: new Writable({ write: (_chunk, _, done) => done() }),
      stdin,
      isTty: true,
      env: on.env,
      cwd: on.root,
      color: false,
      json: false,
      exitCode: 0,
    };
    const watching = runCli(['approve', '--watch', ...options], io);
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise((done) => setTimeout(done, 10));
    };
    return { watching, shown, stdin, prompts, until };
  }

  async function asked(on: Machine) {
    for (;;) {
      const answer = await ask(on);
      if (typeof answer !== 'string') return answer;
      await new Promise((done) => setTimeout(done, 10));
    }
  }
});

it.runIf(isDeep)('an answer from another process reaches a waiting shell', async () => {
  const on = machine();
  const env = { ...process.env, ...on.env, CI: '1' } as NodeJS.ProcessEnv;
  const shell = on.feed('mode diagnose\nmode execute\nstatus\n', 'shell', '--wait-approval', '60');
  const id = await waitingId(on);
  const approved = await spawnCli(['approve', id, '--yes'], { cwd: folder(), env });
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining('Approved') });
  const { out, err } = await shell;
  expect(out).toContain('mode is execute');
  expect(err).toContain(`answer elsewhere with "hopgate approve ${id}"`);
});

describe('a scenario that needs an approval', () => {
  const scenario = (approve: string) =>
    `title: t\nagent: a\nsteps:\n  - mode: diagnose\n  - mode: { to: execute, reason: to work }\n${approve}`;

  it('continues with the answer from another process', async () => {
    const on = machine({ 's.yaml': scenario('') });
    const run = on.run('run', 's.yaml', '--root', '.', '--wait-approval', '60');
    const id = await waitingId(on);
    await on.run('approve', id, '--yes', '--by', 'mary');
    expect(await run).toMatchObject({ code: 0 });
    expect(listPendingRequests(stateDir(on.root, on.env))).toEqual([]);
  });

  it('asks nobody if the scenario itself answers no', async () => {
    const on = machine({ 's.yaml': scenario('    approve: refused\n    expect: { denied: approval-required }\n') });
    const ran = await on.run('run', 's.yaml', '--root', '.', '--wait-approval', '60');
    expect(ran).toMatchObject({ code: 0 });
    expect(listPendingRequests(stateDir(on.root, on.env))).toEqual([]);
  });
});

describe('a grant on the command line', () => {
  /** A session that asked for EXECUTE, and a function that asks for it again. */
  async function asking() {
    const on = machine();
    const session = await openSession({
      root: on.root,
      agent: 'builder',
      env: () => on.env,
      approver: pendingApprover({ stateDir: ensureStateDir(on.root, on.env), root: on.root }),
      store: join(ensureStateDir(on.root, on.env), 'evidence.db'),
    });
    onTestFinished(() => session.detach());
    const execute = async () => {
      await session.setMode({ to: 'discuss', summary: 'done' });
      await session.setMode({ to: 'diagnose' });
      return (await session.setMode({ to: 'execute', reason: 'the cause is known' })).ok;
    };
    expect(await execute()).toBe(false);
    return { on, execute, id: await waitingId(on) };
  }

  it('is given, listed, used and revoked', async () => {
    const { on, execute, id } = await asking();
    vi.stubEnv('XDG_STATE_HOME', on.env['XDG_STATE_HOME']);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await on.run('grants')).out).toBe('No grant is valid now.\n');
    const answered = await on.run('approve', id, '--yes', '--by', 'mary', '--times', '5', '--for', '30');
    expect(answered).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Granted: \w{6}, 5 times, until .*hopgate grants/s),
    });
    expect([await execute(), await execute()]).toEqual([true, true]);
    const [grant] = JSON.parse((await on.run('grants', '--json')).out);
    expect(grant).toMatchObject({ by: 'mary', used: 2, over: null, limits: { uses: 5 } });
    expect((await on.run('grants')).out).toMatch(/mode diagnose → execute +2 of 5/);
    expect((await on.run('grants', '--revoke', 'nothing')).err).toContain('there is no grant "nothing"');
    const revoked = await on.run('grants', '--revoke', grant.id, '--by', 'ann');
    expect(revoked.out).toContain('It covers no further request.');
    expect(await execute()).toBe(false);
    expect((await on.run('grants', '--all')).out).toContain('ann');
  });

  const ALTERATIONS = [
    ["UPDATE entries SET body = json_set(body, '$.version', 'x') WHERE session_id = ? AND seq = 0", 'the first entry'],
    ["UPDATE entries SET head = 'x' WHERE session_id = ? AND seq = 0", 'is not JSON'],
  ] as const;
  it.each(sample(ALTERATIONS, 2))('is listed even if another session was altered: %s', async (sql, problem) => {
    const on = machine();
    const { ids, grants } = await sessionsWithGrants(on, (db, id) => db.prepare(sql).run(id));
    const listed = await on.run('grants', '--json');
    expect(JSON.parse(listed.out)).toMatchObject([{ session: ids[1], id: grants[1] }]);
    expect(listed).toMatchObject({ code: 1, err: expect.stringContaining(problem) });
    expect(listed.err).toContain(`cannot list the grants of session ${ids[0]}`);
    expect((await on.run('sessions')).out).toContain(ids[0]);
    expect((await on.run('verify', ids[1]!)).code).toBe(0);
    expect((await on.run('grants', '--revoke', grants[0]!)).out).toContain('It covers no further request.');
  });

  it('is refused if the request itself is outside of its limits', async () => {
    const on = machine();
    const id = await ask(on);
    expect(await on.run('approve', String(id), '--yes', '--changed-files')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no file is changed'),
    });
    expect((await on.run('approve', '--json')).out).toContain('"answer": null');
  });
});
