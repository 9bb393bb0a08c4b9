import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { PROTECTED_FILE_NAMES } from '../../../src/spec/policy/protected-names.ts';
import { sha256Hex } from '../../../src/tools/content-effect.ts';
import { freshWorld, makeWorld } from './root-with-sentinels.ts';

describe('the tool edit', () => {
  const world = freshWorld();
  const edit = (old: string, text: string, more = {}) =>
    world().run('edit', { path: 'src/a.ts', old, new: text, ...more });

  it('replaces exact text and reports both contents', async () => {
    expect(await edit('two\n', '2\n2b\n')).toEqual({
      outcome: { status: 'ok', result: { path: 'src/a.ts', replacements: 1, lines: 4 } },
      effects: [
        {
          path: 'src/a.ts',
          op: 'modify',
          before: sha256Hex('one\ntwo\nthree\n'),
          after: sha256Hex('one\n2\n2b\nthree\n'),
        },
      ],
    });
    expect(world().text('root/src/a.ts')).toBe('one\n2\n2b\nthree\n');
  });

  it('treats the new text literally', async () => {
    await edit('two', "$& $1 $' \\n");
    expect(world().text('root/src/a.ts')).toBe("one\n$& $1 $' \\n\nthree\n");
  });

  it('names a full disk, and leaves the file as it was', async () => {
    const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const write = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw full;
    });
    syncBuiltinESMExports();
    const { outcome } = await edit('two', '2').finally(() => {
      write.mockRestore();
      syncBuiltinESMExports();
    });
    expect(outcome).toMatchObject({ status: 'failed', code: 'disk-full' });
    expect(world().text('root/src/a.ts')).toBe('one\ntwo\nthree\n');
    expect(world().leftovers()).toEqual([]);
  });

  it('can delete text', async () => {
    expect((await edit('one\ntwo\nthree\n', '')).outcome).toMatchObject({ result: { replacements: 1, lines: 0 } });
    expect(world().text('root/src/a.ts')).toBe('');
  });

  it('replaces one occurrence unless all are requested', async () => {
    expect((await edit('o', '0')).outcome).toMatchObject({
      status: 'failed',
      code: 'text-not-unique',
      message: expect.stringMatching(/2 times.*lines 1, 2/),
    });
    expect((await edit('o', '0', { all: true })).outcome).toMatchObject({ result: { replacements: 2 } });
    expect(world().text('root/src/a.ts')).toBe('0ne\ntw0\nthree\n');
  });

  it('names the most similar lines if the text was not found', async () => {
    expect((await edit('two\nfour', 'x')).outcome).toMatchObject({
      status: 'failed',
      code: 'text-not-found',
      message: expect.stringMatching(/3 lines.*first line is there \(line 2\)/),
    });
    expect((await edit('zwei', 'x')).outcome).toMatchObject({
      message: expect.stringContaining('its first line was not found either'),
    });
    expect(world().text('root/src/a.ts')).toBe('one\ntwo\nthree\n');
  });

  it('keeps CRLF, and says if only line ends differ', async () => {
    world().make({ 'root/src/a.ts': 'one\r\ntwo\r\n' });
    expect((await edit('one\ntwo', 'x')).outcome).toMatchObject({
      code: 'text-not-found',
      message: expect.stringContaining('CRLF'),
    });
    expect((await edit('one\r\ntwo', 'x\r\ny')).outcome).toMatchObject({ status: 'ok' });
    expect(world().text('root/src/a.ts')).toBe('x\r\ny\r\n');
    world().make({ 'root/src/a.ts': 'one\ntwo\n' });
    expect((await edit('one\r\ntwo', 'x')).outcome).toMatchObject({
      code: 'text-not-found',
      message: expect.stringContaining('LF ("\\n")'),
    });
  });

  it('refuses meaningless arguments, and changes nothing for equal texts', async () => {
    expect((await edit('', 'x')).outcome).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'old' });
    expect((await edit('two', 'two')).outcome).toMatchObject({ status: 'failed', code: 'no-change' });
    expect((await edit('two', '\ud800')).outcome).toMatchObject({ status: 'refused', argument: 'new' });
    expect(await world().ask('edit', { path: 'src/none.ts', old: 'a', new: 'b' })).toMatchObject({ code: 'not-found' });
    expect(world().exists('root/src/none.ts')).toBe(false);
  });

  it('keeps every other byte in any encoding', async () => {
    const other = Buffer.from([0xef, 0xbb, 0xbf, 0xe9, 0x0d, 0x0a, 0xff]);
    world().make({ 'root/src/a.ts': Buffer.concat([other, Buffer.from('two'), other]) });
    await edit('two', 'zwei');
    expect(fs.readFileSync(path.join(world().root, 'src/a.ts'))).toEqual(
      Buffer.concat([other, Buffer.from('zwei'), other]),
    );
  });

  it('does not edit binary files', async () => {
    world().make({ 'root/src/a.ts': 'two\0' });
    expect((await edit('two', '2')).outcome).toMatchObject({ code: 'binary-file' });
  });
});

describe('the tool write', () => {
  const world = freshWorld();
  const write = (target: string, content = 'new\n') => world().run('write', { path: target, content });

  it('creates a file with its missing folders', async () => {
    expect(await write('src/new/deep/é.ts', 'é')).toEqual({
      outcome: { status: 'ok', result: { path: 'src/new/deep/é.ts', bytes: 2, created: true } },
      effects: [{ path: 'src/new/deep/é.ts', op: 'create', after: sha256Hex('é') }],
    });
    expect(world().text('root/src/new/deep/é.ts')).toBe('é');
  });

  it('replaces a whole file and keeps its mode without set-id bits', async () => {
    fs.chmodSync(path.join(world().root, 'src/a.ts'), 0o4755);
    expect(await write('src/a.ts', '')).toMatchObject({
      outcome: { result: { bytes: 0, created: false } },
      effects: [{ op: 'modify', before: sha256Hex('one\ntwo\nthree\n'), after: sha256Hex('') }],
    });
    expect(fs.statSync(path.join(world().root, 'src/a.ts')).mode & 0o7777).toBe(0o755);
  });

  it('is atomic: a reader of the old file sees the old content to its end', async () => {
    const fd = fs.openSync(path.join(world().root, 'src/a.ts'), 'r');
    await write('src/a.ts', 'x'.repeat(100_000));
    expect(fs.readFileSync(fd, 'utf8')).toBe('one\ntwo\nthree\n');
    fs.closeSync(fd);
  });

  it('leaves no temporary file and no empty folder behind when it fails', async () => {
    expect((await write(`src/made/${'n'.repeat(256)}`)).outcome).toMatchObject({
      status: 'failed',
      code: 'name-too-long',
    });
    expect(world().exists('root/src/made')).toBe(false);
    expect(world().leftovers()).toEqual([]);
  });

  it.each(PROTECTED_FILE_NAMES)('never writes %s in any scope', async (name) => {
    const scope = { read: 'root', write: ['.', name, 'src/'], command: 'none', url: 'none' } as const;
    for (const target of [name, `${name}/x`, `src/${name}`, `src/${name}/x/y`, name.toUpperCase(), `src/../${name}`])
      expect(await world().ask('write', { path: target, content: 'x' }, { scope }), target).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(fs.readdirSync(world().root).sort()).toEqual(['docs', 'src', 'src-evil']);
  });

  it('does not read a file of hundreds of megabytes', async () => {
    fs.truncateSync(path.join(world().root, 'src/a.ts'), 300 * 2 ** 20);
    expect((await write('src/a.ts')).outcome).toMatchObject({ status: 'failed', code: 'too-large' });
  });

  it('names the git tool for git’s own files', async () => {
    expect((await write('src/.git/config')).outcome).toMatchObject({ remedy: expect.stringContaining('git tool') });
  });

  it('never writes a file that defines the agent’s limits', async () => {
    const scope = { read: 'root', write: ['.'], command: 'none', url: 'none' } as const;
    const config = { ...world().call('write', {}).envelope.config, specs: 'my/specs' };
    for (const target of ['hopgate.yaml', 'my/specs/gate.yaml', 'my/specs'])
      expect(await world().ask('write', { path: target, content: 'x' }, { scope, config })).toMatchObject({
        status: 'refused',
      });
    expect(await world().ask('write', { path: 'my/other.yaml', content: 'x' }, { scope, config })).toMatchObject({
      status: 'ok',
    });
  });

  it('writes no masked file, and nothing with an empty scope', async () => {
    const empty = { read: 'root', write: [], command: 'none', url: 'none' } as const;
    expect((await write('src/.env')).outcome).toMatchObject({ status: 'refused' });
    expect((await write('src/secrets/x')).outcome).toMatchObject({ status: 'refused' });
    expect(await world().ask('write', { path: 'src/x', content: '' }, { scope: empty })).toMatchObject({
      status: 'refused',
    });
    for (const odd of ['', '/', '..', '../root', '/src'])
      expect(
        await world().ask('write', { path: 'src/x', content: '' }, { scope: { ...empty, write: [odd] } }),
        odd,
      ).toMatchObject({ status: 'refused' });
  });

  it('accepts a scope of a single file', async () => {
    const scope = { read: 'root', write: ['docs/guide.md'], command: 'none', url: 'none' } as const;
    expect(await world().ask('write', { path: 'docs/guide.md', content: '' }, { scope })).toMatchObject({
      status: 'ok',
    });
    expect(await world().ask('write', { path: 'docs/guide.md.bak', content: '' }, { scope })).toMatchObject({
      status: 'refused',
    });
  });

  it.each([[1], [null], ['\ud800']])('refuses %j as content', async (content) => {
    expect(await world().ask('write', { path: 'src/x', content })).toMatchObject({
      status: 'refused',
      argument: 'content',
    });
  });
});

describe('edit against a plain model', () => {
  it('gives the same result as splitting and joining', async () => {
    const world = makeWorld();
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'é', '\n', '\r\n', '$&'), { maxLength: 12 })
      .map((parts) => parts.join(''));
    try {
      await fc.assert(
        fc.asyncProperty(text, text, text, fc.boolean(), async (content, old, replacement, all) => {
          fc.pre(old !== '' && old !== replacement);
          world.make({ 'root/src/f': content });
          const outcome = await world.ask('edit', { path: 'src/f', old, new: replacement, all });
          const parts = content.split(old);
          const allowed = parts.length === 2 || (all && parts.length > 2);
          expect(outcome.status).toBe(allowed ? 'ok' : 'failed');
          expect(world.text('root/src/f')).toBe(allowed ? parts.join(replacement) : content);
        }),
        { numRuns: 300 },
      );
    } finally {
      world.remove();
    }
  });
});
