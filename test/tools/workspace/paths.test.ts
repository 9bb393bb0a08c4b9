import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshWorld } from './root-with-sentinels.ts';

const WHOLE = { scope: { read: 'root', write: ['.'], command: 'none', url: 'none' } } as const;

describe.each([
  ['by descriptor', {}],
  ['by real path', { containment: 'real-path' }],
] as const)('the path check %s', (_, options) => {
  const world = freshWorld(options);
  const refusedEverywhere = async (argument: string, code: string) => {
    const before = world().outside();
    for (const [tool, more] of [
      ['read', {}],
      ['glob', { pattern: '**' }],
      ['grep', { pattern: '.' }],
      ['edit', { old: 'two', new: '2' }],
      ['write', { content: 'x' }],
    ] as const) {
      const outcome = await world().ask(tool, { path: argument, ...more });
      expect(outcome, `${tool} ${JSON.stringify(argument)}`).toMatchObject({
        status: 'refused',
        code,
        argument: 'path',
      });
    }
    expect(world().outside()).toBe(before);
  };

  it.each([
    ['nothing', ''],
    ['NUL', 'src/a.ts\0.png'],
    ['a newline', 'src/a\n.ts'],
    ['an escape', 'src/\u001b[2J'],
    ['C1 controls', 'src/\u0085'],
    ['half a character', 'src/\ud800'],
    ['more than 4096 bytes', `src/${'é'.repeat(2047)}`],
  ])('refuses %s', async (_what, argument) => refusedEverywhere(argument, 'invalid-action'));

  it.each([[1], [null], [['src/a.ts']], [{ path: 'src' }], [true]])(
    'refuses %j, which is not a string',
    async (argument) => {
      expect(await world().ask('read', { path: argument })).toMatchObject({
        status: 'refused',
        code: 'invalid-action',
      });
      expect(await world().ask('write', { path: argument, content: '' })).toMatchObject({
        status: 'refused',
        code: 'invalid-action',
      });
    },
  );

  it.each([
    '..',
    '../beside/secret.txt',
    'src/../../beside/secret.txt',
    '/etc/passwd',
    '/',
    '../root-evil/a.ts',
    '../root/src/a.ts',
    'src/../../root/src/a.ts',
  ])('refuses %s, which is outside the root', async (argument) => refusedEverywhere(argument, 'out-of-scope'));

  it('compares whole names: root-evil is not root, src-evil is not src', async () => {
    await refusedEverywhere(`${world().root}-evil/a.ts`, 'out-of-scope');
    expect(await world().ask('read', { path: 'src-evil/a.ts' })).toMatchObject({ status: 'ok' });
    for (const target of ['src-evil/a.ts', 'src-evil/new.ts', 'srcs', 'docs/guide.md'])
      expect(await world().ask('write', { path: target, content: 'x' })).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(world().text('root/src-evil/a.ts')).toBe('not in scope\n');
  });

  it.each([
    'src/a.ts',
    './src/a.ts',
    'src/./a.ts',
    'src//a.ts',
    'docs/../src/a.ts',
    'nowhere/../src/a.ts',
    'ROOT/src/a.ts',
    'ROOT/docs/../src/a.ts',
  ])('accepts %s', async (spelling) => {
    const argument = spelling.replace('ROOT', world().root);
    expect(await world().ask('read', { path: argument })).toMatchObject({
      status: 'ok',
      result: { path: 'src/a.ts', lines: 3 },
    });
    expect(await world().run('write', { path: argument, content: 'new' })).toMatchObject({
      effects: [{ path: 'src/a.ts', op: 'modify' }],
    });
    expect(world().text('root/src/a.ts')).toBe('new');
  });

  it('accepts names of any script, and distinguishes composed and decomposed forms', async () => {
    const [composed, decomposed] = ['src/caf\u00e9.ts', 'src/cafe\u0301.ts'];
    world().make({
      [`root/${composed}`]: 'composed',
      [`root/${decomposed}`]: 'decomposed',
      'root/src/日本 語.ts': 'x',
    });
    expect(await world().ask('read', { path: composed })).toMatchObject({
      result: { text: 'composed', path: composed },
    });
    expect(await world().ask('read', { path: decomposed })).toMatchObject({
      result: { text: 'decomposed', path: decomposed },
    });
    expect(await world().ask('read', { path: 'src/日本 語.ts' })).toMatchObject({ status: 'ok' });
  });

  it('names the kind of file that is in the way', async () => {
    expect(await world().ask('read', { path: 'src' })).toMatchObject({
      status: 'failed',
      code: 'is-a-folder',
      message: expect.stringContaining('glob'),
    });
    expect(await world().ask('write', { path: 'src', content: '' })).toMatchObject({ code: 'is-a-folder' });
    expect(await world().ask('read', { path: 'src/a.ts/b' })).toMatchObject({ code: 'not-a-folder' });
    expect(await world().ask('write', { path: 'src/a.ts/b', content: '' })).toMatchObject({ code: 'not-a-folder' });
    expect(await world().ask('read', { path: `src/${'n'.repeat(256)}` })).toMatchObject({ code: 'name-too-long' });
    expect(await world().ask('write', { path: `src/${'n'.repeat(256)}/x`, content: '' })).toMatchObject({
      code: 'name-too-long',
    });
  });

  it('follows a link within the root, and names its target', async () => {
    world().link('root/src/near', 'a.ts');
    world().link('root/docs/far', '../src/near');
    world().link('root/folder', 'src');
    world().link('root/absolute', path.join(world().root, 'src'));
    for (const argument of ['src/near', 'docs/far', 'folder/a.ts', 'folder/near', 'absolute/near'])
      expect(await world().run('read', { path: argument })).toMatchObject({
        outcome: { status: 'ok', result: { path: 'src/a.ts' } },
        effects: [{ path: 'src/a.ts', op: 'read' }],
      });
    expect(await world().ask('glob', { pattern: '*', path: 'folder' })).toMatchObject({
      result: { files: ['src/a.ts'] },
    });
  });

  it('refuses a link out of the root anywhere in a path', async () => {
    world().link('root/src/file', '../../beside/secret.txt');
    world().link('root/src/folder', path.join(world().base, 'beside'));
    world().link('root/src/twice', 'folder/secret.txt');
    world().link('root/src/back', '../../root/src/a.ts');
    world().link('root/src/dangling', '../../beside/new.txt');
    world().link('root/src/proc', '/proc/self/environ');
    for (const name of [
      'file',
      'folder',
      'folder/secret.txt',
      'folder/new.txt',
      'folder/../a.ts/../folder/deep/a.ts',
      'twice',
      'back',
      'dangling',
      'proc',
    ])
      await refusedEverywhere(`src/${name}`, 'out-of-scope');
  });

  it('refuses loops and dangling links', async () => {
    world().link('root/src/loop', 'loop');
    world().link('root/src/ping', 'pong');
    world().link('root/src/pong', 'ping');
    world().link('root/src/dangling', 'nowhere/../a.ts');
    for (const name of ['loop', 'ping', 'pong/x'])
      expect(await world().ask('read', { path: `src/${name}` })).toMatchObject({
        status: 'failed',
        code: 'too-many-links',
      });
    expect(await world().ask('read', { path: 'src/dangling' })).toMatchObject({ status: 'failed', code: 'not-found' });
  });

  it('requires that a link’s target is in the scope and unmasked, too', async () => {
    world().make({ 'root/.env': 'KEY=1', 'root/.git/hooks/x': 'hook' });
    world().link('root/src/out-of-scope', '../docs/guide.md');
    world().link('root/src/new-elsewhere', '../docs/new.md');
    world().link('root/src/masked', '../.env');
    world().link('root/src/hooks', '../.git/hooks');
    for (const name of ['out-of-scope', 'new-elsewhere', 'masked', 'hooks/x', 'hooks/new'])
      expect(await world().ask('write', { path: `src/${name}`, content: 'x' })).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(await world().ask('read', { path: 'src/masked' })).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
    });
    expect(await world().ask('read', { path: 'src/out-of-scope' })).toMatchObject({ status: 'ok' });
    expect(world().text('root/docs/guide.md')).toBe('two words\n');
    expect(world().exists('root/docs/new.md')).toBe(false);
  });

  it('refuses files that only git writes, also if the root itself is a bare repository', async () => {
    for (const bare of ['root/', 'root/src/']) {
      world().make({ [`${bare}HEAD`]: 'ref: refs/heads/main', [`${bare}objects/x`]: '', [`${bare}refs/x`]: '' });
      for (const name of ['hooks/post-update', 'refs/heads/main', 'objects/info/alternates', 'info/attributes'])
        expect(await world().ask('write', { path: `${bare.slice(5)}${name}`, content: 'x' }, WHOLE)).toMatchObject({
          status: 'refused',
          code: 'out-of-scope',
        });
    }
    expect(await world().ask('write', { path: 'other/a.ts', content: 'x' }, WHOLE)).toMatchObject({
      status: 'ok',
    });
  });

  it('lets a tool write through a link in the scope, and the link is kept', async () => {
    world().link('root/src/near', 'a.ts');
    expect(await world().run('write', { path: 'src/near', content: 'x' })).toMatchObject({
      effects: [{ path: 'src/a.ts' }],
    });
    expect(fs.readlinkSync(path.join(world().root, 'src/near'))).toBe('a.ts');
    expect(world().text('root/src/a.ts')).toBe('x');
  });

  it('refuses FIFOs, sockets and devices without blocking', async () => {
    execFileSync('mkfifo', [path.join(world().root, 'src/fifo')]);
    const made = process.getuid?.() === 0 && trySpecial('mknod', [path.join(world().root, 'src/null'), 'c', '1', '3']);
    for (const name of ['fifo', ...(made ? ['null'] : [])]) await refusedEverywhere(`src/${name}`, 'out-of-scope');
    expect(await world().ask('grep', { pattern: 'two', path: 'src' })).toMatchObject({
      result: { files: ['src/a.ts'] },
    });
    expect(await world().ask('glob', { pattern: '**', path: 'src' })).toMatchObject({
      result: { files: ['src/a.ts'] },
    });
  });

  it('reads a file with several names, but never writes it', async () => {
    fs.linkSync(path.join(world().base, 'beside/secret.txt'), path.join(world().root, 'src/hard'));
    for (const [tool, more] of [
      ['write', { content: 'x' }],
      ['edit', { old: 'OUTSIDE', new: 'x' }],
    ] as const)
      expect(await world().ask(tool, { path: 'src/hard', ...more })).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(world().text('beside/secret.txt')).toBe('OUTSIDE\n');
    expect(world().text('root/src/hard')).toBe('OUTSIDE\n');
  });

  it('leaves no descriptor open', async () => {
    const open = () => fs.readdirSync('/proc/self/fd').length;
    world().link('root/src/loop', 'loop');
    world().link('root/src/out', '../../beside');
    const before = open();
    for (const argument of [
      'src/a.ts',
      'src',
      'src/none/x',
      'src/loop',
      'src/out/x',
      'src/a.ts/x',
      `src/${'n'.repeat(300)}`,
      '../x',
    ])
      for (const [tool, more] of [
        ['read', {}],
        ['glob', { pattern: '**' }],
        ['grep', { pattern: 'o' }],
        ['edit', { old: 'q', new: '' }],
      ] as const)
        await world().ask(tool, { path: argument, ...more });
    await world().ask('write', { path: 'src/x/y/z.ts', content: '' });
    expect(open()).toBe(before);
  });
});

function trySpecial(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
