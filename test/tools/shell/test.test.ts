import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ProjectConfig } from '../../../src/spec/types.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { builtOnce } from '../../built-once.ts';
import { isDeep, sample } from '../../depth.ts';
import { type CallChanges, ok, put, run, sandbox, scratch, toolCall } from './support.ts';

afterEach(() => void vi.unstubAllEnvs());

type Tests = ProjectConfig['test'];
const changes = (test: Tests, more: Partial<ProjectConfig> = {}): CallChanges => ({ config: { test, ...more } });
const script = (text: string, report: Tests[number]['report'] = 'none'): Tests => [
  { run: ['bash', '-c', text], report },
];
const verdict = async (root: string, tests: Tests, args = {}) =>
  (await ok(root, 'bash-test', args, changes(tests))).result;

describe('bash-test with a configured command', () => {
  const PACKAGE = JSON.stringify({
    name: 'p',
    scripts: { test: 'mkdir -p build && echo built > build/out && node --test --test-reporter=tap' },
  });

  test.runIf(isDeep)('runs npm test with build output, and the tree stays unchanged', async () => {
    const root = scratch({
      'package.json': PACKAGE,
      'a.test.js': `require('node:test').test('reads build', () => require('node:assert').equal(require('fs').readFileSync('build/out','utf8'), 'built\\n'));`,
    });
    const before = readdirSync(root);
    const { result, effects } = await ok(root, 'bash-test', {}, changes([{ run: ['npm', 'test'], report: 'tap' }]));
    expect(result).toMatchObject({
      exit: 0,
      command: ['npm', 'test'],
      narrowed: false,
      verdict: 'pass',
      report: { format: 'tap', total: 1, passed: 1, failed: 0, skipped: 0, failures: [] },
    });
    expect(effects).toEqual([]);
    expect(readdirSync(root)).toEqual(before);
  });

  test('does not forbid colours (NO_COLOR), and removes them from the output', async () => {
    const result = await verdict(scratch({}), script('test -z "$NO_COLOR" && printf "\\033[31mred\\033[0m $CI"'));
    expect(result).toMatchObject({ verdict: 'pass', stdout: 'red 1' });
  });

  test.runIf(isDeep)('names packages that were never installed, if a program or package is missing', async () => {
    const files = { 'package.json': '{"devDependencies":{"ava":"1"},"scripts":{"test":"exit 127"}}' };
    const notFound = script('echo "sh: ava: not found"; exit 127');
    const hint = /^node_modules is missing: the packages of package\.json are not installed\. Ask the operator/;
    const result = await verdict(scratch(files), notFound);
    expect(result).toMatchObject({ verdict: 'error', notShown: expect.stringMatching(hint) });
    expect(result).not.toHaveProperty('remedy');
    const gem = script('echo "Could not find gem coveralls in locally installed gems. (Bundler::GemNotFound)"; exit 1');
    const ask = /^A package that the command needs is not installed here\. Ask the operator to install what is missing/;
    const composer = script(
      'test "$COMPOSER_DISABLE_NETWORK" = 1 && echo "Network disabled, request canceled" && exit 1',
    );
    for (const each of [gem, composer])
      expect(await verdict(scratch({}), each)).toMatchObject({ notShown: expect.stringMatching(ask) });
    for (const [root, tests] of [
      [scratch({ ...files, 'node_modules/x': '' }), notFound],
      [scratch({}), notFound],
      [scratch(files), script('echo "1 is not 2"; exit 1')],
    ] as const)
      expect(await verdict(root, tests)).not.toHaveProperty('notShown');
  });

  test('refuses a command line that is longer than the system allows', async () => {
    const tests: Tests = [{ run: ['node', '--test', '{args}'], report: 'none' }];
    const command = ['node', '--test', 'x'.repeat(200_000)];
    const { outcome } = await run(scratch({}), 'bash-test', { command }, changes(tests));
    expect(outcome).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'command' });
  });

  test('reports a failing test with name and message, although the output mentions 0 failures', async () => {
    const root = scratch({
      'a.test.js': `const {test}=require('node:test'); test('good',()=>{console.log('0 failures')}); test('bad',()=>{throw new Error('broken thing')});`,
    });
    const result = await verdict(root, [{ run: ['node', '--test', '--test-reporter=tap'], report: 'tap' }]);
    expect(result).toMatchObject({
      exit: 1,
      verdict: 'fail',
      report: { total: 2, failed: 1, failures: [{ name: 'bad', message: 'broken thing' }] },
    });
  });

  test.runIf(isDeep)('reads the JUnit file that the run wrote', async () => {
    const root = scratch({
      'a.test.js': `const {test}=require('node:test'); test('good',()=>{}); test.skip('later',()=>{});`,
    });
    const result = await verdict(root, [
      {
        run: ['node', '--test', '--test-reporter=junit', '--test-reporter-destination=out.xml'],
        report: { junit: 'out.xml' },
      },
    ]);
    expect(result).toMatchObject({ verdict: 'pass', report: { format: 'junit', total: 2, passed: 1, skipped: 1 } });
    expect(existsSync(join(root, 'out.xml'))).toBe(false);
  });
});

describe('bash-test without a command', () => {
  const all = (...texts: string[]): Tests => texts.map((text) => ({ run: ['bash', '-c', text], report: 'none' }));

  test('runs all configured commands in order, each on its own tree, and reports each result', async () => {
    const result = await verdict(scratch(), all('echo one; touch made', 'echo two; test ! -e made'));
    expect(result).toMatchObject({
      verdict: 'pass',
      exit: 0,
      stdout: '$ bash -c echo one; touch made\none\n\n$ bash -c echo two; test ! -e made\ntwo\n\n',
      runs: [
        { command: ['bash', '-c', 'echo one; touch made'], verdict: 'pass', exit: 0 },
        { command: ['bash', '-c', 'echo two; test ! -e made'], verdict: 'pass', exit: 0 },
      ],
    });
    expect(result.runs[0]).not.toHaveProperty('others');
  });

  const NOT_PASSED = [
    ['one fails', ['true', 'exit 3', 'no-such-program'], 'fail', 3],
    ['one cannot run', ['true', 'no-such-program'], 'error', 127],
  ] as const;
  test.each(sample(NOT_PASSED, 2))('does not pass if %s', async (_, texts, expected, exit) => {
    expect(await verdict(scratch(), all(...texts))).toMatchObject({ verdict: expected, exit });
  });

  test.runIf(isDeep)('names the commands that did not run, and says if only a part of the tests ran', async () => {
    const tests: Tests = [
      { run: ['true', '{args}'], report: 'none' },
      { run: ['echo', 'two'], report: 'none' },
    ];
    expect(await verdict(scratch(), tests, { command: 'echo two' })).toMatchObject({ others: ['true'] });
    expect(await verdict(scratch(), tests, { command: 'true a' })).toMatchObject({
      narrowed: true,
      others: ['true', 'echo two'],
    });
  });
});

describe('the verdict of a test run', () => {
  const OLD = '<testsuites><testcase name="old"/></testsuites>';
  const CASES: readonly (readonly [string, Tests, object])[] = [
    ['exit code 0, and no report was configured', script('echo 3 failures, Error'), { verdict: 'pass', report: null }],
    [
      'exit code 1, although the output says success',
      script('echo 0 failures, all passed; exit 1'),
      { verdict: 'fail', report: null },
    ],
    ['exit code 0 with a failing test', script('printf "1..1\\nnot ok 1 - x\\n"', 'tap'), { verdict: 'fail' }],
    [
      'exit code 1 with passing tests',
      script('printf "1..1\\nok 1\\n"; exit 1', 'tap'),
      { verdict: 'fail', report: { passed: 1 } },
    ],
    ['no test ran', script('echo 1..0', 'tap'), { verdict: 'error', report: { total: 0 } }],
    [
      'all tests were skipped',
      script('printf "1..1\\nok 1 # SKIP\\n"', 'tap'),
      { verdict: 'error', report: { skipped: 1 } },
    ],
    [
      'the TAP is missing',
      script('echo OK 12 tests', 'tap'),
      { verdict: 'error', report: null, reportProblem: expect.stringMatching(/no TAP/) },
    ],
    [
      'the JUnit file is missing',
      script('true', { junit: 'r.xml' }),
      { verdict: 'error', reportProblem: expect.any(String) },
    ],
    [
      'the JUnit file is from before the run',
      script('cat old.xml', { junit: 'old.xml' }),
      { verdict: 'error', report: null },
    ],
    ['the JUnit file is a link', script('ln -s old.xml r.xml', { junit: 'r.xml' }), { verdict: 'error', report: null }],
    [
      'the JUnit file lies behind a link',
      script('mkdir /tmp/d; ln -s . d; cp old.xml r.xml', { junit: 'd/r.xml' }),
      { verdict: 'error', report: null },
    ],
    ['the JUnit file is a FIFO', script('mkfifo r.xml', { junit: 'r.xml' }), { verdict: 'error', report: null }],
    [
      'the JUnit file is cut off',
      script('head -c 30 old.xml > r.xml', { junit: 'r.xml' }),
      { verdict: 'error', report: null },
    ],
    [
      'the JUnit file lies outside the tree',
      script('true', { junit: '../../etc/passwd' }),
      { verdict: 'error', report: null },
    ],
    ['no test ran, and the runner says so', script('echo 1..0; exit 5', 'tap'), { verdict: 'error', exit: 5 }],
    ['a program of the script is missing', script('no-such-program'), { verdict: 'error', exit: 127 }],
    ['a program cannot be executed', script('touch x; ./x'), { verdict: 'error', exit: 126 }],
    [
      'exit code 127 because of a failing test, not of a missing program',
      script('echo 1..1; echo not ok 1 - x; exit 127', 'tap'),
      { verdict: 'fail' },
    ],
    ['there is too much output', script('yes'), { verdict: 'error', flooded: true }],
    [
      'a suite failed outside of its tests',
      script(`echo '<testsuite errors="1"><testcase name="a"/></testsuite>' > r.xml`, { junit: 'r.xml' }),
      { verdict: 'fail', report: { total: 2, passed: 1, failed: 1 } },
    ],
    [
      'the JUnit file is valid',
      script('cp old.xml r.xml', { junit: './r.xml' }),
      { verdict: 'pass', report: { total: 1 } },
    ],
  ];
  test.each(sample(CASES, 5))('is right for the case: %s', async (_name, tests, expected) => {
    expect(await verdict(scratch({ 'old.xml': OLD }), tests)).toMatchObject(expected);
  });

  describe('with a report path in the command or its env', () => {
    const FAKE = '<testsuites><testcase name="fake"/></testsuites>';
    const junit = { junit: 'out/all.xml' };

    test('is not affected by a test that writes to every report in the tree', async () => {
      const fake = `const fs=require('fs'); for (const f of fs.readdirSync('.',{recursive:true})) if (/[.]xml$/.test(f)) fs.writeFileSync(f,'${FAKE}')`;
      const root = scratch({
        'a.test.js': `const {test}=require('node:test'); test('bad',()=>{ throw new Error() }); process.on('exit', () => { ${fake}; process.exitCode = 0; });`,
        'out/all.xml': FAKE,
      });
      const run = ['node', '--test-reporter=junit', '--test-reporter-destination=out/all.xml', 'a.test.js'];
      expect(await verdict(root, [{ run, report: junit }])).toMatchObject({ exit: 0, command: run, verdict: 'fail' });
    });

    const WAYS: readonly (readonly [string, string[], object])[] = [
      ['a word', ['sh', '-c', `echo "$0" >&2; echo '${FAKE}' > "$0"`, 'out/all.xml'], {}],
      [
        'an environment variable',
        ['sh', '-c', `echo "$OUT" >&2; echo '${FAKE}' > "$OUT"`],
        { env: { OUT: 'out/all.xml' } },
      ],
      [
        'a word that it joins to its own folder',
        ['sh', '-c', `echo "$0" >&2; mkdir -p ".\${0%/*}"; echo '${FAKE}' > ".$0"`, 'out/all.xml'],
        {},
      ],
    ];
    test.each(sample(WAYS, 3))(
      'is read from a new path outside the tree if the command gets the path as %s',
      async (_, run, more) => {
        const result = await verdict(scratch(), [{ run, report: junit, ...more }]);
        expect(result).toMatchObject({ verdict: 'pass', report: { total: 1 } });
        expect(result.stderr).toMatch(/^\/var\/report-[-\w]{36}\/all\.xml$/m);
      },
    );
  });

  test.runIf(isDeep)(
    'comes with a message about fewer tests than before, in the same session and in a later one',
    async () => {
      vi.stubEnv('XDG_STATE_HOME', scratch());
      const root = scratch();
      const count = async (sessionId: string, tests: number, exit = 0) => {
        writeFileSync(join(root, 'tap'), `1..${tests}\n${'ok\n'.repeat(tests)}`);
        const call = toolCall(root, 'bash-test', {}, changes(script(`cat tap; exit $(cat exit)`, 'tap')));
        writeFileSync(join(root, 'exit'), `${exit}`);
        const { outcome } = await shellBackend(await sandbox()).run({ ...call, sessionId });
        return (outcome as unknown as { result: { fewerTests?: object } }).result.fewerTests ?? null;
      };
      expect(await count('s1', 5)).toBeNull();
      expect(await count('s1', 6)).toBeNull();
      expect(await count('s2', 1, 1)).toBeNull();
      expect(await count('s2', 4)).toEqual({ before: 6, now: 4 });
      expect(await count('s2', 4)).toEqual({ before: 6, now: 4 });
      expect(await count('s2', 7)).toBeNull();
      expect(await count('s2', 6)).toEqual({ before: 7, now: 6 });
      expect(await count('s3', 6)).toBeNull();
    },
  );

  test.runIf(isDeep)('is an error at the time limit', async () => {
    const { result } = await ok(
      scratch(),
      'bash-test',
      {},
      { ...changes(script('echo 1..0; sleep 60', 'tap')), seconds: 1 },
    );
    expect(result).toMatchObject({ timedOut: true, verdict: 'error', remedy: expect.stringContaining('minutes') });
  });

  test.runIf(isDeep)('uses a report that is longer than the shown output', async () => {
    const { result } = await ok(
      scratch(),
      'bash-test',
      {},
      {
        ...changes(script('echo 1..2000; for i in $(seq 2000); do echo "ok $i - a test"; done', 'tap')),
        outputBytes: 500,
      },
    );
    expect(result).toMatchObject({ verdict: 'pass', truncated: true, report: { total: 2000 } });
    expect(result.stdout.length).toBeLessThan(600);
  });
});

describe('a test command that changes files', () => {
  const copyRepository = builtOnce((root) => {
    put(root, { 'src/a': 'a', 'src/b/c': 'c', '.gitignore': 'dist/\n*.log\n', 'dist/out': 'old', 'new.txt': 'n' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], { cwd: root });
    git('init', '-q');
    git('add', 'src', '.gitignore');
    git('commit', '-q', '-m', 'first');
  });
  const repository = () => {
    const root = scratch();
    copyRepository(root);
    return root;
  };

  test.each(
    sample(
      [
        ['a changed file', 'echo good > src/a', ['src/a']],
        ['a deleted folder', 'rm -r src/b', ['src/b']],
        ['a file that git does not know yet', 'echo good > new.txt', ['new.txt']],
        ['a file in the place of a folder', 'rm -r src/b; echo > src/b', ['src/b']],
      ],
      4,
    ),
  )('does not pass if it changed %s', async (_, command, changed) => {
    const runs = [
      [command, 'none'],
      [`${command}; printf '1..1\\nok 1\\n'`, 'tap'],
    ] as const;
    for (const [text, report] of sample(runs, 2)) {
      const result = await verdict(repository(), script(text, report));
      expect(result).toMatchObject({ exit: 0, verdict: 'error', changedCode: changed });
      expect(result.reportProblem).toContain(changed[0]);
    }
    expect(await verdict(repository(), script(`${command}; exit 1`))).toMatchObject({ verdict: 'fail' });
  });

  test('gets the remedy to commit a lock file if it changed nothing else', async () => {
    const root = repository();
    put(root, { 'Cargo.lock': 'old' });
    execFileSync('git', ['add', 'Cargo.lock'], { cwd: root });
    const remedyOf = async (command: string) => (await verdict(root, script(command))).remedy;
    expect(await remedyOf('echo new > Cargo.lock')).toMatch(
      /^ask the operator to run .* brings Cargo\.lock up to date/,
    );
    expect(await remedyOf('echo new > Cargo.lock; echo b > src/a')).toMatch(/^make the tests write elsewhere/);
  });

  test.runIf(isDeep)('may write its report', async () => {
    const root = repository();
    writeFileSync(join(root, 'r.xml'), 'old');
    const text = `echo '<testsuites><testcase name="one"/></testsuites>' > r.xml`;
    expect(await verdict(root, script(text, { junit: './r.xml' }))).toMatchObject({ verdict: 'pass' });
  });

  test('may write new and ignored files, and rewrite files unchanged', async () => {
    const command =
      'echo x > dist/out; mkdir build; echo x > build/out; echo x > src/a.o; echo x > run.log; touch src/a; cp src/a t; cp t src/a; chmod +x src/b/c';
    const result = await verdict(repository(), script(command));
    expect(result).toMatchObject({ verdict: 'pass' });
    expect(result).not.toHaveProperty('changedCode');
  });

  test('does not change the repository and its git folder', async () => {
    const root = scratch({ 'src/a': 'a' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const result = await verdict(
      root,
      script('echo bad > src/a; rm -rf src; echo bad > new; echo x > .git/hooks/pre-commit; git config a.b c; true'),
    );
    expect(result.stderr).toMatch(/pre-commit: Read-only file system/);
    expect(readFileSync(join(root, 'src/a'), 'utf8')).toBe('a');
    expect(existsSync(join(root, 'new'))).toBe(false);
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
  });

  test('sees no secrets and no network', async () => {
    const root = scratch({ '.env': 'SECRET' });
    symlinkSync('.env', join(root, 'alias'));
    const result = await verdict(
      root,
      script('cat .env alias; (: < /dev/tcp/1.1.1.1/53) 2>&1; cp .env copy; cat copy'),
    );
    expect(result.stdout).not.toContain('SECRET');
    expect(result.stdout).toMatch(/unreachable/);
  });
});

describe('a configured test command', () => {
  const one = (text: string, more: Partial<Tests[number]> = {}): Tests => [
    { run: ['bash', '-c', text], report: 'none', ...more },
  ];

  test('gets variables, and its output shows no value of the operator', async () => {
    vi.stubEnv('SHOP_TOKEN', 'hunter2-hunter2');
    vi.stubEnv('OTHER_TOKEN', 'hunter3-hunter3');
    const env = { MODE: 'test', TOKEN: 'x-${SHOP_TOKEN}', SHOP_TOKEN: '${SHOP_TOKEN}', UNSET: '${NO_SUCH_VARIABLE}' };
    const text = `echo "$MODE $TOKEN \${UNSET-unset} \${OTHER_TOKEN-unset} \${#SHOP_TOKEN}"; echo "$SHOP_TOKEN" >&2; echo "<testsuite><testcase name='a'><failure>$SHOP_TOKEN</failure></testcase></testsuite>" > r.xml; exit 1`;
    const result = await verdict(scratch(), one(text, { env, report: { junit: 'r.xml' } }));
    expect(result).toMatchObject({
      stdout: 'test x-${SHOP_TOKEN} unset unset 15\n',
      stderr: '${SHOP_TOKEN}\n',
      report: { failures: [{ message: '${SHOP_TOKEN}' }] },
    });
    expect(JSON.stringify(result)).not.toContain('hunter');
  });

  test.runIf(isDeep)('has its own time limit, shorter or longer than the tool’s', async () => {
    expect(await verdict(scratch(), one('sleep 60', { minutes: 0.02 }))).toMatchObject({
      verdict: 'error',
      timedOut: true,
    });
    const { result } = await ok(
      scratch(),
      'bash-test',
      {},
      { ...changes(one('sleep 1.5', { minutes: 1 })), seconds: 1 },
    );
    expect(result).toMatchObject({ verdict: 'pass' });
  });

  test.runIf(isDeep)('has folders that only the runs of one session share', async () => {
    const home = scratch({ '.npmcache/module': 'of mine' });
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CACHE_HOME', join(home, 'caches'));
    const root = scratch({ 'target/old': 'of mine' });
    const cache = [
      { folder: '~/.cache/build', read: false },
      { folder: 'target', read: false },
      { folder: '~/.npmcache', read: true },
      { folder: '~/.not-there', read: true },
    ];
    const text =
      'ls ~/.cache/build target; cat ~/.npmcache/module; touch ~/.cache/build/a target/b; touch ~/.npmcache/c';
    const runIn = async (sessionId: string) => {
      const call = toolCall(root, 'bash-test', {}, changes(one(text), { cache }));
      const { outcome } = await shellBackend(await sandbox()).run({ ...call, sessionId });
      return (outcome as unknown as { result: { stdout: string; stderr: string } }).result;
    };
    const empty = '/home/agent/.cache/build:\n\ntarget:\nof mine';
    expect(await runIn('s1')).toMatchObject({ stdout: empty, stderr: expect.stringContaining('Read-only') });
    expect(await runIn('s1')).toMatchObject({ stdout: '/home/agent/.cache/build:\na\n\ntarget:\nb\nof mine' });
    expect(await runIn('s2')).toMatchObject({ stdout: empty });
    expect(readdirSync(join(root, 'target'))).toEqual(['old']);
    // Every command can read the operator's folder. Other commands share caches only among themselves, not with test
    // runs.
    for (const [tool, before] of [
      ['bash', ''],
      ['bash-readonly', 'planted\n'],
    ] as const) {
      const command = 'cat ~/.npmcache/module; ls ~/.cache/build; touch ~/.cache/build/planted';
      const { result } = await ok(root, tool, { command }, { config: { cache } });
      expect(result).toMatchObject({ stdout: `of mine${before}`, exit: 0 });
    }
    expect(await runIn('s1')).toMatchObject({ stdout: '/home/agent/.cache/build:\na\n\ntarget:\nb\nof mine' });
    const folder = join(home, 'caches/hopgate');
    const sessions = () => readdirSync(join(folder, readdirSync(folder)[0]!));
    expect(sessions()).toHaveLength(2);
    for (const name of sessions()) utimesSync(join(folder, readdirSync(folder)[0]!, name), 0, 0);
    await runIn('s3');
    expect(sessions()).toHaveLength(1);
    const wide = await run(root, 'bash-test', {}, changes(one('true'), { cache: [{ folder: '~/.', read: true }] }));
    expect(wide.outcome).toMatchObject({ status: 'failed', code: 'layout-impossible' });
  });
});

describe('the command line of bash-test', () => {
  const tests: Tests = [
    { run: ['node', '-e', '0'], report: 'none' },
    { run: ['node', '--test', '--', '{args}'], report: 'none' },
    { run: ['echo', '{args}', 'end'], report: 'none' },
  ];
  const attempt = (command: unknown, configured = tests) =>
    run(scratch(), 'bash-test', { command: command as string }, changes(configured));

  const LINES = [
    [['node', '-e', '0'], ['node', '-e', '0'], false],
    ["node -e '0'", ['node', '-e', '0'], false],
    ['node --test', ['node', '--test'], false],
    ['echo end', ['echo', 'end'], false],
    ['node --test -- "a b.test.js" -x', ['node', '--test', '--', 'a b.test.js', '-x'], true],
    ['echo a --b end', ['echo', 'a', '--b', 'end'], true],
  ] as const;
  test.each(sample(LINES, 4))('may be %j', async (command, argv, narrowed) => {
    const { outcome } = await attempt(command);
    expect(outcome).toMatchObject({ status: 'ok', result: { command: argv, narrowed } });
  });

  test.each([
    ['npm test'],
    ['node'],
    ['node -e 1'],
    ['node -e 0 x'],
    [['node', '-e', '0', '']],
    ['echo a'],
    ['{args}'],
  ])('is refused by the scope if it is %j', async (command) => {
    const { outcome } = await attempt(command);
    expect(outcome).toMatchObject({ status: 'refused', code: 'out-of-scope', argument: 'command' });
    expect(outcome).toHaveProperty('remedy', expect.stringContaining('node --test -- {args}'));
  });

  test.each([
    ['node -e 0; id'],
    ['node -e 0 && id'],
    ['node -e 0 > x'],
    ['echo $(id) end'],
    ['echo `id` end'],
    ['echo * end'],
    ['echo $HOME end'],
    ['A=1 node -e 0'],
    ['node -e 0 | cat'],
    [''],
    [[]],
    [[1]],
    [7],
  ])('is invalid if it is %j', async (command) => {
    const { outcome } = await attempt(command);
    expect(outcome).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'command' });
  });

  test('is refused without a configuration', async () => {
    const { outcome } = await attempt(undefined, []);
    expect(outcome).toMatchObject({ status: 'refused', code: 'invalid-action' });
    expect(outcome).toHaveProperty('remedy', expect.stringContaining('hopgate init'));
    // An untrusted hopgate.yaml gives the same configuration.
    expect(outcome).toHaveProperty('remedy', expect.stringContaining('hopgate trust'));
  });
});

test('a missing program is reported as an error', async () => {
  const result = await verdict(scratch(), [{ run: ['no-such-program'], report: 'none' }]);
  expect(result).toMatchObject({ exit: 127, verdict: 'error', remedy: expect.stringContaining('doctor') });
  expect(result.stderr).toContain('no-such-program');
});
