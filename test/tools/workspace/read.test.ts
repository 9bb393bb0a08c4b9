import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshWorld, makeWorld, resultOf } from './root-with-sentinels.ts';

describe('the tool read', () => {
  const world = freshWorld();
  const read = async (args: { [name: string]: number | string }, more = {}) =>
    world().ask('read', { path: 'src/f', ...args }, {}, more);

  it('returns lines from 1 with their own line ends, and the total', async () => {
    world().make({ 'root/src/f': 'a\r\nb\n\nlast' });
    expect(await read({})).toEqual({
      status: 'ok',
      result: { path: 'src/f', text: 'a\r\nb\n\nlast', from: 1, to: 4, lines: 4, truncated: false },
    });
    expect(await read({ offset: 2, limit: 2 })).toMatchObject({ result: { text: 'b\n\n', from: 2, to: 3, lines: 4 } });
    expect(await read({ offset: 4, limit: 9 })).toMatchObject({ result: { text: 'last', from: 4, to: 4 } });
    expect(await read({ offset: 5 })).toMatchObject({
      status: 'failed',
      code: 'no-such-line',
      message: expect.stringContaining('4 lines'),
    });
  });

  it('reads an empty file', async () => {
    world().make({ 'root/src/f': '' });
    expect(await read({})).toMatchObject({ result: { text: '', from: 1, to: 0, lines: 0, truncated: false } });
  });

  it.each([0, -1, 1.5, 'x'])('refuses %j as a line number', async (offset) => {
    world().make({ 'root/src/f': 'a' });
    expect(await read({ offset })).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'offset' });
    expect(await read({ limit: offset })).toMatchObject({
      status: 'refused',
      code: 'invalid-action',
      argument: 'limit',
    });
  });

  it('finds ranges in 100,000 lines across its read blocks', async () => {
    const line = (n: number) => `line ${n} ${'é'.repeat(n % 40)}\n`;
    const all = Array.from({ length: 100_000 }, (_, i) => line(i + 1));
    world().make({ 'root/src/f': all.join('') });
    for (const [offset, limit] of [
      [1, 3],
      [49_998, 5],
      [99_999, 10],
      [3000, 20_000],
    ] as const) {
      const expected = all.slice(offset - 1, offset - 1 + limit);
      expect(await read({ offset, limit }, { limits: { outputBytes: 10_000_000 } })).toMatchObject({
        result: {
          text: expected.join(''),
          from: offset,
          to: offset - 1 + expected.length,
          lines: 100_000,
          truncated: false,
        },
      });
    }
  });

  it('cuts a long output after a whole line, so that the next call continues there', async () => {
    world().make({ 'root/src/f': 'aaaa\nbbbb\ncccc\ndddd\n' });
    const more = { limits: { outputBytes: 12 } };
    expect(await read({}, more)).toMatchObject({
      result: { text: 'aaaa\nbbbb\n', from: 1, to: 2, lines: 4, truncated: true },
    });
    expect(await read({ offset: 3 }, more)).toMatchObject({
      result: { text: 'cccc\ndddd\n', to: 4, truncated: false },
    });
  });

  it('cuts a line that is longer than the output between characters', async () => {
    world().make({ 'root/src/f': '日本語\n' });
    for (const [outputBytes, text] of [
      [8, '日本'],
      [6, '日本'],
      [4, '日'],
      [9, '日本語'],
      [2, ''],
    ] as const)
      expect(await read({}, { limits: { outputBytes } })).toMatchObject({
        result: { text, from: 1, to: 1, truncated: true },
      });
  });

  it('reports a binary file, and marks other encodings as lossy', async () => {
    world().make({
      'root/src/f': Buffer.from([0x50, 0x4b, 0, 1]),
      'root/src/latin': Buffer.from([0x63, 0x61, 0x66, 0xe9, 10]),
    });
    expect(await read({})).toMatchObject({ status: 'failed', code: 'binary-file' });
    expect(await world().ask('read', { path: 'src/latin' })).toMatchObject({
      result: { text: 'caf\ufffd\n', lossy: true },
    });
  });

  it('stops when it is aborted', async () => {
    world().make({ 'root/src/f': 'x\n'.repeat(1_000_000) });
    const control = new AbortController();
    const reading = world().run('read', { path: 'src/f' }, {}, { signal: control.signal });
    control.abort();
    expect(await reading).toEqual({
      outcome: expect.objectContaining({ status: 'failed', code: 'aborted' }),
      effects: [],
    });
  });

  it('stops at its time limit', async () => {
    expect(await world().ask('read', { path: 'src/a.ts' }, {}, { limits: { seconds: 0 } })).toMatchObject({
      status: 'failed',
      code: 'time-limit',
    });
  });

  it('reads only the files that the session’s log names if the scope says so', async () => {
    world().make({ 'root/src/f': 'f' });
    world().link('root/src/near', 'f');
    const scope = { read: 'session-log', write: [], command: 'none', url: 'none' } as const;
    const ask = (path: string, readableFiles: string[] | null) =>
      world().ask('read', { path }, { scope, readableFiles });
    expect(await ask('src/f', ['src/f'])).toMatchObject({ status: 'ok' });
    expect(await ask('./src/../src/f', ['./src//f'])).toMatchObject({ status: 'ok' });
    expect(await ask('src/near', ['src/near'])).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    expect(await ask('src/a.ts', ['src/f', 'src'])).toMatchObject({
      status: 'refused',
      remedy: expect.stringContaining('src/f'),
    });
    expect(await ask('src/f', null)).toMatchObject({ status: 'refused' });
    expect(await world().ask('read', { path: 'src/f' }, { scope: { ...scope, read: 'none' } })).toMatchObject({
      status: 'refused',
    });
  });

  it('refuses masked files and git’s credentials', async () => {
    world().make({
      'root/.env': 'K',
      'root/x/.env': 'K',
      'root/secrets/a/b': 'K',
      'root/.git/config': 'token',
      'root/.git/HEAD': 'ref: x\n',
    });
    for (const path of ['.env', 'x/.env', 'secrets/a/b', 'secrets', '.git/config', 'x/../.env'])
      expect(await world().ask('read', { path })).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    expect(await world().ask('read', { path: '.git/HEAD' })).toMatchObject({ status: 'ok' });
  });
});

describe('reading in pieces', () => {
  it('yields the whole file for any text and limit', async () => {
    const world = makeWorld();
    try {
      const text = fc
        .array(fc.constantFrom('a', 'é', '日', '😀', '\n', '\r\n', '\n\n', 'word '), { maxLength: 60 })
        .map((parts) => parts.join(''));
      await fc.assert(
        fc.asyncProperty(text, fc.integer({ min: 30, max: 90 }), async (content, outputBytes) => {
          fc.pre(content.split('\n').every((line) => Buffer.byteLength(line) < outputBytes));
          world.make({ 'root/src/f': content });
          let [seen, offset, lines] = ['', 1, 1];
          while (offset <= lines) {
            const outcome = await world.ask('read', { path: 'src/f', offset }, {}, { limits: { outputBytes } });
            const { text, to, lines: total } = resultOf<{ text: string; to: number; lines: number }>(outcome);
            expect(Buffer.byteLength(text)).toBeLessThanOrEqual(outputBytes);
            seen += text;
            [offset, lines] = [to + 1, total];
          }
          expect(seen).toBe(content);
        }),
        { numRuns: 200 },
      );
    } finally {
      world.remove();
    }
  });
});
