import { expect, it } from 'vitest';
import { escapeInvisible, escapeInvisibleInJson, excerpt } from '../../src/base/text.ts';
import { commitAll, machine } from './run.ts';

const ODD = 'a\u001b[2Jb\u202ec\u009b1m\u{e0041}';
const HIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u{e0000}-\u{e007f}]/u;

it('invisible characters are shown escaped', () => {
  expect(escapeInvisible(ODD)).toBe('a\\u{1b}[2Jb\\u{202e}c\\u{9b}1m\\u{e0041}');
  // A blank letter, and the variant of an emoji that is after a letter, would make two names look the same.
  // Letters of another script in a Latin word are escaped; words of one script are not.
  expect(escapeInvisible('src/\u0430uth ma\u0456n \u03a4est')).toBe('src/\\u{430}uth ma\\u{456}n \\u{3a4}est');
  for (const text of ['тест api_рост', 'Δx 5μm', 'naïve Ωx', 'ΤΕΣΤ']) expect(escapeInvisible(text)).toBe(text);
  expect(escapeInvisible('a\u3164\ufe0f.js ⚠\ufe0f')).toBe('a\\u{3164}\\u{fe0f}.js ⚠\ufe0f');
  expect(excerpt('x'.repeat(1000), 5)).toBe('xxxx…');
  expect(excerpt('😀😀😀', 3)).toBe('😀😀😀');
  expect(excerpt('😀😀😀😀', 3)).toBe('😀😀…');
  expect(excerpt('\n\n', 20)).toBe('\\u{a}\\u{a}');
});

it('JSON with escaped invisible characters parses to the same value', () => {
  const json = JSON.stringify({ [ODD]: [ODD, 'ä😀'] });
  expect(escapeInvisibleInJson(json)).not.toMatch(HIDDEN);
  expect(JSON.parse(escapeInvisibleInJson(json))).toEqual(JSON.parse(json));
});

it.each([
  [ODD],
  ['log', ODD],
  ['check', ODD],
  ['test', ODD, '--json'],
  ['graph', '--current', ODD],
  ['explain', '-p', ODD, '-t', 'read'],
  ['explain', '-p', 'explore', '-t', ODD],
  ['explain', '-p', 'explore', '-t', 'read', '-m', ODD],
  ['explain', '-p', 'explore', '-t', ODD, '--json'],
])('an error shows the input without control characters: %j', async (...argv) => {
  const { code, all } = await machine().run(...argv);
  expect(code).not.toBe(0);
  expect(all).not.toMatch(HIDDEN);
});

it.each([['check'], ['explain', '-t', 'read', '-p'], ['trust', '--root'], [], ['--json', 'check']])(
  'an error does not repeat a huge argument: %j',
  async (...argv) => {
    const { code, all } = await machine().run(...argv, 'x'.repeat(100_000));
    expect(code).not.toBe(0);
    expect(all).toContain('x…x');
    expect(all.length).toBeLessThan(5000);
  },
);

it('every view of a session shows an agent’s text without control characters', async () => {
  const { root, run, feed } = machine({ 'src/a.txt': 'a\n' });
  commitAll(root);
  const shell = await feed(
    [
      ODD,
      `mode ${ODD}`,
      `why ${ODD}`,
      `hop ${ODD}`,
      'mode diagnose',
      'start explore',
      `read ${ODD}`,
      `stop ${ODD}`,
    ].join('\n'),
    'shell',
  );
  expect(shell.all).toContain('\\u{1b}[2J');
  expect(shell.all).not.toMatch(HIDDEN);
  const [line] = (await run('sessions', '--json')).out.split('\n');
  const { sessionId } = JSON.parse(line!) as { sessionId: string };
  for (const argv of [['log'], ['log', '--full'], ['log', '--json'], ['thread'], ['infer']]) {
    const [command, ...more] = argv;
    const { code, all } = await run(command!, sessionId, ...more);
    expect(code, all).toBe(0);
    expect(all, argv.join(' ')).not.toMatch(HIDDEN);
  }
});

it.each(['constructor', 'toString', '__proto__'])(
  'the name %s, which every object has, is a tool that does not exist',
  async (name) => {
    const { run, feed } = machine();
    const explained = await run('explain', '-p', 'explore', '-t', name, 'x');
    expect([explained.code, explained.all]).toEqual([
      1,
      expect.stringContaining(`unknown-tool: there is no tool "${name}"`),
    ]);
    const shell = await feed(`mode diagnose\nstart explore\n${name} x`, 'shell');
    expect(shell.all).toContain(`unknown-tool: there is no tool "${name}"`);
    const [line] = (await run('sessions', '--json')).out.split('\n');
    const { sessionId } = JSON.parse(line!) as { sessionId: string };
    for (const command of ['thread', 'log', 'verify', 'replay']) {
      const more = command === 'replay' ? ['--specs', 'specs'] : [];
      const { all } = await run(command, sessionId, ...more);
      expect(all, command).not.toContain('Cannot read');
    }
  },
);
