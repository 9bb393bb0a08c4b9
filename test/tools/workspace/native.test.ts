import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NativeCallWatcher } from '../../../src/ports/tool-backend.ts';
import { sha256Hex } from '../../../src/tools/content-effect.ts';
import { workspaceBackend } from '../../../src/tools/workspace/workspace-backend.ts';
import { freshWorld } from './root-with-sentinels.ts';

const world = freshWorld();
const watch = workspaceBackend().native as NativeCallWatcher;
const everywhere = {
  scope: {
    read: 'root' as const,
    write: ['src/', 'docs/', 'node_modules/', 'vendor/'],
    command: 'none' as const,
    url: 'none' as const,
  },
};

async function look(tool: string, args: { [name: string]: string | boolean }, envelope = {}) {
  return watch.before(world().call(tool, args, envelope));
}

async function refusedFor(tool: string, args: { [name: string]: string | boolean }, envelope = {}) {
  const seen = await look(tool, args, envelope);
  return 'refused' in seen ? seen.refused : null;
}

/** The effects observed of a write that another program makes. */
async function seen(tool: string, args: { [name: string]: string }, act: () => void) {
  const call = world().call(tool, args);
  const looked = await watch.before(call);
  if ('refused' in looked) throw new Error(looked.refused.message);
  act();
  return watch.after(call, looked.before);
}

describe('the check before another program writes', () => {
  it('records the real path and the hash, or that there is no file', async () => {
    world().link('root/src/other.ts', 'a.ts');
    const hash = sha256Hex('one\ntwo\nthree\n');
    expect(await look('edit', { path: 'src/a.ts' })).toEqual({ before: { path: 'src/a.ts', sha256: hash } });
    expect(await look('write', { path: `${world().root}/src/other.ts` })).toEqual({
      before: { path: 'src/a.ts', sha256: hash },
    });
    expect(await look('write', { path: 'src/new/b.ts' })).toEqual({ before: { path: 'src/new/b.ts', sha256: null } });
  });

  it.each([
    ['a path outside the root', '../beside/secret.txt'],
    ['an absolute path elsewhere', '/etc/passwd'],
    ['a path outside the scope', 'docs/guide.md'],
    ['a path that only begins like the scope', 'src-evil/a.ts'],
    ['a masked file', 'src/secrets/key'],
    ['a file of git', 'src/.git/config'],
    ['settings of an agent', 'src/.claude/settings.json'],
  ])('refuses %s', async (_, name) => {
    expect(await refusedFor('write', { path: name, content: 'x' })).toMatchObject({ code: 'out-of-scope' });
  });

  it('records that a change removed a test', async () => {
    world().make({ 'root/src/a.test.ts': "it('a', x);\nit('b', x);\n" });
    const edit = () => world().make({ 'root/src/a.test.ts': "it('a', x);\n" });
    expect(await seen('edit', { path: 'src/a.test.ts' }, edit)).toMatchObject([
      { path: 'src/a.test.ts', op: 'modify', finding: 'the file contains 1 test fewer than before' },
    ]);
  });

  it('refuses an import of a masked file, also one that only the edited text contains', async () => {
    world().make({ 'root/src/CLAUDE.md': 'See @secrets/k' });
    expect(await refusedFor('write', { path: 'src/CLAUDE.md', content: '@secrets/key' })).toMatchObject({
      code: 'out-of-scope',
      message: expect.stringContaining('"@secrets/key", which is masked'),
    });
    expect(await refusedFor('edit', { path: 'src/CLAUDE.md', old: '@secrets/k', new: '@secrets/key' })).not.toBeNull();
    expect(await refusedFor('edit', { path: 'src/CLAUDE.md', old: 'See @', new: 'See ' })).toBeNull();
  });

  it.each(['hopgate/dist/hook.js', 'hopgate', '.bin/hopgate', '@x/y/node_modules/hopgate/package.json'])(
    'refuses node_modules/%s, because the next hook could load it',
    async (name) => {
      const refused = await refusedFor('write', { path: `node_modules/${name}`, content: 'x' }, everywhere);
      expect(refused).toMatchObject({ code: 'out-of-scope' });
      expect(
        await refusedFor('write', { path: 'node_modules/hopgate-else/a.js', content: 'x' }, everywhere),
      ).toBeNull();
    },
  );

  it('refuses a link out of the root or out of the scope', async () => {
    world().link('root/src/out.ts', '../../beside/secret.txt');
    world().link('root/src/folder', '../../beside');
    world().link('root/src/guide.md', '../docs/guide.md');
    for (const name of ['src/out.ts', 'src/folder/new.txt', 'src/guide.md'])
      expect(await refusedFor('edit', { path: name }), name).toMatchObject({ code: 'out-of-scope', argument: 'path' });
  });

  it('refuses a hard link, a FIFO, a folder, and a link loop', async () => {
    fs.linkSync(path.join(world().base, 'beside/secret.txt'), path.join(world().root, 'src/hard.ts'));
    execFileSync('mkfifo', [path.join(world().root, 'src/pipe')]);
    world().link('root/src/loop', 'loop');
    expect(await refusedFor('write', { path: 'src/hard.ts', content: '' })).toMatchObject({ code: 'out-of-scope' });
    expect(await refusedFor('write', { path: 'src/pipe', content: '' })).toMatchObject({ code: 'out-of-scope' });
    expect(await refusedFor('write', { path: 'src/loop', content: '' })).toMatchObject({ code: 'invalid-action' });
    expect(await refusedFor('write', { path: 'src', content: '' })).toMatchObject({ code: 'invalid-action' });
  });
});

describe('the check before another program reads', () => {
  it('allows readable and missing files', async () => {
    expect(await refusedFor('read', { path: 'docs/guide.md' })).toBeNull();
    expect(await refusedFor('read', { path: 'docs/none.md' })).toBeNull();
    expect(await refusedFor('read', { path: 'src/a.ts/b' })).toBeNull();
  });

  it('refuses masked files under any name, links out of the root, and FIFOs, which would block the program', async () => {
    world().make({ 'root/secrets/key': 'OUTSIDE' });
    world().link('root/src/key', '../secrets/key');
    world().link('root/src/out', '../../beside/secret.txt');
    execFileSync('mkfifo', [path.join(world().root, 'src/pipe')]);
    for (const name of ['secrets/key', 'src/key', 'src/out', 'src/pipe', '/etc/passwd'])
      expect(await refusedFor('read', { path: name }), name).toMatchObject({ code: 'out-of-scope' });
  });
});

describe('the check before another program searches', () => {
  it.each([
    ['glob', { pattern: '**/*.ts' }],
    ['grep', { pattern: 'two' }],
  ])('allows %s if there is no masked file', async (tool, args) => {
    expect(await refusedFor(tool, args)).toBeNull();
  });

  it.each([
    ['glob', { pattern: '**/*.ts' }],
    ['grep', { pattern: 'two' }],
  ])(
    'refuses %s with hopgate’s own tool as the remedy if there is a masked file, even an ignored or hidden one',
    async (tool, args) => {
      world().make({ 'root/docs/.hidden/x.pem': 'OUTSIDE', 'root/.gitignore': '*.pem\n' });
      const refused = await refusedFor(tool, args);
      expect(refused).toMatchObject({ code: 'out-of-scope' });
      expect(refused?.message).toContain('docs/.hidden/x.pem');
      expect(refused?.remedy).toContain(`hopgate's own "${tool}"`);
      expect(await refusedFor(tool, { ...args, path: 'src' })).toBeNull();
    },
  );

  it('refuses a search outside the root', async () => {
    world().link('root/src/out', '../../beside');
    expect(await refusedFor('glob', { pattern: '/etc/*' })).toMatchObject({ code: 'out-of-scope' });
    expect(await refusedFor('glob', { pattern: '../**' })).toMatchObject({ code: 'out-of-scope' });
    expect(await refusedFor('grep', { pattern: 'x', path: 'src/out' })).toMatchObject({ code: 'out-of-scope' });
    expect(await refusedFor('grep', { pattern: 'x', path: '/etc' })).toMatchObject({ code: 'out-of-scope' });
  });

  it('refuses a search if only the files of the session log may be read', async () => {
    const scope = { read: 'session-log' as const, write: [], command: 'none' as const, url: 'none' as const };
    expect(await refusedFor('grep', { pattern: 'two' }, { scope, readableFiles: ['src/a.ts'] })).not.toBeNull();
  });
});

describe('the check after another program', () => {
  it('finds a change by its hashes', async () => {
    const effects = await seen('edit', { path: 'src/a.ts' }, () => world().make({ 'root/src/a.ts': 'new' }));
    expect(effects).toEqual([
      { path: 'src/a.ts', op: 'modify', before: sha256Hex('one\ntwo\nthree\n'), after: sha256Hex('new') },
    ]);
  });

  it('finds a new file, also in new folders', async () => {
    const effects = await seen('write', { path: 'src/x/y.ts' }, () => world().make({ 'root/src/x/y.ts': 'y' }));
    expect(effects).toEqual([{ path: 'src/x/y.ts', op: 'create', after: sha256Hex('y') }]);
  });

  it('finds an unchanged file and a deleted one', async () => {
    expect(await seen('edit', { path: 'src/a.ts' }, () => {})).toEqual([]);
    expect(await seen('write', { path: 'src/none.ts' }, () => {})).toEqual([]);
    const gone = await seen('edit', { path: 'src/a.ts' }, () => fs.rmSync(path.join(world().root, 'src/a.ts')));
    expect(gone).toEqual([{ path: 'src/a.ts', op: 'delete', before: sha256Hex('one\ntwo\nthree\n') }]);
  });

  it('reports an unobserved effect if a link or a folder has taken the file’s place', async () => {
    const swapped = await seen('write', { path: 'src/a.ts' }, () => {
      fs.rmSync(path.join(world().root, 'src/a.ts'));
      world().link('root/src/a.ts', '../docs/guide.md');
    });
    expect(swapped).toBe('unobserved');
    const folder = await seen('write', { path: 'src/b.ts' }, () => fs.mkdirSync(path.join(world().root, 'src/b.ts')));
    expect(folder).toBe('unobserved');
  });

  it('reports unobserved effects if the record of the check before is forged', async () => {
    const call = world().call('write', { path: 'src/a.ts' });
    for (const forged of [null, 'x', [], { path: 1 }, { sha256: null }])
      expect(await watch.after(call, forged as never)).toBe('unobserved');
  });

  it('reports what was read', async () => {
    expect(await seen('read', { path: 'src/a.ts' }, () => {})).toEqual([{ path: 'src/a.ts', op: 'read' }]);
    expect(await seen('read', { path: 'src/none.ts' }, () => {})).toEqual([]);
    expect(await seen('grep', { pattern: 'two' }, () => {})).toEqual([]);
  });
});
