import fs from 'node:fs';
import { expect, it } from 'vitest';
import { sandboxOfProcess } from '../../src/tools/sandbox/detect-sandbox.ts';
import { git, put, repository, resultOf, runner } from '../tools/git/support.ts';

it('a search of the git history does not reveal the content of a masked file', async () => {
  const { root } = repository();
  put(root, '.env', 'TOKEN=abc123\n');
  git(root, 'add', '--force', '.env');
  git(root, 'commit', '-q', '-m', 'oops');
  const run = runner(await sandboxOfProcess(), root);
  const found = async (...args: string[]) =>
    resultOf(await run({ sub: 'log', args: ['--oneline', ...args] }))['stdout'];
  expect(await found('-S', 'abc123')).toBe('');
  expect(await found('-G', 'abc1.3')).toBe('');
  expect(await found('-S', 'read me')).toContain('first');
  expect(fs.existsSync(`${root}/.env`)).toBe(true);
});
