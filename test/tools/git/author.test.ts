import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TreeToShip } from '../../../src/gate/scope/compare-trees.ts';
import { appendCommitTrailer } from '../../../src/tools/git/commit-trailer.ts';
import { gitBackend } from '../../../src/tools/git/git-backend.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { isDeep, sample } from '../../depth.ts';
import { type CallOptions, git, gitCall, put, repository, resultOf } from './support.ts';

const sandbox = await sandboxOfProcess();

/** Changes a file and commits it with this environment of the operator; the folder is the operator's home. */
async function commit(
  { root, folder }: { root: string; folder: string },
  env: NodeJS.ProcessEnv,
  options: CallOptions & { agent?: string } = {},
) {
  put(root, 'src/a.txt', `${Math.random()}\n`);
  const operator = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', ...env };
  const call = gitCall(root, { sub: 'commit', args: ['-am', 'fix: x'] }, options);
  const shipping = { isOwnChange: () => true, tree: null, message: null, agent: options.agent ?? '' };
  return gitBackend(sandbox, () => operator).run({ ...call, envelope: { ...call.envelope, shipping } });
}

const last = (root: string, format = '%an <%ae> / %cn <%ce>') => git(root, 'log', '-1', `--format=${format}`);

const home = (folder: string, name: string, text: string) => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
};

describe('the author of a commit', () => {
  const PLACES = [
    ['the configuration of the user', '.gitconfig', '[user]\nname = Ann\nemail = ann@example.com\n'],
    ['the configuration in ~/.config', '.config/git/config', '[user]\nname = Ann\nemail = ann@example.com\n'],
  ] as const;
  test.runIf(isDeep).each(PLACES)('is taken from %s, as by git outside of hopgate', async (_, name, text) => {
    const place = repository();
    home(place.folder, name, text);
    resultOf(await commit(place, {}));
    expect(last(place.root)).toBe('Ann <ann@example.com> / Ann <ann@example.com>');
  });

  test.runIf(isDeep)('is taken from a file that the configuration includes only for this folder', async () => {
    const place = repository();
    home(place.folder, '.gitconfig', `[includeIf "gitdir:${place.root}/"]\npath = work.inc\n[user]\nname = Ann\n`);
    home(place.folder, 'work.inc', '[user]\nemail = ann@work.example\n');
    resultOf(await commit(place, {}));
    expect(last(place.root)).toBe('Ann <ann@work.example> / Ann <ann@work.example>');
  });

  test.runIf(isDeep)(
    'is taken from the variables, else from the repository’s configuration, else from the user’s',
    async () => {
      const place = repository();
      home(place.folder, '.gitconfig', '[user]\nname = User\nemail = user@example.com\n');
      git(place.root, 'config', 'user.name', 'Repository');
      const env = { GIT_AUTHOR_NAME: 'Author', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_DIR: '/nonexistent' };
      resultOf(await commit(place, env));
      expect(last(place.root)).toBe('Author <a@example.com> / Repository <user@example.com>');
    },
  );

  test.runIf(isDeep)('is found even if hopgate does not run as the repository’s owner', async () => {
    const place = repository();
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65534:65534', place.folder]);
    home(place.folder, '.gitconfig', '[user]\nname = Ann\nemail = ann@example.com\n');
    resultOf(await commit(place, {}));
    const format = ['-c', `safe.directory=${place.root}`, 'log', '-1', '--format=%an'];
    expect(git(place.root, ...format)).toBe('Ann');
  });

  const MISSING = [
    ['nothing', ''],
    ['only a name', '[user]\nname = Ann\n'],
    ['only an address', '[user]\nemail = ann@example.com\n'],
  ] as const;
  test.each(sample(MISSING, 3))(
    'is missing with %s in the configuration, and the refusal names a command to run',
    async (_, text) => {
      const place = repository();
      home(place.folder, '.gitconfig', text);
      const before = git(place.root, 'rev-parse', 'HEAD');
      const { outcome, effects } = await commit(place, {});
      expect(outcome).toMatchObject({ status: 'failed', code: 'no-author' });
      expect(outcome).toHaveProperty('message', expect.stringContaining('git config --global user.email'));
      expect(effects).toEqual([]);
      expect(git(place.root, 'rev-parse', 'HEAD')).toBe(before);
    },
  );

  test.runIf(isDeep)('is found without running a program of the configuration', async () => {
    const place = repository();
    home(place.folder, '.gitconfig', '[user]\nname = Ann\nemail = ann@example.com\n');
    put(place.root, 'src/run', `#!/bin/sh\ntouch ${place.folder}/ran\n`, 0o755);
    for (const key of ['core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand', 'alias.var', 'pager.var'])
      git(place.root, 'config', key, join(place.root, 'src/run'));
    await commit(place, {});
    expect(git(place.folder, '--version')).toContain('git');
    expect(() => execFileSync('ls', [join(place.folder, 'ran')], { stdio: 'pipe' })).toThrow();
  });
});

test.runIf(isDeep)(
  'an approved commit has the committer that was shown, and a commit of another committer is not pushed',
  async () => {
    const { root, folder } = repository();
    const named = (name: string) => {
      git(root, 'config', 'committer.name', name);
      git(root, 'config', 'committer.email', 'c@example.com');
    };
    const env = { PATH: process.env['PATH'], HOME: folder, GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'a@example.com' };
    const backend = gitBackend(sandbox, () => env);
    const own = { isOwnChange: () => true, agent: '' };
    const run = async (sub: string, tree: TreeToShip) => {
      const call = gitCall(root, { sub });
      const shipping = { ...own, tree, message: 'fix: x' };
      return (await backend.run({ ...call, envelope: { ...call.envelope, shipping } })).outcome;
    };
    put(root, 'src/a.txt', 'changed\n');
    named('Shown');
    const { envelope, signal } = gitCall(root, {});
    const tree = (await backend.tree!({ ...envelope, ...own, signal })) as TreeToShip;
    expect(tree.ships).toMatchObject({ author: 'Ann <a@example.com>', committer: 'Shown <c@example.com>' });
    named('Later');
    expect(await run('commit', tree)).toMatchObject({ status: 'ok' });
    expect(last(root)).toBe('Ann <a@example.com> / Shown <c@example.com>');
    git(root, 'commit', '-q', '--amend', '--no-edit');
    expect(await run('push', tree)).toMatchObject({
      message: expect.stringContaining('not the commit that was approved'),
    });
  },
);

describe('git in hopgate.yaml', () => {
  test.runIf(isDeep)('can name another author', async () => {
    const place = repository();
    resultOf(await commit(place, {}, { config: { commits: { author: 'Team Bot <bot@example.com>' } } }));
    expect(last(place.root)).toBe('Team Bot <bot@example.com> / Team Bot <bot@example.com>');
  });

  const TRAILERS = [
    [undefined, 'fix: x\n\nAssisted-by: some agent'],
    [false, 'fix: x'],
    ['Co-authored-by: Bot <bot@example.com>', 'fix: x\n\nCo-authored-by: Bot <bot@example.com>'],
  ] as const;
  test.runIf(isDeep).each(TRAILERS)('sets the trailer %s', async (trailer, message) => {
    const place = repository();
    const env = {
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@b.c',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@b.c',
    };
    const config = trailer === undefined ? {} : { commits: { trailer } };
    resultOf(await commit(place, env, { config, agent: 'some\n agent' }));
    expect(last(place.root, '%B')).toBe(message);
  });
});

test.each([
  ['fix: x', 'fix: x\n\nA: b'],
  ['fix: x\n\nwhy', 'fix: x\n\nwhy\n\nA: b'],
  ['fix: x\n\nwhy\n\nSigned-off-by: me\n', 'fix: x\n\nwhy\n\nSigned-off-by: me\nA: b'],
  ['Note: this is a subject', 'Note: this is a subject\n\nA: b'],
  ['fix: x\n\na: B\n', 'fix: x\n\na: B\n'],
])('the commit message %j gets a trailer', (message, expected) =>
  expect(appendCommitTrailer(message, 'A: b')).toBe(expected),
);
