import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runRipgrep } from '../../../src/tools/workspace/ripgrep.ts';
import { isDeep, sample } from '../../depth.ts';
import { freshWorld, resultOf } from './root-with-sentinels.ts';

describe('the tool glob', () => {
  const world = freshWorld();
  const files = async (pattern: string, more = {}, envelope = {}) => {
    const outcome = await world().ask('glob', { pattern, ...more }, envelope);
    return resultOf<{ files: string[] }>(outcome).files;
  };

  it('lists matching files in order, including hidden ones', async () => {
    world().make({ 'root/src/z.ts': '', 'root/src/b/c.ts': '', 'root/.hidden/x.ts': '', 'root/top.ts': '' });
    expect(await files('**/*.ts')).toEqual([
      '.hidden/x.ts',
      'src-evil/a.ts',
      'src/a.ts',
      'src/b/c.ts',
      'src/z.ts',
      'top.ts',
    ]);
    expect(await files('*.ts')).toEqual(['top.ts']);
    expect(await files('src/*.{ts,js}')).toEqual(['src/a.ts', 'src/z.ts']);
    expect(await files('./src/[ab].ts')).toEqual(['src/a.ts']);
    expect(await files(`${world().root}/src/**`)).toEqual(['src/a.ts', 'src/b/c.ts', 'src/z.ts']);
    expect(await files('**/*.ts', { path: 'src/b' })).toEqual(['src/b/c.ts']);
    expect(await files('nothing')).toEqual([]);
  });

  it('omits ignored files and .git', async () => {
    execFileSync('git', ['init', '-q', world().root]);
    world().make({
      'root/.gitignore': 'dist/\n*.log\n',
      'root/dist/x.ts': '',
      'root/src/x.log': '',
      'root/lib/.git/HEAD': 'x',
    });
    expect(await files('**')).toEqual(['.gitignore', 'docs/guide.md', 'src-evil/a.ts', 'src/a.ts']);
    expect(await files('**/*.log', { path: 'src' })).toEqual([]);
  });

  it('omits masked and linked files', async () => {
    world().make({ 'root/.env': '', 'root/secrets/x.ts': '', 'root/src/k.pem': '' });
    world().link('root/src/out', '../../beside');
    world().link('root/src/file', '../../beside/secret.txt');
    expect(await files('**')).toEqual(['docs/guide.md', 'src-evil/a.ts', 'src/a.ts']);
    expect(await world().ask('glob', { pattern: '**', path: 'secrets' })).toMatchObject({ status: 'refused' });
    expect(await world().ask('glob', { pattern: '**', path: 'nowhere' })).toMatchObject({
      status: 'failed',
      code: 'not-found',
    });
  });

  it('shows only files of the session log if the scope says so', async () => {
    const scope = { read: 'session-log', write: [], command: 'none', url: 'none' } as const;
    expect(await files('**', {}, { scope, readableFiles: ['src/a.ts'] })).toEqual(['src/a.ts']);
    expect(await world().ask('glob', { pattern: '**' }, { scope: { ...scope, read: 'none' } })).toMatchObject({
      status: 'refused',
    });
  });

  it('stops at the output limit and says so', async () => {
    for (let i = 0; i < 50; i++) world().make({ [`root/many/${String(i).padStart(3, '0')}.txt`]: '' });
    const { outcome } = await world().run('glob', { pattern: 'many/*' }, {}, { limits: { outputBytes: 100 } });
    expect(outcome).toMatchObject({
      result: {
        files: ['many/000.txt', 'many/001.txt', 'many/002.txt', 'many/003.txt', 'many/004.txt', 'many/005.txt'],
        truncated: true,
      },
    });
  });

  it.each(['../*', '/etc/*', 'src/../../*', '**/../../x'])('refuses %s, which leads outside', async (pattern) => {
    expect(await world().ask('glob', { pattern })).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
      argument: 'pattern',
    });
  });
  it.each(['', 'a\0b', '*a*a*a*a*a*b', '**/a/**/b/**/c/**/d/**/e', 'x'.repeat(600)])(
    'refuses %j as a pattern',
    async (pattern) => {
      expect(await world().ask('glob', { pattern })).toMatchObject({
        status: 'refused',
        code: 'invalid-action',
        argument: 'pattern',
      });
    },
  );

  it('lists names unchanged, except those that no argument can express', async () => {
    world().make({ 'root/odd/a b.txt': '', 'root/odd/日本.txt': '', 'root/odd/-e': '', 'root/odd/new\nline': '' });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${world().root}/odd/`), Buffer.from([0xff])]), '');
    expect(await files('odd/*')).toEqual(['odd/-e', 'odd/a b.txt', 'odd/日本.txt']);
  });
});

describe('the tool grep', () => {
  const world = freshWorld();
  const grep = (pattern: string, more = {}, envelope = {}, limits = {}) =>
    world().ask('grep', { pattern, ...more }, envelope, { limits });

  it('finds the matching lines with their line numbers', async () => {
    expect(await grep('^t')).toEqual({
      status: 'ok',
      result: {
        matches: [
          { path: 'docs/guide.md', line: 1, text: 'two words' },
          { path: 'src/a.ts', line: 2, text: 'two' },
          { path: 'src/a.ts', line: 3, text: 'three' },
        ],
        truncated: false,
        files: ['docs/guide.md', 'src/a.ts'],
      },
    });
    expect(await grep('^t', { path: 'src/a.ts' })).toMatchObject({ result: { files: ['src/a.ts'] } });
    expect(await grep('^t', { path: 'src', glob: '*.md' })).toMatchObject({ result: { matches: [] } });
    expect(await grep('^t', { glob: '*.md' })).toMatchObject({ result: { files: ['docs/guide.md'] } });
    expect(await grep('^T')).toMatchObject({ result: { matches: [] } });
    expect(await grep('^T', { 'ignore-case': true, path: 'src' })).toMatchObject({
      result: { matches: [{ line: 2 }, { line: 3 }] },
    });
  });

  it('passes any text as a pattern, not as an option', async () => {
    world().make({ 'root/src/flags': '--pre=touch owned\n-e x\n--files\n' });
    for (const pattern of ['--pre=touch', '-e x', '--files']) {
      expect(await grep(pattern, { path: 'src' })).toMatchObject({ result: { files: ['src/flags'] } });
    }
    world().make({ 'root/src/--pre=touch': 'dashed\n' });
    expect(await grep('dashed', { path: 'src/--pre=touch' })).toMatchObject({ result: { files: ['src/--pre=touch'] } });
  });

  it('explains an invalid pattern in ripgrep’s words', async () => {
    for (const pattern of sample(['(', '[z-a]', 'a{1000000000}', '\\p{Nonsense}', '(?=look)'], 5))
      expect(await grep(pattern), pattern).toMatchObject({
        status: 'failed',
        code: 'bad-pattern',
        message: expect.stringContaining('rg:'),
      });
    for (const pattern of ['', 'a\0', 'x'.repeat(200_000)])
      expect(await grep(pattern)).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'pattern' });
  });

  it('searches no masked, ignored or linked file and not .git', async () => {
    execFileSync('git', ['init', '-q', world().root]);
    world().make({
      'root/.env': 'needle\n',
      'root/secrets/deep/x': 'needle\n',
      'root/.git/description': 'needle\n',
      'root/.gitignore': 'dist\n',
      'root/dist/x': 'needle\n',
      'root/.shown': 'needle\n',
      'beside/n': 'needle\n',
    });
    world().link('root/src/out', '../../beside');
    world().link('root/src/n', '../../beside/n');
    expect(await grep('needle')).toMatchObject({ result: { files: ['.shown'] } });
    expect(await grep('needle', { glob: '**/*' })).toMatchObject({ result: { files: ['.shown'] } });
    for (const target of ['.env', 'secrets', 'secrets/deep', 'src/out', 'src/n'])
      expect(await grep('needle', { path: target })).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    const scope = { read: 'session-log', write: [], command: 'none', url: 'none' } as const;
    expect(await grep('.', {}, { scope, readableFiles: ['src/a.ts'] })).toMatchObject({
      result: { files: ['src/a.ts'] },
    });
  });

  it('ignores configuration of the host and of the tree', async () => {
    world().make({
      'root/.ripgreprc': '--pre=touch\n',
      'beside/rc': `--pre\n${world().base}/beside/pre.sh\n`,
      'beside/pre.sh': `#!/bin/sh\ntouch ${world().base}/beside/owned\n`,
    });
    fs.chmodSync(path.join(world().base, 'beside/pre.sh'), 0o755);
    process.env['RIPGREP_CONFIG_PATH'] = path.join(world().base, 'beside/rc');
    try {
      expect(await grep('two')).toMatchObject({ result: { files: ['docs/guide.md', 'src/a.ts'] } });
    } finally {
      delete process.env['RIPGREP_CONFIG_PATH'];
    }
    expect(world().exists('beside/owned')).toBe(false);
  });

  it('cuts long lines and long results, and says so', async () => {
    world().make({ 'root/src/long': `${'é'.repeat(5000)}needle\n`, 'root/src/many': 'needle\n'.repeat(1000) });
    expect(await grep('needle', { path: 'src/long' })).toMatchObject({
      result: { matches: [{ text: 'é'.repeat(1000), cut: true }] },
    });
    const outcome = await grep('needle', { path: 'src/many' }, {}, { outputBytes: 500 });
    expect(outcome).toMatchObject({ result: { truncated: true, files: ['src/many'] } });
    expect(JSON.stringify(resultOf<{ matches: object[] }>(outcome).matches).length).toBeLessThan(550);
  });

  it.runIf(isDeep)('skips over a line of many megabytes', async () => {
    world().make({ 'root/src/aaa': `needle ${'x'.repeat(9_000_000)}\n`, 'root/src/bbb': 'needle\n' });
    expect(await grep('needle', { path: 'src' })).toMatchObject({ result: { files: ['src/bbb'] } });
  });

  it('names the files in which a line matches that is too long to read', async () => {
    const long = `${'x'.repeat(5_000_000)}needle\nneedle\n`;
    world().make({ 'root/src/long.js': long, 'root/src/.env': long, 'root/src/often.js': 'needle'.repeat(100_000) });
    const outcome = await world().ask('grep', { pattern: 'needle' });
    expect(resultOf(outcome)).toMatchObject({
      matches: [{ path: 'src/long.js', line: 2, text: 'needle' }],
      files: ['src/long.js'],
      longLines: { count: 2, files: ['src/long.js', 'src/often.js'] },
    });
    expect(resultOf(await world().ask('grep', { pattern: 'needle', glob: '*.ts' }))).not.toHaveProperty('longLines');
  });

  it('shows lines that are not UTF-8, and lines with CRLF, as text', async () => {
    world().make({ 'root/src/latin': Buffer.from([0x63, 0x61, 0x66, 0xe9, 13, 10]) });
    expect(await grep('caf', { path: 'src' })).toMatchObject({ result: { matches: [{ text: 'caf\ufffd', line: 1 }] } });
  });
});

describe('the ripgrep process', () => {
  const world = freshWorld();
  const many = () => {
    world().make({ 'root/src/many': 'needle\n'.repeat(50_000) });
    return ['--json', '-e', 'needle'];
  };

  it('is killed on abort', async () => {
    const control = new AbortController();
    let records = 0;
    const limits = { seconds: 20, signal: control.signal };
    const run = await runRipgrep(world().root, many(), './', '\n', limits, () => {
      records++;
      control.abort();
      return true;
    });
    expect(run.end).toBe('aborted');
    expect(records).toBe(1);
  });

  it('is killed at the time limit', async () => {
    const limits = { seconds: 0.05, signal: new AbortController().signal };
    const until = Date.now() + 200;
    const run = await runRipgrep(world().root, many(), './', '\n', limits, () => {
      while (Date.now() < until);
      return true;
    });
    expect(run.end).toBe('time-limit');
  });

  it('reports the cause if it cannot run', async () => {
    const limits = { seconds: 20, signal: new AbortController().signal };
    expect(await runRipgrep(world().root, ['--no-such-flag'], './', '\n', limits, () => true)).toMatchObject({
      end: 'error',
      stderr: expect.stringContaining('no-such-flag'),
    });
    await expect(runRipgrep('/nowhere/at/all', ['-e', 'x'], './', '\n', limits, () => true)).rejects.toThrow();
  });
});

describe('a file with a name that no argument can express', () => {
  const world = freshWorld();
  const NEWLINE = 'root/src/a\nb.txt';
  const ESCAPE = 'root/src/\u001b[2J.txt';
  const notUtf8 = (...folders: string[]) =>
    Buffer.concat([
      Buffer.from(`${world().root}/${folders.map((name) => `${name}/`).join('')}`),
      Buffer.from([0xff]),
      Buffer.from('.txt'),
    ]);
  const reportOf = (files: string[]) => ({
    leftOut: { count: files.length, files, why: expect.stringContaining('rename') },
  });

  it('is reported escaped by glob if the pattern matches it', async () => {
    world().make({ [NEWLINE]: 'found', [ESCAPE]: 'found' });
    fs.writeFileSync(notUtf8('src'), 'found');
    const names = ['src/\\u{1b}[2J.txt', 'src/\\xff.txt', 'src/a\\u{a}b.txt'];
    const all = await world().ask('glob', { pattern: '**/*.txt' });
    expect(resultOf(all)).toEqual({ files: [], truncated: false, ...reportOf(names) });
    expect(resultOf(await world().ask('glob', { pattern: '*.txt', path: 'src' }))).toEqual(resultOf(all));
    expect(resultOf(await world().ask('glob', { pattern: '**/*.ts' }))).not.toHaveProperty('leftOut');
  });

  it('is reported by grep if one of its lines matches', async () => {
    world().make({ [NEWLINE]: 'found', [ESCAPE]: 'nothing', 'root/src/c.txt': 'found\n' });
    fs.writeFileSync(notUtf8('src'), 'found');
    const { matches, leftOut } = resultOf<{ matches: { path: string }[]; leftOut: unknown }>(
      await world().ask('grep', { pattern: 'found' }),
    );
    expect(matches.map(({ path }) => path)).toEqual(['src/c.txt']);
    expect({ leftOut }).toEqual(reportOf(['src/\\xff.txt', 'src/a\\u{a}b.txt']));
  });

  it('is reported in a folder with such a name, too', async () => {
    world().make({ 'root/a\tb/c.txt': 'found' });
    fs.mkdirSync(notUtf8());
    fs.writeFileSync(Buffer.concat([notUtf8(), Buffer.from('/d.txt')]), 'found');
    for (const asked of [
      { tool: 'glob', args: { pattern: '**/*.txt' } },
      { tool: 'grep', args: { pattern: 'found' } },
    ])
      expect(resultOf(await world().ask(asked.tool, asked.args))).toMatchObject(
        reportOf(['\\xff.txt/d.txt', 'a\\u{9}b/c.txt']),
      );
  });

  it('is not reported if it is masked, linked or unreadable in the scope', async () => {
    world().make({ 'root/secrets/a\nb': 'found', 'root/a\nb/.env': 'found' });
    world().link('root/src/c\nd', '../../beside/secret.txt');
    world().link('root/e\nf', '../beside');
    for (const asked of [
      { tool: 'glob', args: { pattern: '**' } },
      { tool: 'grep', args: { pattern: 'found|OUTSIDE' } },
    ])
      expect(resultOf(await world().ask(asked.tool, asked.args))).not.toHaveProperty('leftOut');
    world().make({ [NEWLINE]: 'found' });
    const scope = { read: 'session-log', write: [], command: 'none', url: 'none' } as const;
    expect(
      resultOf(await world().ask('glob', { pattern: '**' }, { scope, readableFiles: ['src/a.ts'] })),
    ).not.toHaveProperty('leftOut');
  });

  it('is counted fully and listed partly', async () => {
    world().make(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`root/many/${i}\n`, ''])));
    const { leftOut } = resultOf<{ leftOut: { count: number; files: string[] } }>(
      await world().ask('glob', { pattern: 'many/*' }),
    );
    expect([leftOut.count, leftOut.files.length]).toEqual([30, 20]);
  });

  it('is refused by the tools with a path argument', async () => {
    world().make({ [NEWLINE]: 'found' });
    for (const [tool, args] of [
      ['read', {}],
      ['edit', { old: 'found', new: 'lost' }],
      ['write', { content: '' }],
    ] as const)
      expect(await world().ask(tool, { path: 'src/a\nb.txt', ...args })).toMatchObject({
        status: 'refused',
        message: '"path" contains a control character.',
        remedy: expect.stringMatching(/^Give the path without .* renamed first\.$/),
      });
  });
});
