import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, machine, put, spawnCli } from './run.ts';

describe('check', () => {
  it('counts what it checked', async () => {
    const { code, out } = await machine().run('check', '--json');
    expect(code).toBe(0);
    const { ok, counts } = JSON.parse(out) as {
      ok: boolean;
      counts: { peripherals: number; tools: number; edges: number };
    };
    expect(ok).toBe(true);
    expect(Math.min(counts.peripherals, counts.tools, counts.edges)).toBeGreaterThan(0);
  });

  it('prints the problems of the specs and of hopgate.yaml at once', async () => {
    const { root, run } = machine({ 'hopgate.yaml': 'tset: []\n' });
    cpSync('specs', join(root, 'specs'), { recursive: true });
    const file = join(root, 'specs', 'peripherals', 'edit.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('hop-reflect: reflect', 'hop-reflect: reflcet'));
    const { code, out, err } = await run('check', 'specs');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^hopgate: [23] problems in the spec files$/m);
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

  it('refuses scopes of peripherals that are not there', async () => {
    const { err } = await machine({ 'hopgate.yaml': 'scopes: {edti: [src/]}\n' }).run('check');
    expect(err).toContain('scopes.edti: there is no peripheral "edti"');
    expect(err).toContain('did you mean "edit"?');
  });

  it('warns of masked files that git tracks', async () => {
    const { root, run } = machine({ 'deploy/.env': 'KEY=1', 'a.txt': '' });
    expect((await run('check')).out).not.toContain('warning');
    commitAll(root);
    const { code, out } = await run('check');
    expect(code).toBe(0);
    expect(out).toContain('warning  deploy/.env is masked, but git tracks it');
    expect(out).not.toContain('a.txt');
  });

  it('warns of tools that nobody runs, and of tools beside their scope', async () => {
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
    expect(out).toContain('warning  tools.price: hopgate does not run price by itself');
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

  it('says so when there is nothing at the path', async () => {
    const { code, err } = await machine().run('check', 'no/where');
    expect(code).toBe(1);
    expect(err).toContain('there is no such file or folder');
  });
});

describe('generate', () => {
  it('writes the machines, and finds them up to date until the specs change', async () => {
    const { root, run } = machine();
    cpSync('specs', join(root, 'specs'), { recursive: true });
    expect((await run('generate')).out).toMatch(/^Wrote \d+ of \d+ files:\n {2}machines\//);
    const machineFile = readFileSync(join(root, 'machines', 'hop-graph.machine.ts'), 'utf8');
    expect(machineFile).toContain("from 'hopgate';");
    expect((await run('generate', '--check')).code).toBe(0);

    put(root, { 'machines/hop-graph.mmd': 'changed' });
    rmSync(join(root, 'machines', 'hop-graph.json'));
    const stale = await run('generate', '--check');
    expect(stale.code).toBe(1);
    expect(stale.err).toContain('machines/hop-graph.json, machines/hop-graph.mmd');
    expect(stale.err).toContain('Run "hopgate generate --specs specs --out machines".');
    expect(JSON.parse((await run('generate', '--json')).out)).toMatchObject({
      changed: ['machines/hop-graph.json', 'machines/hop-graph.mmd'],
    });
    expect((await run('generate', '--check')).code).toBe(0);
  });

  it('finds what is committed here up to date: machines and schemas', async () => {
    const { code, err, out } = await spawnCli(['generate', '--check']);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('up to date');
    expect(readFileSync('machines/hop-graph.machine.ts', 'utf8')).toContain("from '../src/compile/guards.ts';");
  });
});

describe('graph', () => {
  it.each([
    [['graph'], /^(?:---|stateDiagram|flowchart)/],
    [['graph', '--format', 'dot'], /^digraph "hop-graph" \{/],
    [['graph', '--format', 'json'], /^\{/],
    [['graph', '--json'], /^\{/],
    [['graph', 'default', '--json'], /^\{/],
    [['graph', '--specs', 'default', '--json'], /^\{/],
  ])('prints %j', async (argv, beginning) => {
    const { code, out } = await machine().run(...argv);
    expect(code).toBe(0);
    expect(out).toMatch(beginning);
    expect(out).toContain('edit');
  });

  it('takes the shipped specs by the name default, as check and test do', async () => {
    const { run } = machine();
    expect(await run('graph', '--specs', 'default')).toMatchObject({ code: 0 });
    expect(await run('check', 'default')).toMatchObject({ code: 0 });
  });
});
