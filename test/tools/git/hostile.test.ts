import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { isDeep, sample } from '../../depth.ts';
import { type CallOptions, git, noSandbox, put, repository, resultOf, runner } from './support.ts';

const sandbox = await sandboxOfProcess();

/**
 * A program that leaves a mark when it runs. The mark lies in the git folder, which committing and pushing may write.
 */
function sentinel(root: string) {
  const mark = join(root, '.git', 'ran');
  const program = join(root, '.git', 'sentinel.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 0\n`, { mode: 0o755 });
  return {
    program,
    ran: () => (existsSync(mark) ? readFileSync(mark, 'utf8') : null),
    reset: () => rmSync(mark, { force: true }),
  };
}

const HOOKS = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'pre-push',
  'post-index-change',
  'reference-transaction',
  'pre-auto-gc',
  'post-checkout',
];

/** Every sub-command, because any of them could run a program of the configuration. */
const EVERYTHING: readonly { readonly [name: string]: Json }[] = [
  { sub: 'status' },
  { sub: 'diff' },
  { sub: 'diff', args: ['--stat', 'HEAD'] },
  { sub: 'add', args: ['.'] },
  { sub: 'restore', args: ['--staged', '.'] },
  { sub: 'add', args: ['.'] },
  { sub: 'diff', args: ['--cached'] },
  { sub: 'commit', args: ['-m', 'x'] },
  { sub: 'log', args: ['-p', '--format=%H %G? %an'] },
  { sub: 'show' },
  { sub: 'branch', args: ['-vv'] },
  { sub: 'rev-parse', args: ['HEAD'] },
  { sub: 'push' },
];

/** By name: the planted program, and the proof that plain git would run it. */
const NEUTRALISED: {
  readonly [name: string]: { keys: (p: string) => { [key: string]: string }; proof: readonly string[] };
} = {
  'core.fsmonitor': { keys: (p) => ({ 'core.fsmonitor': p }), proof: ['status'] },
  'core.hooksPath': { keys: () => ({}), proof: ['commit', '--allow-empty', '-qm', 'x'] },
  'core.pager': { keys: (p) => ({ 'core.pager': p, 'pager.log': p, 'pager.diff': p }), proof: ['--paginate', 'log'] },
  'core.editor': { keys: (p) => ({ 'core.editor': p, 'sequence.editor': p }), proof: ['commit', '--allow-empty'] },
  'diff.external': { keys: (p) => ({ 'diff.external': p }), proof: ['diff'] },
  'diff.driver.command': { keys: (p) => ({ 'diff.evil.command': p }), proof: ['diff'] },
  'diff.driver.textconv': { keys: (p) => ({ 'diff.evil.textconv': p }), proof: ['diff'] },
  'gpg.program': {
    keys: (p) => ({
      'gpg.program': p,
      'gpg.openpgp.program': p,
      'commit.gpgSign': 'true',
      'log.showSignature': 'true',
      'user.signingKey': 'x',
    }),
    proof: ['commit', '-q', '--allow-empty', '-m', 'x'],
  },
  'gpg.ssh.program': {
    keys: (p) => ({
      'gpg.format': 'ssh',
      'gpg.ssh.program': p,
      'gpg.ssh.defaultKeyCommand': p,
      'commit.gpgSign': 'true',
    }),
    proof: ['commit', '-q', '--allow-empty', '-m', 'x'],
  },
  'credential.helper': { keys: (p) => ({ 'credential.helper': `!${p}` }), proof: ['credential', 'fill'] },
  'core.sshCommand': { keys: (p) => ({ 'core.sshCommand': p }), proof: ['ls-remote', 'ssh://nowhere.invalid/x'] },
  alias: { keys: (p) => ({ 'alias.status': `!${p}`, 'alias.st': `!${p}` }), proof: ['st'] },
};

const REFUSED: { readonly [name: string]: (p: string) => { [key: string]: string } } = {
  'filter.clean': (p) => ({ 'filter.evil.clean': p }),
  'filter.smudge': (p) => ({ 'filter.evil.smudge': p }),
  'filter.process': (p) => ({ 'filter.evil.process': p }),
  'filter with a strange name': (p) => ({ 'filter.a.b=c.clean': p }),
  'credential.<url>.helper': (p) => ({ 'credential.https://example.com.helper': p }),
  'remote.vcs': () => ({ 'remote.origin.vcs': 'evil' }),
  'remote.receivepack': (p) => ({ 'remote.origin.receivepack': p }),
  'remote.uploadpack': (p) => ({ 'remote.origin.uploadpack': p }),
  'hook.command': (p) => ({ 'hook.evil.command': p, 'hook.evil.event': 'pre-commit' }),
};

function planted(keys: (program: string) => { [key: string]: string }) {
  const repo = repository();
  const { root } = repo;
  const found = sentinel(root);
  for (const [key, value] of Object.entries(keys(found.program))) git(root, 'config', key, value);
  put(root, '.gitattributes', '*.txt filter=none diff=evil\n');
  git(
    root,
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'commit.gpgSign=false',
    '-c',
    'core.fsmonitor=false',
    'add',
    '.gitattributes',
  );
  git(
    root,
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'commit.gpgSign=false',
    '-c',
    'core.fsmonitor=false',
    'commit',
    '-qm',
    'attributes',
  );
  for (const hook of HOOKS) writeFileSync(join(root, '.git/hooks', hook), readFileSync(found.program), { mode: 0o755 });
  put(root, '.gitattributes', '*.txt diff=evil\n');
  put(root, 'src/a.txt', 'two\n');
  found.reset();
  return { ...repo, ...found };
}

const attempt = (root: string, args: readonly string[]) => {
  try {
    git(root, ...args);
  } catch {
    // Success or failure is not asserted.
  }
};

async function attemptEverything(
  repo: ReturnType<typeof planted>,
  box: typeof sandbox,
  defaults: CallOptions,
): Promise<void> {
  const run = runner(box, repo.root, defaults);
  for (const args of EVERYTHING) {
    const result = resultOf(await run(args));
    expect(repo.ran(), JSON.stringify(args)).toBeNull();
    expect(result['exit'], JSON.stringify(result)).toBe(0);
  }
  expect(git(repo.root, '-c', 'core.fsmonitor=false', 'log', '-1', '--format=%s', 'origin/main')).toBe('x');
}

// Without the sandbox, so that only the hardening keeps the repository's programs from running.
test.each(sample(Object.entries(NEUTRALISED), 12))('bash-git never runs %s', async (_name, { keys }) => {
  await attemptEverything(planted(keys), noSandbox, { unsafeNoSandbox: true });
});

test.runIf(isDeep)('bash-git in the sandbox runs no program that the repository’s configuration names', async () => {
  const all = (program: string) => Object.assign({}, ...Object.values(NEUTRALISED).map(({ keys }) => keys(program)));
  await attemptEverything(planted(all), sandbox, {});
});

describe.each<[string, typeof sandbox, CallOptions]>([
  ['in the sandbox', sandbox, {}],
  ['without a sandbox', noSandbox, { unsafeNoSandbox: true }],
])('bash-git with a hostile repository: %s', (_, box, defaults) => {
  test.each(sample(Object.entries(REFUSED), 8))('refuses %s and names the key', async (_name, keys) => {
    const { root, program, ran } = planted(keys);
    const run = runner(box, root, defaults);
    for (const args of [{ sub: 'status' }, { sub: 'add .' }, { sub: 'push' }]) {
      const { outcome } = await run(args);
      expect(outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
      if (outcome.status === 'refused') expect(outcome.message).toContain(Object.keys(keys(program))[0]!.toLowerCase());
    }
    expect(ran()).toBeNull();
  });
});

test.each(sample(Object.entries(NEUTRALISED), 12))('git outside of hopgate runs %s', (_name, { keys, proof }) => {
  const { root, ran } = planted(keys);
  // A pager and a credential prompt need a terminal; the argument test covers their keys.
  if (proof[0] === '--paginate' || proof[0] === 'credential') return;
  attempt(root, proof);
  expect(ran()).not.toBeNull();
});

test.runIf(isDeep)('bash-git also checks the files that the repository’s configuration includes', async () => {
  for (const key of ['include.path', 'includeIf.onbranch:main.path']) {
    const { root, ran, program } = planted(() => ({}));
    writeFileSync(join(root, 'more.cfg'), `[filter "evil"]\n\tclean = ${program}\n[core]\n\tfsmonitor = ${program}\n`);
    git(root, 'config', key, '../more.cfg');
    const run = runner(sandbox, root);
    for (const args of EVERYTHING)
      expect((await run(args)).outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    expect(ran()).toBeNull();
    writeFileSync(join(root, 'more.cfg'), `[core]\n\tfsmonitor = ${program}\n[user]\n\tname = Included\n`);
    for (const args of EVERYTHING) resultOf(await run(args));
    expect(ran()).toBeNull();
  }
});

test.runIf(isDeep)(
  'bash-git also checks the configuration that applies to one work tree only (config.worktree)',
  async () => {
    const { root, program } = planted(() => ({ 'extensions.worktreeConfig': 'true' }));
    git(root, '-c', 'core.fsmonitor=false', 'config', '--worktree', 'filter.evil.clean', program);
    expect((await runner(sandbox, root)({ sub: 'status' })).outcome).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
    });
  },
);

test.runIf(isDeep)('bash-git runs no program of a submodule’s configuration', async () => {
  for (const [box, defaults] of [
    [sandbox, {}],
    [noSandbox, { unsafeNoSandbox: true }],
  ] as const) {
    const { root, remote } = repository();
    git(root, 'submodule', '--quiet', 'add', remote, 'sub');
    git(root, 'commit', '-qm', 'submodule');
    const found = sentinel(root);
    const inner = join(root, 'sub');
    git(root, 'config', 'submodule.sub.ignore', 'none');
    for (const [key, value] of Object.entries({ 'core.fsmonitor': found.program, 'filter.evil.clean': found.program }))
      git(inner, 'config', key, value);
    put(inner, '.gitattributes', '*.txt filter=evil\n');
    put(inner, 'src/a.txt', 'two\n');
    put(root, 'src/a.txt', 'two\n');
    found.reset();
    attempt(root, ['status']);
    expect(found.ran(), 'plain git runs it').not.toBeNull();
    found.reset();
    const run = runner(box, root, defaults);
    for (const args of [...EVERYTHING, { sub: 'commit -m again' }]) {
      resultOf(await run(args));
      expect(found.ran(), JSON.stringify(args)).toBeNull();
    }
  }
});

test('bash-git ignores the GIT_ variables of hopgate’s environment', async () => {
  const { root, ran, program } = planted(() => ({}));
  const names = {
    GIT_EXTERNAL_DIFF: program,
    GIT_PAGER: program,
    GIT_EDITOR: program,
    GIT_DIR: '/nowhere',
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${program}'`,
    GIT_SSH: program,
    GIT_TRACE: join(root, '.git/ran'),
  };
  const before = { ...process.env };
  Object.assign(process.env, names);
  try {
    for (const [box, options] of [
      [sandbox, {}],
      [noSandbox, { unsafeNoSandbox: true }],
    ] as const)
      for (const args of [{ sub: 'status' }, { sub: 'diff' }, { sub: 'log -p' }])
        expect(resultOf(await runner(box, root, options)(args))).toMatchObject({ exit: 0 });
    expect(ran()).toBeNull();
  } finally {
    for (const name of Object.keys(names)) if (before[name] === undefined) delete process.env[name];
  }
});

test('a commit cannot change the configuration of git', async () => {
  const { root } = repository();
  mkdirSync(join(root, '.git/info'), { recursive: true });
  const before = git(root, 'config', '--list', '--local');
  put(root, 'src/a.txt', 'two\n');
  const kept = (await import('../../../src/tools/git/git-layout.ts')).gitLayout(
    { root, gitDir: join(root, '.git'), commonDir: join(root, '.git') },
    { kind: 'commit' },
    [],
  );
  const shell = (script: string) =>
    sandbox.run(kept, ['sh', '-c', script], { seconds: 20, outputBytes: 4096, signal: new AbortController().signal });
  for (const path of ['.git/config', '.git/hooks/pre-commit', '.git/info/attributes', 'src/a.txt', 'new'])
    expect((await shell(`echo x >> ${path}`)).exit, path).not.toBe(0);
  expect((await shell('echo x > .git/benign')).exit).toBe(0);
  expect((await shell('exec 3<>/dev/tcp/127.0.0.1/1')).exit).not.toBe(0);
  expect(git(root, 'config', '--list', '--local')).toBe(before);
});
