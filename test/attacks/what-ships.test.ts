import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { ShipmentCollector } from '../../src/evidence/shipments.ts';
import { openSession } from '../../src/open-session.ts';
import type { ApprovalRequest, Approver } from '../../src/ports/approver.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { Session } from '../../src/session/session.ts';
import { describeNewSubAgent } from '../../src/session/sub-agent.ts';
import type { ProjectConfig } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { diffOfWorkingTree } from '../../src/tools/tree/tree-diff.ts';
import { builtOnce } from '../built-once.ts';
import { isDeep } from '../depth.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { gitScript, INIT_WITH_REMOTE } from '../git-script.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const CONFIG: Partial<ProjectConfig> = {
  scopes: { edit: ['src/'] },
  test: [{ run: ['sh', 'test.sh'], report: 'none' }],
  deploy: { staging: { run: ['cat', 'src/a.txt'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  mask: ['.env'],
};

const copyRepository = builtOnce((folder) => {
  const [root, remote] = [join(folder, 'work'), join(folder, 'remote.git')];
  mkdirSync(join(root, 'src'), { recursive: true });
  for (const path of ['src/a.txt', 'src/b.txt', 'src/c.txt', 'notes.txt']) writeFileSync(join(root, path), `${path}\n`);
  writeFileSync(join(root, 'test.sh'), 'test -e src/a.txt\n');
  writeFileSync(join(root, '.gitignore'), 'dist/\n');
  gitScript(root, 'o', INIT_WITH_REMOTE, remote);
});

/** A repository with a remote, and the changes of its files by a person or another program. */
function world() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-ships-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  copyRepository(folder);
  const [root, remote] = [join(folder, 'work'), join(folder, 'remote.git')];
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return { root, remote, put, first: git(root, 'rev-parse', 'HEAD') };
}

type World = ReturnType<typeof world>;

const answers = { ok: (request: ApprovalRequest): void => void request };

/** The evidence of a session, judged; `forge` changes the body of each entry first. */
async function verified(session: Session, forge: (body: { [name: string]: never }) => void = () => {}) {
  const entries = await session.evidence();
  const verdict = await verifyConstraints(
    { specs: session.specs, config: session.config },
    entries.map((entry) => {
      const body = structuredClone(entry.body) as { [name: string]: never };
      forge(body);
      return { entry: { ...entry, body }, head: '', body: '' };
    }),
  );
  return verdict.violations.map(({ rule, message }) => `${rule}: ${message}`);
}

/** The lines of `hopgate verify` about the trees of a session. */
async function shipmentsOf(session: Session) {
  const collected = new ShipmentCollector();
  for (const entry of await session.evidence()) collected.add(entry, (peripheral) => peripheral === 'deploy');
  return collected.all;
}

/** A session that has changed src/a.txt, with the message `change a`, and is in test. */
async function edited(
  { root }: World,
  agent = 'one',
  config: Partial<ProjectConfig> = {},
  store: EvidenceStore | 'memory' = 'memory',
): Promise<Session> {
  const session = await openSession({ specs: fixtureSpecs, root, agent, store, config: { ...CONFIG, ...config } });
  onTestFinished(() => session.detach());
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.setMode({ to: 'execute', reason: 'to work' }, { approver: yes() }));
  await must(session.start('edit', { by: 'operator' }));
  await must(session.step({ tool: 'write', args: { path: 'src/a.txt', content: `by ${agent}\n` } }));
  const fruit = { 'commit-message': 'change a' };
  await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
  return session;
}

/** An operator who says yes, and what happens while they read. */
const yes = (meanwhile: (request: ApprovalRequest) => void = answers.ok): Approver => ({
  via: 'approver',
  approve: async (request) => {
    meanwhile(request);
    return { by: 'operator' };
  },
});

/** The requests that the operator got. */
async function askedOf(work: (meanwhile: (request: ApprovalRequest) => void) => Promise<unknown>) {
  const asked: ApprovalRequest[] = [];
  await work((request) => void asked.push(request));
  return asked;
}

const test = (session: Session) => must(session.step({ tool: 'bash-test', args: {} }));
const toDeploy = (session: Session, meanwhile?: (request: ApprovalRequest) => void) =>
  session.hop({ to: 'deploy', exit: 'pass', reason: 'it passes' }, { approver: yes(meanwhile) });
const bashGit = (session: Session, sub: string, ...args: string[]) =>
  session.step({ tool: 'bash-git', args: { sub, args } });

async function must<T extends { readonly ok: boolean }>(answer: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const given = await answer;
  if (!given.ok) throw new Error(JSON.stringify((given as { denial?: unknown }).denial));
  return given as Extract<T, { ok: true }>;
}

/** The texts of a refusal or a tool's failure: code, message and remedy. */
async function refused(answer: Promise<object>): Promise<string> {
  const given = (await answer) as { denial?: { code: string; message: string; remedy: string }; error?: object };
  if (given.denial) return `${given.denial.code}: ${given.denial.message} → ${given.denial.remedy}`;
  if (given.error) return JSON.stringify(given.error);
  throw new Error(`it was allowed: ${JSON.stringify(given)}`);
}

/** Commits and pushes the approved changes; returns the commit's id. */
async function ship(session: Session, { root, remote }: World): Promise<string> {
  await must(bashGit(session, 'add', '-A'));
  expect(await must(bashGit(session, 'commit'))).toMatchObject({ result: { committed: true, stderr: '' } });
  expect(await must(bashGit(session, 'push'))).toMatchObject({ result: { pushed: true, stderr: '' } });
  expect(git(remote, 'rev-parse', 'main')).toBe(git(root, 'rev-parse', 'HEAD'));
  return git(root, 'rev-parse', 'HEAD');
}

/** Back from deploy to test, through reflect and edit. */
async function backToTest(session: Session, content?: string): Promise<void> {
  await must(session.hop({ to: 'reflect', exit: 'blocked', reason: 'the files are others now' }));
  await must(session.hop({ to: 'explore', exit: 'hop-explore', reason: 'to see' }));
  await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'to mend' }));
  if (content !== undefined) await must(session.step({ tool: 'write', args: { path: 'src/a.txt', content } }));
  const fruit = { 'commit-message': 'change a' };
  await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
}

it.runIf(isDeep)(
  'the refusal to push a branch that is not checked out names the branch of the approved commit',
  async () => {
    const here = world();
    git(here.root, 'checkout', '-q', '-b', 'topic');
    const session = await edited(here);
    await test(session);
    await must(toDeploy(session));
    await must(bashGit(session, 'add', 'src/a.txt'));
    await must(bashGit(session, 'commit'));
    expect(await refused(bashGit(session, 'push'))).toMatch(/The push sends main, .* goes to topic, .* check out main/);
  },
);

describe('a shipment of the tested and approved files', () => {
  it('contains nothing else: other changes, staged or not, stay unchanged and are listed in the approval', async () => {
    const here = world();
    const { root, put, first } = here;
    put('src/b.txt', 'staged by the operator\n');
    git(root, 'add', 'src/b.txt');
    put('src/c.txt', 'not staged\n');
    put('new.txt', 'new\n');
    const session = await edited(here);
    await test(session);
    const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
    const { tested, ships } = asked!.view as never as Record<string, Record<string, unknown>>;
    expect(tested).toMatchObject({ kind: 'git', head: first, tests: ['sh test.sh'] });
    expect(ships).toMatchObject({ files: ['src/a.txt'], left: ['new.txt', 'src/b.txt', 'src/c.txt'], base: first });
    expect(asked!.view).toMatchObject({ context: { 'commit-message': 'change a' } });
    const sha = await ship(session, here);
    expect(git(root, 'rev-parse', `${sha}^{tree}`)).toBe(ships!['tree']);
    expect(git(root, 'show', '--name-only', '--format=%s', sha)).toBe('change a\n\nsrc/a.txt');
    expect(git(root, 'status', '--short')).toBe('M  src/b.txt\n M src/c.txt\n?? new.txt');
  });

  it.runIf(isDeep)('lists the other commits that a push would send, and sends no others', async () => {
    const here = world();
    const { root, remote, put } = here;
    put('src/c.txt', 'unpushed\n');
    git(root, 'commit', '-qam', 'the operator’s own');
    const session = await edited(here);
    await test(session);
    const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
    expect(asked!.view).toMatchObject({ ships: { commits: [{ subject: 'the operator’s own' }], more: 0 } });
    await must(bashGit(session, 'add', '-A'));
    await must(bashGit(session, 'commit'));
    put('src/c.txt', 'again\n');
    git(root, 'commit', '-qam', 'after the approval');
    expect(await refused(bashGit(session, 'push'))).toContain('not the commit that was approved');
    git(root, 'reset', '-q', '--hard', 'HEAD~1');
    git(remote, 'update-ref', '-d', 'refs/heads/main');
    expect(await refused(bashGit(session, 'push'))).toContain('more commits than were shown');
  });
});

it.runIf(isDeep)('a push sends no commit that the approval did not list, and only the approved author', async () => {
  const here = world();
  const { root, put } = here;
  put('src/c.txt', 'hidden\n');
  git(root, 'commit', '-qam', 'hidden');
  // A stale or made-up ref says that the remote already has the commit.
  git(root, 'update-ref', 'refs/remotes/origin/gone', 'HEAD');
  git(root, 'checkout', '-q', '-b', 'agent/x');
  const branch = ['main', 'agent/*'];
  const author = 'John D. <o@example.com>';
  const session = await edited(here, 'one', { git: { remote: 'origin', branch }, commits: { author } });
  await test(session);
  const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
  expect(asked!.view).toMatchObject({ ships: { commits: [], author: 'John D <o@example.com>' } });
  await must(bashGit(session, 'commit'));
  const approved = git(root, 'rev-parse', 'HEAD');
  git(root, 'commit', '-q', '--amend', '--no-edit', '--author=Boss <boss@example.com>');
  expect(await refused(bashGit(session, 'push'))).toContain('not the commit that was approved');
  git(root, 'reset', '-q', approved);
  expect(await refused(bashGit(session, 'push'))).toContain('more commits than were shown');
  git(root, 'push', '-q', 'origin', `${approved}~1:refs/heads/known`);
  expect(await must(bashGit(session, 'push'))).toMatchObject({ result: { pushed: true } });
  expect(await verified(session)).toEqual([]);
});

it.runIf(isDeep)(
  'a file with a working-tree-encoding is shipped, and a file that is not in its encoding is refused at the test',
  async () => {
    const here = world();
    const { root, put } = here;
    put('.gitattributes', '*.u16 working-tree-encoding=UTF-16LE-BOM text\n*.l1 working-tree-encoding=SHIFT-JIS\n');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'attributes');
    const session = await edited(here);
    writeFileSync(join(root, 'src/b.l1'), Buffer.from([0x83, 0x0a]));
    const { result } = await must(session.step({ tool: 'bash-test', args: {} }));
    expect(JSON.stringify(result)).toContain("failed to encode 'src/b.l1' from SHIFT-JIS");
    expect(await refused(toDeploy(session))).toContain('failed to encode');
    rmSync(join(root, 'src/b.l1'));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'to write it' }));
    await must(session.step({ tool: 'bash', args: { command: "printf '\\377\\376h\\0\\n\\0' > src/a.u16" } }));
    const fruit = { 'commit-message': 'change a' };
    await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
    await test(session);
    await must(toDeploy(session));
    await ship(session, here);
    expect(git(root, 'show', 'HEAD:src/a.u16')).toBe('h');
  },
);

it.runIf(isDeep)('a file that a glob of the scope grants is shipped, and an excluded one is not', async () => {
  const here = world();
  const session = await edited(here, 'one', { scopes: { edit: ['src/*.txt', '!src/b.txt'] } });
  here.put('src/b.txt', 'theirs\n');
  await test(session);
  const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
  expect(asked!.view).toMatchObject({ ships: { files: ['src/a.txt'], left: ['src/b.txt'] } });
  await ship(session, here);
});

it.runIf(isDeep)('a commit moves only the approved branch', async () => {
  const here = world();
  const { root, first } = here;
  const session = await edited(here);
  await test(session);
  const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
  expect(asked!.view).toMatchObject({ ships: { onto: 'refs/heads/main' } });
  await must(bashGit(session, 'add', '-A'));
  for (const ref of ['refs/heads/other', 'refs/remotes/origin/main']) {
    git(root, 'update-ref', ref, first);
    git(root, 'symbolic-ref', 'HEAD', ref);
    expect(await refused(bashGit(session, 'commit'))).toContain(`HEAD names ${ref} now`);
    expect(git(root, 'rev-parse', ref)).toBe(first);
  }
  git(root, 'checkout', '-q', '--detach');
  expect(await refused(bashGit(session, 'commit'))).toContain('HEAD names no branch now');
  git(root, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  await ship(session, here);
});

describe('the address of a push', () => {
  it.runIf(isDeep)('is part of the request, and a push reaches no other address', async () => {
    const here = world();
    const { root, remote } = here;
    const elsewhere = `${remote}-2`;
    git(root, 'init', '-q', '--bare', '-b', 'main', elsewhere);
    const session = await edited(here);
    await test(session);
    const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
    expect(asked!.view).toMatchObject({ ships: { to: remote } });
    await must(bashGit(session, 'add', '-A'));
    await must(bashGit(session, 'commit'));
    git(root, 'remote', 'set-url', '--push', 'origin', elsewhere);
    expect(await refused(bashGit(session, 'push'))).toContain(`The remote is at ${elsewhere}, not at ${remote}`);
    expect(git(elsewhere, 'for-each-ref')).toBe('');
    git(root, 'config', '--unset', 'remote.origin.pushurl');
    expect(await must(bashGit(session, 'push'))).toMatchObject({ result: { pushed: true } });
  });
});

describe('a version, staged by the operator, of a file that the session changed', () => {
  const stageOther = ({ root, put }: World) => {
    const now = readFileSync(join(root, 'src/a.txt'), 'utf8');
    put('src/a.txt', 'half of the operator’s\n');
    git(root, 'add', 'src/a.txt');
    put('src/a.txt', now);
    return git(root, 'rev-parse', ':src/a.txt');
  };

  it.runIf(isDeep)(
    'is named in the approval request by its blob, is not committed, and is reported when the session’s version replaces it',
    async () => {
      const here = world();
      const session = await edited(here);
      const blob = stageOther(here);
      await test(session);
      const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
      expect(asked!.view).toMatchObject({ ships: { files: ['src/a.txt'], replaces: { 'src/a.txt': blob } } });
      expect(await refused(bashGit(session, 'commit'))).toContain('Stage it again');
      expect(await must(bashGit(session, 'add', '-A'))).toMatchObject({ result: { replaced: { 'src/a.txt': blob } } });
      await must(bashGit(session, 'commit'));
      expect(git(here.root, 'show', 'HEAD:src/a.txt')).toBe('by one');
      expect(git(here.root, 'cat-file', '-p', blob)).toBe('half of the operator’s');
      expect(await verified(session)).toEqual([]);
    },
  );

  it.runIf(isDeep)('is also reported if it was staged after the approval', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    await must(toDeploy(session));
    const blob = stageOther(here);
    expect(await must(bashGit(session, 'add', '-A'))).toMatchObject({ result: { replaced: { 'src/a.txt': blob } } });
    await ship(session, here);
    expect(git(here.root, 'show', 'HEAD:src/a.txt')).toBe('by one');
  });
});

describe('another program’s change', () => {
  const change = ({ put }: World) => put('src/b.txt', 'by the editor\n');

  it.runIf(isDeep)('during the tests makes their pass invalid', async () => {
    const here = world();
    here.put(
      'test.sh',
      'echo begun; n=0; until grep -q editor src/b.txt || [ $((n += 1)) = 200 ]; do sleep 0.05; done\n',
    );
    git(here.root, 'commit', '-qam', 'slow');
    const session = await edited(here);
    const onOutput = () => change(here);
    const ended = await must(session.step({ tool: 'bash-test', args: {}, onOutput }));
    const { result } = ended as { result?: { reportProblem?: string } };
    expect(result?.reportProblem).toContain('src/b.txt changed while the tests ran');
    expect(await refused(toDeploy(session))).toContain('exit-not-met');
    await test(session);
    await must(toDeploy(session));
    await ship(session, here);
  });

  it.runIf(isDeep)('after the pass requires a new test run', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    change(here);
    const words = await refused(toDeploy(session));
    expect(words).toContain('changed since the last run: src/b.txt');
    expect(words).toContain('Run the configured tests in full again');
    await test(session);
    await must(toDeploy(session));
    await ship(session, here);
  });

  it.runIf(isDeep)('while the operator reads the request is not part of the approval', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    expect(await refused(toDeploy(session, () => change(here)))).toContain('changed since the last run: src/b.txt');
    await test(session);
    await must(toDeploy(session));
    await ship(session, here);
  });

  it.runIf(isDeep)('of a file after its approval stops the shipment', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    await must(toDeploy(session));
    here.put('src/a.txt', 'by the editor\n');
    await must(bashGit(session, 'add', '-A'));
    expect(await refused(bashGit(session, 'commit'))).toContain(
      'src/a.txt is not staged as it was tested and approved',
    );
    expect(await refused(session.step({ tool: 'bash-deploy', args: { name: 'staging' } }))).toContain(
      'changed since the last run: src/a.txt',
    );
    expect(await refused(bashGit(session, 'push'))).toContain('src/a.txt was approved but is not committed');
    await backToTest(session);
    await test(session);
    await must(toDeploy(session));
    const sha = await ship(session, here);
    expect(git(here.root, 'show', `${sha}:src/a.txt`)).toBe('by the editor');
  });

  it.runIf(isDeep)(
    'of another file after the approval does not change the commit, but stops a deploy command',
    async () => {
      const here = world();
      const session = await edited(here);
      await test(session);
      await must(toDeploy(session));
      change(here);
      await ship(session, here);
      expect(git(here.root, 'status', '--short')).toBe('M src/b.txt');
      expect(await refused(session.step({ tool: 'bash-deploy', args: { name: 'staging' } }))).toContain('src/b.txt');
    },
  );

  it.runIf(isDeep)('that is hidden from git is noticed', async () => {
    const here = world();
    git(here.root, 'update-index', '--assume-unchanged', 'src/b.txt');
    git(here.root, 'update-index', '--skip-worktree', 'src/c.txt');
    const session = await edited(here);
    await test(session);
    change(here);
    here.put('src/c.txt', 'hidden\n');
    expect(await refused(toDeploy(session))).toContain('changed since the last run: src/b.txt, src/c.txt');
  });

  it.runIf(isDeep)('of an ignored file or an execute permission is noticed', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    here.put('dist/out.txt', 'built\n');
    await must(toDeploy(session));
    const again = await edited(here, 'two');
    await test(again);
    chmodSync(join(here.root, 'src/b.txt'), 0o755);
    expect(await refused(toDeploy(again))).toContain('changed since the last run: src/b.txt');
  });
});

describe('two parallel sessions', () => {
  it.runIf(isDeep)('do not ship each other’s changes', async () => {
    const here = world();
    const [one, two] = [await edited(here, 'one'), await edited(here, 'two')];
    await must(two.hop({ to: 'edit', exit: 'hop-edit', reason: 'more' }));
    await must(two.step({ tool: 'write', args: { path: 'src/b.txt', content: 'by two\n' } }));
    await test(one);
    await must(toDeploy(one));
    await must(two.step({ tool: 'write', args: { path: 'src/c.txt', content: 'by two\n' } }));
    const sha = await ship(one, here);
    expect(git(here.root, 'show', '--name-only', '--format=', sha)).toBe('src/a.txt');
    const fruit = { 'commit-message': 'change b and c' };
    await must(two.hop({ to: 'test', exit: 'hop-test', reason: 'to test', fruit }));
    await test(two);
    await must(toDeploy(two));
    expect(git(here.root, 'show', '--name-only', '--format=', await ship(two, here))).toBe('src/b.txt\nsrc/c.txt');
  });

  it.runIf(isDeep)('require a new test and approval after the other one’s commit', async () => {
    const here = world();
    const one = await edited(here, 'one');
    await test(one);
    await must(toDeploy(one));
    await must(bashGit(one, 'add', '-A'));
    here.put('src/c.txt', 'theirs\n');
    git(here.root, 'commit', '-q', '-m', 'theirs', 'src/c.txt');
    expect(await refused(bashGit(one, 'commit'))).toContain('The branch has moved');
    await backToTest(one);
    await test(one);
    await must(toDeploy(one));
    await ship(one, here);
  });
});

describe('a commit in deploy', () => {
  async function approved(): Promise<{ readonly here: World; readonly session: Session }> {
    const here = world();
    const session = await edited(here);
    await test(session);
    await must(toDeploy(session));
    return { here, session };
  }

  it.runIf(isDeep)('neither stages nor unstages a file that the session did not change', async () => {
    const { here, session } = await approved();
    here.put('src/b.txt', 'theirs\n');
    expect(await refused(bashGit(session, 'add', 'src/b.txt'))).toContain('was not changed by this session');
    git(here.root, 'add', 'src/b.txt');
    expect(await refused(bashGit(session, 'restore', '--staged', 'src/b.txt'))).toContain('staged by someone else');
    await must(bashGit(session, 'add', '.'));
    expect(await must(bashGit(session, 'restore', '--staged', '.'))).toMatchObject({
      result: { skipped: ['src/b.txt'] },
    });
    expect(git(here.root, 'diff', '--cached', '--name-only')).toBe('src/b.txt');
    expect(await must(bashGit(session, 'commit'))).toMatchObject({ result: { committed: true, paths: ['src/a.txt'] } });
  });

  it.runIf(isDeep)('stages the approved files itself if none is staged, and is refused if only some are', async () => {
    const here = world();
    const session = await edited(here);
    const write = { tool: 'write', args: { path: 'src/new.txt', content: 'new\n' } };
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'one more file' }));
    await must(session.step(write));
    const fruit = { 'commit-message': 'change a' };
    await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
    await test(session);
    await must(toDeploy(session));
    await must(bashGit(session, 'add', 'src/a.txt'));
    expect(await refused(bashGit(session, 'commit'))).toContain('Approved but not staged: src/new.txt');
    await must(bashGit(session, 'restore', '--staged', '.'));
    expect(await must(bashGit(session, 'commit'))).toMatchObject({
      result: { committed: true, paths: ['src/a.txt', 'src/new.txt'] },
    });
    expect(git(here.root, 'status', '--short')).toBe('');
  });

  it.runIf(isDeep)('has the approved message', async () => {
    const { here, session } = await approved();
    await must(bashGit(session, 'add', '-A'));
    expect(await refused(bashGit(session, 'commit', '-m', 'another one'))).toContain(
      'Leave -m out, or write: change a',
    );
    await must(bashGit(session, 'commit', '-m', 'change a\n'));
    expect(git(here.root, 'log', '-1', '--format=%B')).toBe('change a\n\nAssisted-by: one');
    expect(readFileSync(join(here.root, 'src/a.txt'), 'utf8')).toBe('by one\n');
  });
});

describe('the evidence of a shipment', () => {
  it.runIf(isDeep)('passes verify, and altered evidence does not', async () => {
    const here = world();
    const session = await edited(here);
    await test(session);
    await must(toDeploy(session));
    const sha = await ship(session, here);
    const tree = git(here.root, 'rev-parse', `${sha}^{tree}`);
    expect(await verified(session)).toEqual([]);
    expect(await shipmentsOf(session)).toMatchObject([
      { tested: tree, approved: tree, committed: [{ sha, tree }], pushed: [{ sha, tree }], deployed: [] },
    ]);
    const wrong = 'f'.repeat(40);
    const inResult = (key: string) => (body: { [name: string]: never }) => {
      const result = (body['outcome'] as { result?: { [name: string]: unknown } } | undefined)?.result;
      if (result?.[key] === true) result['tree'] = wrong;
    };
    expect(await verified(session, inResult('committed'))).toEqual([`shipped: committed was "${wrong}"`]);
    expect(await verified(session, inResult('pushed'))).toEqual([`shipped: pushed was "${wrong}"`]);
    const ofTest = (body: { [name: string]: never }) => {
      const result = (body['outcome'] as { result?: { [name: string]: unknown } } | undefined)?.result;
      if (result?.['verdict'] === 'pass') (result['tree'] as { id: string }).id = wrong;
    };
    expect(await verified(session, ofTest)).toEqual([expect.stringMatching(/^condition: the tree on entry was/)]);
    const ofHop = (body: { [name: string]: never }) => {
      const { ships } = (body['tree'] as { ships?: { id: string } } | undefined) ?? {};
      if (ships) ships.id = wrong;
    };
    expect((await verified(session, ofHop)).join('\n')).toMatch(
      /approval: "ships" of the approved act is[\s\S]*shipped: committed was/,
    );
  });

  it.runIf(isDeep)('has the number of passed tests and every required command, which verify confirms', async () => {
    const here = world();
    const tap = (tests: number) => `printf '${'ok\\n'.repeat(tests)}1..${tests}\\n'\n`;
    here.put('test.sh', tap(3));
    here.put('more.sh', tap(1));
    const commands = [{ run: ['sh', 'test.sh'] }, { run: ['sh', 'more.sh', '{args}'] }];
    const session = await edited(here, 'one', { test: commands.map((one) => ({ ...one, report: 'tap' as const })) });
    await test(session);
    here.put('test.sh', tap(2));
    const run = (command: string) => must(session.step({ tool: 'bash-test', args: { command } }));
    for (const command of ['sh more.sh a', 'sh more.sh', 'sh test.sh']) await run(command);
    const [asked] = await askedOf((meanwhile) => must(toDeploy(session, meanwhile)));
    expect(asked!.view).toMatchObject({
      findings: { 'sh test.sh': '1 fewer test passed than before (2 of 3)' },
      tested: { tests: ['sh test.sh', 'sh more.sh {args}'] },
    });
    expect(await verified(session)).toEqual([]);
    const forge = (change: (result: { [name: string]: unknown }) => void) =>
      verified(session, (body) => {
        const result = (body['outcome'] as { result?: { [name: string]: unknown } } | undefined)?.result;
        if (result?.['others'] !== undefined) change(result);
      });
    expect((await forge((result) => delete result['fewerTests'])).join()).toMatch(
      /^approval: "findings" of the approved act is \{"src.a.txt":[^,]*\}$/,
    );
    expect((await forge((result) => delete result['others'])).join()).toContain(
      'condition: the report names the test commands ["sh more.sh"]',
    );
    expect((await forge((result) => (result['others'] = ['true']))).join()).toContain('["sh test.sh","true"]');
    const whole = (result: { [name: string]: unknown }) => {
      if (result['narrowed'] === true) Object.assign(result, { narrowed: false, command: ['sh', 'more.sh'] });
    };
    expect((await forge(whole)).join()).toContain(
      'a run of a part of the tests, ["sh","more.sh","a"], was counted as a run of all',
    );
    const ofView = (body: { [name: string]: never }) => {
      delete (body['request'] as { view?: { findings?: string } } | undefined)?.view?.findings;
    };
    expect((await verified(session, ofView)).join()).toContain('approval: "findings" of the approved act');
  });

  it.runIf(isDeep)('is enough for another process to continue after the approval', async () => {
    const here = world();
    const store = memoryStore({ clock: { now: () => Date.now() } });
    const options = { root: here.root, agent: 'one', store, config: { ...CONFIG } };
    const first = await edited(here, 'one', {}, store);
    await test(first);
    await must(toDeploy(first));
    await first.detach();
    const session = await openSession({ ...options, session: first.id });
    here.put('src/a.txt', 'by the editor\n');
    await must(bashGit(session, 'add', '-A'));
    expect(await refused(bashGit(session, 'commit'))).toContain('not staged as it was tested');
    here.put('src/a.txt', 'by one\n');
    await ship(session, here);
    await session.detach();
  });
});

describe('a sub-agent of a session that ships', () => {
  it('ships nothing, because its own session has no test pass and no approval', async () => {
    const here = world();
    const store = memoryStore({ clock: { now: () => Date.now() } });
    const parent = await edited(here, 'one', {}, store);
    await test(parent);
    await must(toDeploy(parent));
    const { pin, peripheral } = describeNewSubAgent(parent, 'helper', () => false);
    const child = await openSession({ root: here.root, agent: 'one/helper', parent: parent.id, store, ...pin });
    onTestFinished(() => child.detach());
    await must(child.start(peripheral!));
    here.put('src/a.txt', 'by the editor');
    git(here.root, 'commit', '-qam', 'not approved');
    const deploy = { tool: 'bash-deploy', args: { name: 'staging' } };
    for (const answer of [child.step(deploy), bashGit(child, 'commit'), bashGit(child, 'push')])
      expect(await refused(answer)).toContain('out-of-scope');
    expect(git(here.remote, 'rev-parse', 'main')).toBe(here.first);
  });
});

describe('a sub-agent’s changes', () => {
  const changeAsChild = async (here: World, store: EvidenceStore, parent: string, path: string) => {
    const more = { specs: fixtureSpecs, parent, agent: 'one/helper', store, config: CONFIG };
    const session = await openSession({ root: here.root, ...more });
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.setMode({ to: 'execute', reason: 'to work' }, { approver: yes() }));
    await must(session.start('edit', { by: 'operator' }));
    await must(session.step({ tool: 'write', args: { path, content: 'by a helper\n' } }));
    await session.detach();
  };

  it.runIf(isDeep)('are shown with those of its parent, and are shipped with them and with no others', async () => {
    const here = world();
    const store = memoryStore({ clock: { now: () => Date.now() } });
    const parent = await edited(here, 'one', {}, store);
    await changeAsChild(here, store, parent.id, 'src/test/package.json');
    await changeAsChild(here, store, 's-another', 'src/c.txt');
    await test(parent);
    const [request] = await askedOf((keep) => must(toDeploy(parent, keep)));
    // A sub-agent could show harmless content while the operator reads, and restore its own before the answer counts.
    here.put('src/test/package.json', 'harmless\n');
    expect((await diffOfWorkingTree(here.root, request!)).changedSince).toEqual(['src/test/package.json']);
    here.put('src/test/package.json', 'by a helper\n');
    expect(request!.view).toMatchObject({
      findings: { 'src/test/package.json': expect.stringContaining('runs the commands in this file') },
      'changed test files': ['src/test/package.json'],
    });
    const sha = await ship(parent, here);
    expect(git(here.root, 'show', '--name-only', '--format=', sha)).toBe('src/a.txt\nsrc/test/package.json');
    expect(git(here.root, 'status', '--short')).toBe('M src/c.txt');
    expect(await verified(parent)).toEqual([]);
  });

  it.runIf(isDeep)('are shown and bound by the approval also if there is no repository', async () => {
    const here = world();
    rmSync(join(here.root, '.git'), { recursive: true });
    const store = memoryStore({ clock: { now: () => Date.now() } });
    const parent = await edited(here, 'one', {}, store);
    await changeAsChild(here, store, parent.id, 'src/test/package.json');
    await test(parent);
    const grant = { until: Date.now() + 60 * 60_000, files: ['src/*.txt'] };
    const [request] = await askedOf((keep) => {
      const approve = async (asked: ApprovalRequest) => {
        keep(asked);
        return { by: 'operator', grant };
      };
      return must(parent.hop({ to: 'deploy', exit: 'pass', reason: 'ok' }, { approver: { via: 'approver', approve } }));
    });
    // The grant does not cover the sub-agent's file.
    expect(parent.grants).toEqual([]);
    expect(request!.view).toMatchObject({
      changes: { 'src/a.txt': expect.any(String), 'src/test/package.json': expect.any(String) },
      findings: { 'src/test/package.json': expect.stringContaining('runs the commands in this file') },
      'changed test files': ['src/test/package.json'],
    });
    expect(await verified(parent)).toEqual([]);
  });
});

describe('a grant for shipping', () => {
  it.runIf(isDeep)(
    'covers the session’s own unpushed commit, and no commit of others that the operator has not seen',
    async () => {
      const here = world();
      const { root, put } = here;
      const session = await edited(here);
      const grant = { until: Date.now() + 60 * 60_000, files: ['src/'] };
      const approver: Approver = { via: 'approver', approve: async () => ({ by: 'operator', grant }) };
      const deploy = (by: Approver | null = null) =>
        session.hop({ to: 'deploy', exit: 'pass', reason: 'it passes' }, { approver: by });
      const again = async (content: string) => {
        await backToTest(session, content);
        await test(session);
      };
      await test(session);
      await must(deploy(approver));
      await must(bashGit(session, 'commit'));
      await again('second\n');
      await must(deploy());
      await must(bashGit(session, 'commit'));
      put('notes.txt', 'unfinished\n');
      git(root, 'commit', '-qam', 'unfinished');
      await again('third\n');
      expect(await refused(deploy())).toContain('approval-required');
      const theirs = git(root, 'rev-parse', 'HEAD');
      expect(await verified(session)).toEqual([]);
      await must(deploy(yes()));
      const forged = await verified(session, (body) => {
        const { record } = body as { record?: { via: string; grant?: string } };
        const { grants } = session;
        if (record && record.grant === undefined) Object.assign(record, { via: 'grant', grant: grants[0]!.id });
      });
      expect(forged.join()).toContain(`earlier commit approved under ${session.grants[0]!.id}: "${theirs}"`);
    },
  );
});

describe('an operation of git in progress', () => {
  it.runIf(isDeep)(
    'ships what was shown: all staged files, the merged commits, the message and the author',
    async () => {
      const here = world();
      const { root, put } = here;
      const side = (name: string): string => {
        git(root, 'checkout', '-q', '-b', name, 'main');
        put('src/c.txt', `by ${name}`);
        git(root, 'commit', '-qam', `on ${name}`, '--author=Side <side@example.com>');
        git(root, 'checkout', '-q', 'main');
        return git(root, 'rev-parse', name);
      };
      const [listed, other] = [side('listed'), side('other')];
      git(root, 'merge', '-q', '--no-commit', '--no-ff', 'listed');
      // The repository would hide a merged commit from the list, and change the message.
      writeFileSync(join(root, '.git/info/grafts'), `${here.first} ${listed}\n`);
      const settings = { 'commit.cleanup': 'strip', 'core.commentChar': 'c', 'i18n.commitEncoding': 'ISO-8859-1' };
      for (const [key, value] of Object.entries(settings)) git(root, 'config', key, value);
      const session = await edited(here, 'one', { commits: { author: 'O <o@example.com>' } });
      await test(session);
      const [request] = await askedOf((keep) => must(toDeploy(session, keep)));
      expect(request!.view['ships']).toMatchObject({
        merges: [listed],
        files: ['src/c.txt', 'src/a.txt'],
        left: [],
        commits: [{ sha: listed, subject: 'on listed' }],
      });
      await must(bashGit(session, 'add', 'src/a.txt'));
      writeFileSync(join(root, '.git/MERGE_HEAD'), `${other}\n`);
      expect(await refused(bashGit(session, 'commit'))).toContain(`would merge ${other} now`);
      writeFileSync(join(root, '.git/MERGE_HEAD'), `${listed}\n`);
      await must(bashGit(session, 'commit'));
      const approved = git(root, 'rev-parse', 'HEAD');
      const message = git(root, 'log', '-1', '--format=%B');
      expect(message).toBe('change a\n\nAssisted-by: one');
      expect(git(root, 'cat-file', '-p', 'HEAD')).not.toContain('encoding');
      git(root, 'reset', '-q', git(root, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD^', '-p', other, '-m', message));
      expect(await refused(bashGit(session, 'push'))).toContain('not the commit that was approved');
      git(root, 'reset', '-q', approved);
      expect(await must(bashGit(session, 'push'))).toMatchObject({ result: { pushed: true } });
      expect(git(here.remote, 'log', '-1', '--format=%H %P %an', 'main')).toBe(`${approved} ${here.first} ${listed} O`);
      expect(await verified(session)).toEqual([]);
    },
  );

  it.runIf(isDeep)('is not approved while the merge has conflicts, and the refusal names them', async () => {
    const here = world();
    git(here.root, 'checkout', '-q', '-b', 'side');
    here.put('src/c.txt', 'side');
    git(here.root, 'commit', '-qam', 'side');
    git(here.root, 'checkout', '-q', 'main');
    here.put('src/c.txt', 'main');
    git(here.root, 'commit', '-qam', 'main');
    expect(() => git(here.root, 'merge', 'side')).toThrow();
    const session = await edited(here);
    await test(session);
    const hop = await toDeploy(session);
    expect(hop).toMatchObject({
      ok: false,
      denial: { remedy: expect.stringMatching(/^Correct this problem, or ask the op/) },
    });
    expect(await refused(toDeploy(session))).toContain('has conflicts in src/c.txt; resolve them with edit');
    const fix = { path: 'src/c.txt', content: 'both' };
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'to resolve' }));
    await must(session.step({ tool: 'write', args: fix }));
    const fruit = { 'commit-message': 'merged' };
    await must(session.hop({ to: 'test', exit: 'ready-to-commit', reason: 'to test', fruit }));
    await test(session);
    await must(toDeploy(session));
  });

  it.runIf(isDeep)('has the shown author, not that of a picked commit', async () => {
    const here = world();
    const { root, put } = here;
    git(root, 'checkout', '-q', '-b', 'side');
    put('src/c.txt', 'side');
    git(root, 'commit', '-qam', 'side', '--author=Side <side@example.com>');
    git(root, 'checkout', '-q', 'main');
    git(root, 'cherry-pick', '--no-commit', 'side');
    writeFileSync(join(root, '.git/CHERRY_PICK_HEAD'), `${git(root, 'rev-parse', 'side')}\n`);
    const session = await edited(here, 'one', { commits: { author: 'O <o@example.com>' } });
    await test(session);
    await must(toDeploy(session));
    await must(bashGit(session, 'add', 'src/a.txt'));
    await must(bashGit(session, 'commit'));
    expect(git(root, 'log', '-1', '--format=%an <%ae>')).toBe('O <o@example.com>');
  });
});
