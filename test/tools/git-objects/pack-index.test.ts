import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packMembershipTest } from '../../../src/tools/git-objects/pack-index.ts';
import { depth, sample } from '../../depth.ts';
import { scratch } from '../shell/support.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], { cwd, encoding: 'utf8' });

const FORMATS = [
  ['sha1', '2', 20],
  ['sha1', '1', 20],
  ['sha256', '2', 32],
] as const;
const files = depth(100, 600);

it.each(sample(FORMATS, 3))(
  'a pack of %s with an index of version %s contains exactly the objects that git lists',
  (format, version, nameBytes) => {
    const root = scratch();
    git(root, 'init', '-q', `--object-format=${format}`);
    for (let i = 0; i < files; i++) writeFileSync(join(root, `${i}.txt`), `${i}\n`);
    git(root, 'add', '.');
    git(root, 'commit', '-q', '-m', 'all');
    git(root, '-c', `pack.indexVersion=${version}`, 'gc', '-q');
    const names = git(root, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)').trim().split('\n');
    const packs = join(root, '.git/objects/pack');
    const has = packMembershipTest(join(packs, readdirSync(packs).find((name) => name.endsWith('.idx'))!), nameBytes);
    expect(names.length).toBe(files + 2);
    expect(names.filter((name) => !has(name))).toEqual([]);
    const others = names.map((name) => name.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    expect(others.filter(has)).toEqual([]);
    expect(['00'.repeat(nameBytes), 'ff'.repeat(nameBytes)].filter(has)).toEqual([]);
  },
);
