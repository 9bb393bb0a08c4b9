import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { toShellWord } from '../../src/base/text.ts';
import { runCli } from '../../src/cli/program.ts';
import { completeLine } from '../../src/cli/shell/complete-line.ts';
import { parseArguments, parseLine } from '../../src/cli/shell/parse-line.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import type { Session } from '../../src/session/session.ts';
import type { ToolSpec } from '../../src/spec/types.ts';
import { isDeep } from '../depth.ts';
import { commitAll, machine } from './run.ts';

const FILES = {
  'src/a.js': 'export const a = 1;\n',
  'run.sh': '#!/bin/sh\necho 1..0\n',
  'hopgate.yaml': 'scopes: { edit: [src/] }\ntest: [{ run: [sh, run.sh], report: tap }]\n',
};

const typed = async (...lines: string[]) => {
  const here = machine(FILES);
  commitAll(here.root);
  await here.run('trust', '--yes');
  return here.feed(`${lines.join('\n')}\n`, 'shell', '--yes');
};

describe('a line typed into the shell', () => {
  it('that lacks stated fields is refused with the options that state them', async () => {
    const here = machine({
      'hopgate.yaml': 'specs: specs\n',
      'specs/peripherals/desk.yaml':
        'id: desk\npurpose: x\ntools: []\nscope: conversation\nentry: default\nexit: {}\nfruit: { a: { stated: string }, b-c: { stated: string } }\n',
    });
    await here.run('trust', '--yes');
    const { out } = await here.feed('start desk\nstop\nstop --fruit.a "x" --fruit.b-c "y"\n', 'shell');
    expect(out).toContain('Call again with --fruit.a "…" --fruit.b-c "…".');
    expect(out).toContain('ok fruit a: x · b-c: y\n');
  });

  it('that fits no parameter is refused with the parameters as they are typed', async () => {
    const { out } = await typed('mode diagnose', 'start explore', 'grep a src x true more');
    expect(out).toMatch(/invalid-action: grep: .*\n +→ Usage: grep pattern \[path\] \[glob\] \[ignore-case\]\.\n/);
  });

  it('that names no parameter of the tool is not run, unless the name is quoted', async () => {
    const { out } = await typed('mode diagnose', 'start explore', 'grep a --max 3', 'grep "--max" src/', 'log');
    expect(out).toContain(
      'not understood: grep has no parameter --max; it has pattern, path, glob, ignore-case. In quotes, "--max" is text\n',
    );
    expect(out.match(/step .*grep/g)).toHaveLength(1);
  });

  it('shows the whole message of a failed call', async () => {
    const path = `src/${'long-'.repeat(40)}.js`;
    const { out } = await typed('mode diagnose', 'start explore', `read ${path}`);
    expect(out).toMatch(new RegExp(`failed not-found: .*${path}`));
  });

  it('that ends the visit to reflect shows the review as text', async () => {
    const { out } = await typed('mode diagnose', 'start explore', 'grep x', 'write a b', 'hop reflect', 'stop');
    expect(out).toContain('ok fruit par: review\n  what could improve: 1 × denied: tool-not-allowed (write)\n');
  });

  it('prints the matches of grep with their tabs, and other control characters escaped', async () => {
    const here = machine({ ...FILES, 'src/b.js': '\tlet b = "\u001b[2J";\n' });
    const { out } = await here.feed('mode diagnose\nstart explore\ngrep "let b"\n', 'shell', '--yes');
    expect(out).toContain('src/b.js:1: \tlet b = "\\u{1b}[2J";');
  });

  it('shows the messages to the session, once', async () => {
    const here = machine(FILES);
    const { session } = JSON.parse((await here.feed('exit\n', 'shell', '--json')).out.split('\n')[0]!);
    await here.run('bell', `session:${session}`, 'Which mug?', '--as', 'joe');
    const { out } = await here.feed('inbox\ninbox\n', 'shell', '--session', session);
    expect(out).toMatch(/from person joe.*Which mug\?[\s\S]*No messages\./);
    expect(out.match(/Which mug/g)).toHaveLength(1);
  });

  it('uses the words after the destination of a hop as its reason', async () => {
    const { out } = await typed(
      'mode diagnose',
      'start explore',
      'hop edit --exit hop-edit the cause is known',
      'log 9',
    );
    expect(out).toContain('the cause is known');
  });

  it('is not run with an unknown option', async () => {
    const { out, code } = await typed('mode diagnose', 'start explore', 'hop edit --exti hop-edit', 'status');
    expect(out).toContain('hop has no option --exti; did you mean --exit?');
    expect(out).toContain('peripheral  explore');
    expect(code).toBe(1);
  });

  it('names the field form if the whole fruit is given', async () => {
    const { out } = await typed('mode diagnose', 'start explore', `hop edit --exit hop-edit --fruit '{"summary":"x"}'`);
    expect(out).toContain('--fruit.FIELD');
  });

  it.runIf(isDeep)('names the path to a tool in commands of the shell, and follows that path', async () => {
    const { out } = await typed('mode diagnose', 'start explore', 'edit a.txt x y', 'hop edit --exit found-target');
    expect(out).toContain(
      'path: type mode execute (needs: approval by operator), then hop edit --exit found-target.\n',
    );
    const moved = await typed(
      'mode diagnose',
      'start explore',
      'hop edit --exit found-target --mode execute',
      'status',
    );
    expect(moved.out).toMatch(/mode +execute\n +peripheral +edit/);
    const unknown = await typed(
      'mode diagnose',
      'start explore',
      'hop edit --exit found-target --mode dance',
      'status',
    );
    expect(unknown.out).toMatch(/mode-not-allowed: .*dance[\s\S]*peripheral +explore/);
  });

  it('writes a hop or a reset that a remedy names as a command of the shell', async () => {
    const { out } = await typed('mode diagnose', 'start explore', 'hop nowhere');
    expect(out).toContain('→ Write hop edit --exit found-target. Possible now: hop edit --exit found-target | ');
    const here = machine({ ...FILES, 'hopgate.yaml': 'specs: own\n' });
    cpSync('specs', join(here.root, 'own'), { recursive: true });
    const gate = join(here.root, 'own/gate.yaml');
    writeFileSync(gate, readFileSync(gate, 'utf8').replace(/ {2}- \{ from: execute, to: discuss.*\n/, ''));
    await here.run('trust', '--yes');
    const stuck = await here.feed('mode diagnose\nmode execute\nmode discuss\n', 'shell', '--yes');
    expect(stuck.out).toContain('→ Type mode discuss --reset.');
  });

  it.runIf(isDeep)(
    'names all requirements of deploy from the start, and names a missing message at the last hop',
    async () => {
      const here = machine({
        ...FILES,
        'run.sh': 'echo 1..1; echo ok 1\n',
        'hopgate.yaml': `${FILES['hopgate.yaml']}git: { remote: origin, branch: main }\n`,
      });
      commitAll(here.root);
      await here.run('trust', '--yes');
      const lines = [
        'status',
        'mode diagnose',
        'mode execute --by operator',
        'start edit --by operator',
        'hop test --exit hop-test',
        'status',
      ];
      const { out } = await here.feed(`${lines.join('\n')}\n`, 'shell', '--yes');
      const needs = 'needs result is pass, tests-passed, approval by operator, commit-message; on branch main';
      const start = 'explore → edit → test → deploy; ';
      expect(out.split('\n').filter((line) => line.startsWith('  to deploy'))).toEqual([
        `  to deploy   ${start}${needs.replace('needs', 'needs mode diagnose,')}`,
        `  to deploy   ${needs}`,
      ]);
      const hop = [
        'bash-test',
        'hop deploy --exit pass ship',
        'hop deploy --exit pass {"fruit":{"commit-message":"Add a"}}',
        'hop deploy --exit pass commit-message="Add a"',
        'mode execute summary=x',
        'hop deploy --exit pass ship --fruit.commit-message "Add a"',
      ];
      const last = await here.feed(`${[...lines, ...hop, 'status'].join('\n')}\n`, 'shell', '--yes');
      expect(last.out).toMatch(
        /deploy cannot be entered without commit-message\n.*Repeat the hop with --fruit\.commit-message "…"/,
      );
      expect(last.out).toContain('hop takes options, not JSON: --exit "…", --mode "…",');
      expect(last.out).toContain('hop takes options, not name=value: --fruit.commit-message "…"');
      expect(last.out).toContain('mode takes options, not name=value: --summary "…"');
      expect(last.out).toContain('peripheral  deploy');
    },
  );

  it('suggests a verb for a mistyped one, and records nothing', async () => {
    const { out } = await typed('statsu', 'log');
    expect(out).toContain('did you mean status?');
    expect(out).not.toContain('denial');
  });
});

describe('the words of a typed line', () => {
  const parameter = (name: string, type: string) => ({ name, schema: { type } });
  const edit = {
    id: 'edit',
    parameters: [
      parameter('path', 'string'),
      parameter('old', 'string'),
      parameter('new', 'string'),
      parameter('all', 'boolean'),
    ],
  } as unknown as ToolSpec;
  const argumentsOf = (line: string) => {
    const { words, unquoted } = parseLine(line);
    return parseArguments(edit, words, unquoted);
  };

  it.each([
    ['edit a.js old=1 new=2', { path: 'a.js', old: '1', new: '2' }],
    [`edit a.js old="x = 1;" new='say "hi"' all=true`, { path: 'a.js', old: 'x = 1;', new: 'say "hi"', all: true }],
    [String.raw`edit a.js old="say \"hi\"" new=a\ b`, { path: 'a.js', old: 'say "hi"', new: 'a b' }],
    [String.raw`edit a.js old="a\nb" new='a\'`, { path: 'a.js', old: String.raw`a\nb`, new: 'a\\' }],
    ['edit a.js "new=1" ""', { path: 'a.js', old: 'new=1', new: '' }],
    ['edit new= a.js b', { path: 'a.js', old: 'b', new: '' }],
    ['edit old=1 old=2', { path: 'old=2', old: '1' }],
    ['edit a.js --old x --new "y z"', { path: 'a.js', old: 'x', new: 'y z' }],
    ['edit a.js --old=x new=y', { path: 'a.js', old: 'x', new: 'y' }],
    ['edit a.js "--old" --other', { path: 'a.js', old: '--old', new: '--other' }],
    ['edit a.js a b true more', ['a.js', 'a', 'b', 'true', 'more']],
  ])('become the arguments of the tool edit: %s', (line, expected) => expect(argumentsOf(line)).toEqual(expected));

  const migrate = {
    parameters: [parameter('tables', 'array'), parameter('filter', 'object'), parameter('rows', 'integer')],
  };
  it.each([
    [['["a","b"]', '{"c":[1]}', '5'], { tables: ['a', 'b'], filter: { c: [1] }, rows: 5 }],
    [['rows=5', 'filter={"c":[1]}', 'tables=["a"]'], { tables: ['a'], filter: { c: [1] }, rows: 5 }],
    [['filter={}', 'a', 'b'], { tables: ['a', 'b'], filter: {} }],
    [['[a', 'b]'], { tables: ['[a', 'b]'] }],
  ])('become arguments of the declared types: %j', (words, args) =>
    expect(parseArguments(migrate as unknown as ToolSpec, words)).toEqual(args),
  );

  it('become one command line if the tool takes one', () => {
    const run = { parameters: [parameter('command', 'array')] } as unknown as ToolSpec;
    expect(parseArguments(run, ['go', 'test', './a b'])).toEqual({ command: ['go', 'test', './a b'] });
    expect(parseArguments(run, ['go test ./a'])).toEqual({ command: 'go test ./a' });
  });

  it.each([
    ['bash ls -la "a b" | head', ['ls -la "a b" | head']],
    [`bash command="ls -la 'a b'"`, ["ls -la 'a b'"]],
    ['bash command=1 env', ['command=1 env']],
    ['bash "ls -la | head"', ['ls -la | head']],
    [`bash 'a b' c`, [`'a b' c`]],
    ['bash "ls"', ['"ls"']],
    ['bash "ls -la', ['"ls -la']],
    ['bash', []],
  ])('are one argument after bash: %s', (line, words) => expect(parseLine(line).words).toEqual(words));

  it('may be one JSON object, but not of a verb with options', () => {
    expect(parseLine(`edit {"path":"a","old":"x\\ny","new":""}`).json).toEqual({ path: 'a', old: 'x\ny', new: '' });
    expect(parseLine('bash {"command":"ls"}').json).toEqual({ command: 'ls' });
    expect(parseLine('bash { ls; }').json).toBeUndefined();
    expect(parseLine('hop {"to":"edit"}')).toMatchObject({ words: ['{to:edit}'] });
  });

  it('are refused if a quote is not closed', async () => {
    const { out, code } = await typed('mode diagnose', 'start explore', `grep "export src`, 'log');
    expect(out).toContain('not understood: the quote " is not closed');
    expect(out).not.toContain('grep');
    expect(code).toBe(1);
  });
});

describe('a logged call', () => {
  it('lists its arguments in the order of the catalogue', async () => {
    const lines = ['mode diagnose', 'start explore', 'hop edit --exit hop-edit', 'mode execute'];
    const here = machine(FILES);
    commitAll(here.root);
    await here.run('trust', '--yes');
    const { out } = await here.feed(
      `${[...lines, 'edit new=2 old=1 src/a.js', 'log 2'].join('\n')}\n`,
      'shell',
      '--yes',
    );
    expect(out).toMatch(/intent +edit src\/a.js 1 2/);
    expect((await here.run('log', 's-')).out).toContain('edit src/a.js 1 2');
  });
});

describe('the output of a command', () => {
  it.runIf(isDeep)('keeps its lines and tabs, and has its invisible characters escaped', async () => {
    const { out } = await typed(
      'mode diagnose',
      'start explore',
      String.raw`bash-readonly printf 'a\tb\n\tc\033[31md\033[6n\n'`,
    );
    expect(out).toContain('a\tb\n\tcd\\u{1b}[6n\n');
  });
});

describe('Ctrl-C in the shell', () => {
  it('discards all lines typed ahead, and says how to continue', async () => {
    const here = machine(FILES);
    const { code, out, err } = await here.type('mode diagnose\rstart explore\r\u0003', 'shell');
    expect(out).not.toContain('mode is diagnose');
    const [next] = /Continue with: hopgate shell --session s-\S+ --root \/.+/.exec(out) ?? [];
    expect((await here.run('resume', 's-')).out).toContain(next);
    expect(err).not.toContain('closed');
    expect(code).toBe(0);
  });

  it.runIf(isDeep)('cancels a running tool and keeps the shell; the outcome is recorded', async () => {
    const here = machine(FILES);
    const keys = new PassThrough();
    let out = '';
    const when = (text: string, act: () => void): void => void waiting.push({ text, act });
    const waiting: { text: string; act: () => void }[] = [];
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        out += String(chunk);
        while (waiting[0] && out.includes(waiting[0].text)) waiting.shift()!.act();
        done();
      },
    });
    when('discuss (outside) › ', () => keys.write('mode diagnose\r'));
    when('diagnose (outside) › ', () => keys.write('start explore\r'));
    when('diagnose explore › ', () => {
      // The typed line and the printed line differ, so the test does not match its own input.
      keys.write('bash-readonly echo be""gan; sleep infinity\r');
    });
    when('began', () => keys.write('\u0003'));
    when('aborted: The call was aborted', () => setTimeout(() => keys.write('bash-readonly echo went\r'), 0));
    when('\nwent\n', () => setTimeout(() => keys.write('\u0003'), 0));
    const io = { stdout, stderr: stdout, stdin: keys, isTty: true, env: here.env, cwd: here.root };
    const code = await runCli(['shell'], { ...io, color: false, json: false, exitCode: 0 });
    expect(out).toContain('\nwent\n');
    expect(out).not.toContain('readline was closed');
    expect(code).toBe(0);
    const [, id = ''] = /Continue with: hopgate shell --session (\S+)/.exec(out) ?? [];
    expect((await here.run('log', id)).out).toMatch(/bash-readonly.*aborted/);
  });
});

describe('the shell', () => {
  it.runIf(isDeep)('says that a run without tests is not a pass', async () => {
    const { out } = await typed(
      'mode diagnose',
      'start explore',
      'hop edit --exit hop-edit',
      'hop test --exit hop-test',
      'bash-test',
    );
    expect(out).toContain('verdict error, 0 tests');
  });

  it.runIf(isDeep)('names the dropped changes of a command', async () => {
    const lines = ['mode diagnose', 'start explore', 'hop edit --exit hop-edit', 'mode execute'];
    const { out } = await typed(...lines, 'bash echo b > src/b.js; echo c > c.js');
    expect(out).toContain('dropped: c.js');
  });
});

describe('the completion in the shell', () => {
  it('completes paths in the root, whatever the current folder is', () => {
    const { root } = machine(FILES);
    const session = { available: () => ({ tools: ['read'], hops: [], modes: [] }) } as unknown as Session;
    expect(completeLine(session, 'read sr', root)[0]).toEqual(['src/']);
    expect(completeLine(session, 'read src/', root)[0]).toEqual(['src/a.js']);
  });

  it('quotes a root with spaces so that the line can be pasted', () => {
    for (const word of ['/a b/ü', "it's", '/plain', '$HOME'])
      expect(spawnSync('sh', ['-c', `printf %s ${toShellWord(word)}`], { encoding: 'utf8' }).stdout).toBe(word);
  });
});

describe('the shell with a read-only state folder', () => {
  it('names the folder', () => {
    const { root } = machine(FILES);
    expect(() => ensureStateDir(root, { XDG_STATE_HOME: '/dev/null' })).toThrow(
      /the state folder \/dev\/null\/hopgate\/[0-9a-f]{16} cannot be written \(ENOTDIR\)/,
    );
  });
});
