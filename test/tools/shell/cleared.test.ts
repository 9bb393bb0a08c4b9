import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isDeep } from '../../depth.ts';
import { ok, scratch } from './support.ts';

/**
 * The temporary folders of this process. Files that only the owner of a repository may see are in one that others
 * cannot list.
 */
const own = () =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith('hopgate-sandbox-') && name.includes(`-${process.pid}-`))
    .map((name) => join(tmpdir(), name));
const isHidden = (folder: string) => (statSync(folder).mode & 0o777) === 0o711;
// A launcher may add its pipes during the removal.
const remove = (folder: string) => rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 20 });

const CLEARED: { readonly [what: string]: (folders: readonly string[]) => void } = {
  'the folders that cover masked files': (folders) => folders.filter(isHidden).forEach(remove),
  'the files in the folders that cover masked files': (folders) =>
    void execFileSync('find', [...folders.filter(isHidden), '-type', 'f', '-delete']),
  'the files of a sandbox': (folders) => folders.filter((folder) => !isHidden(folder)).forEach(remove),
  'the pipes of the launcher that waits for the next command': (folders) =>
    void execFileSync('find', [...folders, '-type', 'p', '-delete']),
  'all temporary folders': (folders) => folders.forEach(remove),
};

it.runIf(isDeep).each(Object.entries(CLEARED))(
  'the next command works after a cleaner removed %s',
  async (_, clear) => {
    const root = scratch({ '.env': 'SECRET', 'src/.env': 'SECRET', 'src/a': 'a' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@x', ...args], { cwd: root });
    git('init', '-q');
    git('add', '-f', '.');
    git('commit', '-q', '-m', 'first');
    writeFileSync(join(root, '.env'), 'SECRET-2');
    git('add', '-f', '.env');
    const command = 'git cat-file -p HEAD:.env && cat .env src/.env && git show HEAD:src/a';
    for (let round = 0; round < 2; round++) {
      for (const tool of ['bash', 'bash-readonly'])
        expect((await ok(root, tool, { command })).result).toMatchObject({ exit: 0, stdout: 'a', stderr: '' });
      clear(own());
    }
  },
);
