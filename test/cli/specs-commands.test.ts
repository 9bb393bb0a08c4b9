import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { splitWords } from '../../src/base/text.ts';
import { isDeep } from '../depth.ts';
import { commitAll, machine, put, spawnCli } from './run.ts';

describe('hopgate check', () => {
  it('counts the checked files', async () => {
    const { code, out } = await machine().run('check', '--json');
    expect(code).toBe(0);
    const { ok, counts } = JSON.parse(out) as {
      ok: boolean;
      counts: { peripherals: number; tools: number; edges: number };
    };
    expect(ok).toBe(true);
    expect(Math.min(counts.peripherals, counts.tools, counts.edges)).toBeGreaterThan(0);
  });

  it('prints the problems of the specs and of hopgate.yaml together', async () => {
    const { root, run } = machine({ 'hopgate.yaml': 'tset: []\n' });
    cpSync('specs', join(root, 'specs'), { recursive: true });
    const file = join(root, 'specs', 'peripherals', 'edit.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('hop-reflect: reflect', 'hop-reflect: reflcet'));
    const { code, out, err } = await run('check', 'specs');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^hopgate: [23] problems in \d files$/m);
    expect(err).toContain('did you mean "reflect"?');
    expect(err).toContain('tset');
    const { error } = JSON.parse((await run('check', 'specs', '--json')).out) as {
      error: { code: string; issues: { path: string }[] };
    };
    expect(error.code).toBe('invalid-spec');
    expect(error.issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['tset', 'peripherals.edit.exit.hop-reflect']),
    );
  });

  it('does not read a scenario or hopgate.yaml as a peripheral', async () => {
    const { root, run } = machine({ 'hopgate.yaml': 'test: npm test\n' });
    cpSync('specs', join(root, 'specs'), { recursive: true });
    const { code, err } = await run('check', 'specs/scenarios/fix-a-bug.yaml');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/fix-a-bug.yaml is a scenario.*\n.*: hopgate check \S+\/specs$/m),
    });
    expect((await run('check', 'hopgate.yaml')).err).toContain('Check it with "hopgate check --root');
  });

  it('refuses scopes of unknown peripherals', async () => {
    const { err } = await machine({ 'hopgate.yaml': 'scopes: {edti: [src/]}\n' }).run('check');
    expect(err).toContain('scopes.edti: there is no peripheral "edti"');
    expect(err).toContain('did you mean "edit"?');
  });

  it('checks the scenarios of a spec set, and reports a misnamed folder', async () => {
    const { root, run } = machine();
    cpSync('specs', join(root, 'specs'), { recursive: true });
    const steps = [
      'start: explre',
      'step: { tool: raed, args: {} }',
      'hop: { to: edit, exit: par-generated, reason: x }',
    ];
    put(root, { 'specs/scenarios/bad.yaml': `title: Bad.\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}` });
    const { err } = await run('check', 'specs');
    expect(err.match(/there is no .*/g)).toEqual([
      'there is no peripheral "explre"',
      'there is no tool "raed"',
      'there is no exit to edit "par-generated"',
    ]);
    renameSync(join(root, 'specs/scenarios'), join(root, 'specs/scenario'));
    expect((await run('check', 'specs')).err).toMatch(/specs\/scenario\n.*nothing in it is read\n.*"scenarios"/);
    mkdirSync(join(root, 'specs/peripherial'));
    expect((await run('check', 'specs')).err).toMatch(/specs\/peripherial\n.*nothing in it is read\n.*"peripherals"/);
  });

  it.runIf(isDeep)('warns of masked files that git tracks', async () => {
    const { root, run } = machine({ 'deploy/.env': 'KEY=1', 'a.txt': '' });
    expect((await run('check')).out).not.toContain('warning');
    commitAll(root);
    const { code, out } = await run('check');
    expect(code).toBe(0);
    expect(out).toContain('warning  deploy/.env is masked, but git tracks it');
    expect(out).not.toContain('a.txt');
  });

  it.runIf(isDeep)(
    'warns of globs that match nothing in specs that are named by their path, only in their own repository',
    async () => {
      const peripheral = 'id: a\npurpose: p\ntools: [read]\nscope: { paths: ["*.go"] }\nentry: default\nexit: []\n';
      const here = machine({ 'specs/peripherals/a.yaml': peripheral });
      const other = machine({ 'b.txt': '' });
      for (const { root } of [here, other]) commitAll(root);
      expect((await here.run('check', 'specs')).out).toContain('"*.go" matches no file');
      expect((await other.run('check', join(here.root, 'specs'))).out).not.toContain('matches no file');
    },
  );

  it('warns of globs that match nothing, of masks that hide nothing, and of programs, toolchains and remotes that are missing', async () => {
    const config = (rest: string) => `scopes: { edit: [src/, "*.go", "src/**/*.js", "*.md", "!*.lock"] }\n${rest}`;
    const here = machine({
      'src/deep/a.js': '',
      'hopgate.yaml': config(
        'test: [{ run: [sh, a] }, { run: [no-such-program] }, { run: [bin/none] }, { run: [sh, -c, "b=$(mktemp -d) && cd $b && no-builder build \'; a\'"] }]\n',
      ),
    });
    commitAll(here.root);
    const { out } = await here.run('check');
    expect(out.split('\n').filter((line) => line.startsWith('warning'))).toEqual([
      expect.stringMatching(/^warning {2}scopes\.edit: "\*\.go" matches no file; .*\*\*\//),
      expect.stringContaining('no-such-program: your PATH does not have it. Install no-such-program'),
      expect.stringContaining('bin/none: the repository does not have it. Install the dependencies'),
      expect.stringContaining('no-builder: your PATH does not have it. Install no-builder'),
    ]);
    put(here.root, {
      'hopgate.yaml': config(
        'toolchains: [/no/where, /nor/here]\ngit: { remote: origin, branch: main }\nmask: ["!**"]\n',
      ),
    });
    const { warnings, missing } = JSON.parse((await here.run('check', '--json')).out);
    expect(warnings).toMatchObject([
      { code: 'glob-matches-nothing', path: 'scopes.edit' },
      { code: 'masks-nothing', message: '"!**" matches every path, so no file is masked' },
    ]);
    expect(missing).toMatchObject([
      { name: 'git remote', found: 'the repository has no remote "origin"' },
      { name: 'programs', found: expect.stringContaining('"/no/where" does not exist') },
      { name: 'programs', found: expect.stringContaining('"/nor/here" does not exist') },
    ]);
  });

  it('warns of tools that no backend runs, and of tools that their scope does not fit', async () => {
    const tool = (id: string, upstream: string) =>
      `  ${id}:\n    purpose: x\n    effect: observe\n    parameters: []\n    limits: { seconds: 1, output-bytes: 100 }\n${upstream}`;
    const { run } = machine({
      'hopgate.yaml': 'upstream: { tracker: { command: [tracker] } }\n',
      'specs/tools.yaml': `tools:\n${tool('price', '')}${tool('issue', '    upstream: { server: trakker, tool: get }\n')}${tool('bug', '    upstream: { server: tracker, tool: get }\n')}`,
      'specs/peripherals/ask.yaml':
        'id: ask\npurpose: x\ntools: [price, issue, bug, bash-test, write]\nscope: full-codebase\nentry: [default, from-rest]\nexit: { done: rest }\n',
      'specs/peripherals/rest.yaml':
        'id: rest\npurpose: x\ntools: []\nscope: conversation\nentry: from-ask\nexit: { on: ask }\n',
    });
    const { code, out } = await run('check', 'specs');
    expect(code).toBe(0);
    expect(out).toContain('warning  tools.price: hopgate has no backend for price');
    expect(out).toContain('warning  tools.issue.upstream.server: hopgate.yaml names no upstream "trakker"');
    expect(out).toContain('did you mean "tracker"?');
    expect(out).toContain('warning  peripherals.ask.tools.3: bash-test runs here, but its verdict is not recorded');
    expect(out).toContain('warning  peripherals.ask.tools.4: every call of write is refused here (out-of-scope)');
    const { warnings } = JSON.parse((await run('check', 'specs', '--json')).out) as { warnings: { code: string }[] };
    expect(warnings.map(({ code }) => code)).toEqual([
      'beside-its-scope',
      'never-in-scope',
      'unserved',
      'unknown-upstream',
    ]);
  });

  it('says that nothing exists at the path', async () => {
    const { code, err } = await machine().run('check', 'no/where');
    expect(code).toBe(1);
    expect(err).toContain('there is no such file or folder');
  });
});

describe('hopgate generate', () => {
  it('writes the machines, and accepts them until the specs change', async () => {
    const { root, run } = machine();
    cpSync('specs', join(root, 'specs'), { recursive: true });
    expect((await run('generate')).out).toMatch(/^Wrote \d+ of \d+ files:\n {2}machines\//);
    const machineFile = readFileSync(join(root, 'machines', 'hop-graph.machine.ts'), 'utf8');
    expect(machineFile).toContain("from 'hopgate/machines';");
    expect((await run('generate', 'specs', '--check')).code).toBe(0);

    put(root, { 'machines/hop-graph.mmd': 'changed' });
    rmSync(join(root, 'machines', 'hop-graph.json'));
    const stale = await run('generate', '--check');
    expect(stale.code).toBe(1);
    expect(stale.err).toContain('machines/hop-graph.json, machines/hop-graph.mmd');
    expect(stale.err).toContain('Run "hopgate generate specs --out machines".');
    expect(JSON.parse((await run('generate', '--json')).out)).toMatchObject({
      changed: ['machines/hop-graph.json', 'machines/hop-graph.mmd'],
    });
    expect((await run('generate', '--check')).code).toBe(0);
  });

  it.runIf(isDeep)('accepts the committed machines and schemas', async () => {
    const { code, err, out } = await spawnCli(['generate', '--check']);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('up to date');
    expect(readFileSync('machines/hop-graph.machine.ts', 'utf8')).toContain("from '../src/compile/index.ts';");
  });
});

it.runIf(isDeep)('test prints the paths of the tests as data with --paths --json', async () => {
  const { out, code } = await machine().run('test', 'default', '--paths', '--json');
  const tests = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const found = tests.find(({ name }) => name.startsWith('edge explore found-target edit'));
  expect(found.moves.map((move: { name: string }) => move.name)).toEqual(
    splitWords('to.diagnose to.execute start.explore found-target.edit'),
  );
  expect(code).toBe(0);
  expect((await machine().run('test', '--paths', '--emit', 'x')).code).toBe(2);
});

describe('hopgate graph', () => {
  it.each([
    [['graph'], /^(?:---|stateDiagram|flowchart)/],
    [['graph', '--format', 'dot'], /^digraph "hop-graph" \{/],
    [['graph', '--format', 'json'], /^\{/],
    [['graph', '--json'], /^\{/],
    [['graph', 'default', '--json'], /^\{/],
  ])('prints the graph in the format %j', async (argv, beginning) => {
    const { code, out } = await machine().run(...argv);
    expect(code).toBe(0);
    expect(out).toMatch(beginning);
    expect(out).toContain('edit');
  });

  it('accepts the name default for the built-in specs, as check and test do', async () => {
    const { run } = machine();
    expect(await run('graph', 'default')).toMatchObject({ code: 0 });
    expect(await run('check', 'default')).toMatchObject({ code: 0 });
  });
});
