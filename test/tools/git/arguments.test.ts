import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCommitName } from '../../../src/gate/commands/git-command.ts';
import { parseGit, toGitOptionWords } from '../../../src/gate/commands/parse-git.ts';
import { GIT_SUB_COMMANDS } from '../../../src/spec/policy/git-commands.ts';
import { peelToCommit } from '../../../src/tools/git/operands.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { repository, runner } from './support.ts';

const words = (line: readonly string[]) => {
  const read = parseGit(line);
  return read.ok ? toGitOptionWords(read.parsed.options) : read;
};

describe('parseGit', () => {
  test.each([
    [
      ['commit', '-am', 'x'],
      ['--all', '--message=x'],
    ],
    [
      ['commit', '-mx', '--message=--force', '-m', '-n'],
      ['--message=x', '--message=--force', '--message=-n'],
    ],
    [['commit', '-m', ''], ['--message=']],
    [
      ['log', '-5', '-n3', '-n', '2', '--max-count=1'],
      ['--max-count=5', '--max-count=3', '--max-count=2', '--max-count=1'],
    ],
    [
      ['log', '--format', '%H', '--pretty=oneline', '--pretty'],
      ['--format=%H', '--pretty=oneline', '--pretty'],
    ],
    [
      ['diff', '-U3', '-S', '--output=x', '-wb'],
      ['--unified=3', '-S--output=x', '--ignore-all-space', '--ignore-space-change'],
    ],
    [
      ['status', '-sb', '-uno'],
      ['--short', '--branch', '--untracked-files=no'],
    ],
  ])('reads %j', (line, expected) => expect(words(line)).toEqual(expected));

  test.each([
    ['commit', '--amend'],
    ['commit', '--no-verify', '-m', 'x'],
    ['commit', '-nm', 'x'],
    ['commit', '-F', '/etc/passwd'],
    ['commit', '--mess', 'x'],
    ['commit', '--message'],
    ['commit', '-S'],
    ['commit', '-C', 'HEAD'],
    ['commit', '--author=x'],
    ['push', '--force'],
    ['push', '-f'],
    ['push', '--forc'],
    ['push', '--force-with-lease'],
    ['push', '--receive-pack=touch x'],
    ['push', '--exec=touch x'],
    ['push', '--mirror'],
    ['push', '--delete', 'main'],
    ['push', '-d'],
    ['push', '--all'],
    ['push', '--tags'],
    ['push', '-o', 'x'],
    ['diff', '--output=x'],
    ['diff', '--outpu=x'],
    ['diff', '--no-index', '/etc/passwd', '/dev/null'],
    ['diff', '--ext-diff'],
    ['diff', '--textconv'],
    ['diff', '-O/etc/passwd'],
    ['log', '--exec=x'],
    ['log', '-Lx'],
    ['log', '--stdin'],
    ['log', '--show-signature'],
    ['show', '--ext-diff'],
    ['status', '-v'],
    ['status', '--short=1'],
    ['branch', '-D', 'main'],
    ['branch', '-m', 'x'],
    ['branch', '--edit-description'],
    ['add', '-p'],
    ['add', '-i'],
    ['add', '-f'],
    ['add', '--chmod=+x'],
    ['add', '--pathspec-from-file=/etc/passwd'],
    ['restore', '--source=HEAD~1'],
    ['restore', '-SW'],
    ['-c', 'core.pager=x', 'log'],
    ['-C', '/', 'status'],
    ['--git-dir=/x', 'status'],
    ['--exec-path=/x', 'status'],
    ['--paginate', 'log'],
    ['fetch'],
    ['pull'],
    ['clone', 'ext::x'],
    ['config', 'core.pager', 'x'],
    ['submodule', 'update'],
    ['grep', '-O', 'x'],
    ['archive', '--remote=x'],
    ['hook', 'run'],
    ['constructor'],
    ['__proto__'],
    [],
    ['status', '-'],
  ])('refuses git %s %s', (...line) => {
    const read = parseGit(line.filter((word) => word !== undefined));
    expect(read.ok).toBe(false);
    if (!read.ok) expect(read.remedy).not.toBe('');
  });

  test('names the available options', () => {
    const read = parseGit(['commit', '--reuse']);
    expect(read).toMatchObject({
      ok: false,
      message: expect.stringContaining('--reuse'),
      remedy: expect.stringContaining('--message (-m) <value>'),
    });
  });
});

describe('a git revision', () => {
  test.each(['main', 'HEAD', 'HEAD~1', 'HEAD^', 'HEAD~2^2', 'origin/main', 'v1.0', 'a_b-c', '0123abc'])(
    'may be %s',
    (word) => {
      expect(isCommitName(word)).toBe(true);
    },
  );
  test.each([
    '',
    '-x',
    '--all',
    'a..b',
    'HEAD@{1}',
    '@',
    'HEAD:.env',
    ':0:x',
    '^main',
    'a b',
    'a\nb',
    'ä',
    '+main',
    'main:main',
    'HEAD^{blob}',
    '~/x',
    '$(x)',
  ])('may not be %j', (word) => expect(isCommitName(word)).toBe(false));
  test('is resolved to a commit, also at each end of a range', () => {
    expect(peelToCommit('main..HEAD~1')).toBe('main^{commit}..HEAD~1^{commit}');
    expect(peelToCommit('main...')).toBe('main^{commit}...');
    for (const word of ['..', '...', '-x..y', 'a..-b', 'a..b..c', 'a....b', 'a..b:c'])
      expect(peelToCommit(word), word).toBeNull();
  });
});

test('git gets only options of the table, whatever the arguments are', async () => {
  const { root } = repository();
  const seen: string[][] = [];
  const recording: Sandbox = {
    availability: { ok: true, version: '0', overlay: false, unixSockets: false, limits: {} },
    run: async (_, argv) => {
      seen.push([...argv]);
      return {
        exit: 0,
        signal: null,
        stdout: '',
        stderr: '',
        truncated: false,
        timedOut: false,
        aborted: false,
        flooded: false,
        seconds: 0,
      };
    },
  };
  const run = runner(recording, root);
  const names = Object.keys(GIT_SUB_COMMANDS);
  const options = Object.values(GIT_SUB_COMMANDS).flatMap(({ options }) =>
    options.flatMap(({ long, short }) => [...(long ? [`--${long}`] : []), ...(short ? [`-${short}`] : [])]),
  );
  const evil = [
    '--force',
    '-f',
    '--receive-pack=x',
    '--output=x',
    '--no-index',
    '--ext-diff',
    '--amend',
    '--upload-pack=x',
    '--exec=x',
    '-c',
    '--delete',
    '+main',
    'ext::x',
    '--',
    '-Ox',
    '--git-dir=x',
  ];
  const word = fc.oneof(
    fc.constantFrom(...evil),
    fc.constantFrom(...options),
    fc.constantFrom('HEAD', 'src/a.txt', '.', 'main', 'origin', '-am', '-5'),
    fc.string({ maxLength: 8 }),
  );
  // Written out apart from the table: what must never stand where git reads an option.
  const forbidden =
    /^(?:-f|--force(?!-)|--force-.*|--output.*|--no-index|--ext-diff|--textconv|--amend|--exec.*|--delete|-d|--mirror|--git-dir.*|--receive-pack=(?!git-receive-pack$).*|--upload-pack=(?!git-upload-pack$).*|-O.*)$/;
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.array(word, { maxLength: 5 }), async (sub, args) => {
      seen.length = 0;
      const { outcome } = await run({ sub, args });
      const read = parseGit([sub, ...args]);
      if (!read.ok) {
        expect(outcome).toMatchObject({ status: 'refused', code: 'invalid-action' });
        expect(seen).toEqual([]);
        return;
      }
      for (const ran of seen) {
        reached++;
        // A script of this test runs git directly.
        const argv = ran[0] === 'sh' ? ran.slice(4) : ran;
        expect(argv.slice(0, 2)).toEqual(['git', '--no-pager']);
        expect(argv).toContain('core.hooksPath=/dev/null');
        expect(argv).toContain('core.fsmonitor=false');
        const end = argv.indexOf('--');
        for (const option of argv.slice(0, end < 0 ? undefined : end)) expect(option).not.toMatch(forbidden);
      }
      const pushes = seen.filter((argv) => argv.includes('push'));
      for (const argv of pushes) expect(argv.slice(-3)).toEqual(['--', 'origin', 'refs/heads/main:refs/heads/main']);
    }),
    { numRuns: 400 },
  );
  expect(reached).toBeGreaterThan(50);
});
