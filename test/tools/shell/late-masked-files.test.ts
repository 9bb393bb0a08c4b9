import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import * as readFolder from '../../../src/tools/sandbox/mounts/read-folder.ts';
import { scanTree } from '../../../src/tools/sandbox/mounts/scan-tree.ts';
import { makeReadOnlyLayout } from '../../../src/tools/sandbox/mounts/tool-layouts.ts';
import { watchCoveredFiles } from '../../../src/tools/shell/late-masked-files.ts';
import { scratch } from './support.ts';

vi.mock(import('../../../src/tools/sandbox/mounts/read-folder.ts'), { spy: true });

const masks = ['.env', '*.pem'];
const put = (root: string, path: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), 'SECRET');
};

/** A tree whose folders have settled, watched from now on. */
async function watched() {
  const root = scratch({
    '.env': 'S',
    'src/deep/er/a': 'a',
    'node_modules/d/e/b': 'b',
    'src/name': 'n',
    '.git/x': 'x',
  });
  await sleep(150);
  const scan = scanTree(root, masks);
  return { root, check: watchCoveredFiles({ root, masks, scan }, makeReadOnlyLayout({ root, masks, scan })) };
}

const LATE: { readonly [how: string]: (root: string) => void } = {
  'in the root': (root) => put(root, 'key.pem'),
  'in a deep folder': (root) => put(root, 'src/deep/er/.env'),
  'in a new folder': (root) => put(root, 'src/new/one/.env'),
  'in an installed package': (root) => put(root, 'node_modules/d/e/.env'),
  'in a new package': (root) => put(root, 'node_modules/f/.env'),
  'in a git folder': (root) => put(root, '.git/.env'),
  'by a new name': (root) => renameSync(join(root, 'src/name'), join(root, 'src/.env')),
  'in a folder whose time is set back': (root) => {
    put(root, 'src/.env');
    utimesSync(join(root, 'src'), 1, 1);
  },
};

describe('a masked file that appears while a command runs', () => {
  it.each(Object.entries(LATE))('is noticed %s, however short the command', async (_, appear) => {
    const { root, check } = await watched();
    appear(root);
    expect(check).toThrow(/appeared while the command ran/);
  });

  it('is noticed even if it appears directly after another change', () => {
    const root = scratch({ 'src/a': 'a' });
    const scan = scanTree(root, masks);
    const check = watchCoveredFiles({ root, masks, scan }, makeReadOnlyLayout({ root, masks, scan }));
    put(root, 'src/.env');
    expect(check).toThrow(/src\/\.env is masked, and appeared/);
  });

  it('is searched only in changed folders', async () => {
    const { check } = await watched();
    const before = vi.mocked(readFolder.readFolder).mock.calls.length;
    check();
    expect(vi.mocked(readFolder.readFolder).mock.calls.length).toBe(before);
  });
});
