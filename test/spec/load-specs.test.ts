import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SpecError } from '../../src/spec/check/spec-problem.ts';
import { defaultSpecsFolder, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { readYaml } from '../../src/spec/load/read-yaml.ts';
import type { SpecSet } from '../../src/spec/types.ts';

const hops = ({ edges }: SpecSet, from: string) =>
  edges.filter((edge) => edge.from === from).map(({ exit, to }) => `${exit} → ${to}`);

describe('the built-in specs', () => {
  it('have exactly the expected edges from test', async () => {
    const specs = await loadSpecs('default');
    expect(hops(specs, 'test')).toEqual([
      'fail → edit',
      'fail → reflect',
      'flaky → edit',
      'flaky → reflect',
      'hop-discipline → discipline',
      'hop-edit → edit',
      'hop-reflect → reflect',
      'pass → deploy',
      'pass → reflect',
    ]);
  });

  it('open deploy only by the exit pass of test, if the tests have passed and the operator approves', async () => {
    const { edges } = await loadSpecs('default');
    expect(edges.filter(({ to }) => to === 'deploy')).toEqual([
      {
        from: 'test',
        exit: 'pass',
        to: 'deploy',
        when: null,
        sources: [{ kind: 'from', peripheral: 'test' }],
        conditions: ['tests-passed'],
        gates: [{ kind: 'approval', by: 'operator' }],
        implies: { field: 'result', value: 'pass' },
      },
    ]);
  });

  it('let every other peripheral reach reflect', async () => {
    const { edges } = await loadSpecs('default');
    const sources = edges.filter(({ to }) => to === 'reflect').map(({ from }) => from);
    expect([...new Set(sources)]).toEqual(['chat', 'deploy', 'discipline', 'edit', 'explore', 'test']);
  });

  it('have one hash, however they are loaded', async () => {
    const [byName, byFolder] = [await loadSpecs('default'), await loadSpecs(defaultSpecsFolder())];
    expect(byName.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(byFolder.hash).toBe(byName.hash);
  });
});

it('a loaded set is frozen, and the same until one of its files changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-specs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(defaultSpecsFolder(), folder, { recursive: true });
  const specs = await loadSpecs(folder);
  expect(() => Object.assign(specs.peripherals['edit']!, { tools: [] })).toThrow(/read only property/);
  expect(await loadSpecs(folder)).toBe(specs);
  const edit = join(folder, 'peripherals', 'edit.yaml');
  writeFileSync(edit, readFileSync(edit, 'utf8').replace(/^purpose: .*$/m, 'purpose: Changes the code.'));
  expect((await loadSpecs(folder)).peripherals['edit']).toMatchObject({ purpose: 'Changes the code.' });
});

it('a path without specs is answered with what can be loaded', async () => {
  const error = await loadSpecs(join(defaultSpecsFolder(), 'nowhere')).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SpecError);
  expect((error as SpecError).issues).toEqual([
    {
      file: join(defaultSpecsFolder(), 'nowhere'),
      path: '',
      message: 'there is no such file or folder',
      suggestion: 'name a folder of spec files, an .edn or .yaml file, or default',
    },
  ]);
});

describe('a YAML file that is read again', () => {
  const source = { file: 'a.yaml', text: 'a: { b: [1] }\nc: 2\n__proto__: 3\n' };

  it('gives a new value with the same lines', () => {
    readYaml(source);
    for (const file of ['first.yaml', 'second.yaml']) {
      const { document, problems } = readYaml({ ...source, file });
      expect(problems).toEqual([]);
      expect(document.file).toBe(file);
      expect([['a', 'b', 0], ['c']].map(document.lineOf)).toEqual([1, 2]);
      const value = document.value as { a: { b: number[] } };
      expect(Object.entries(value).map(([key]) => key)).toEqual(['a', 'c', '__proto__']);
      expect(value.a.b).toEqual([1]);
      value.a.b.push(9);
    }
  });
});

it('a version of Node that is too old is named by the error, with the one to install', async () => {
  const { groupBy } = Map;
  Reflect.deleteProperty(Map, 'groupBy');
  try {
    await expect(loadSpecs('default')).rejects.toThrow('hopgate needs Node 22.13 or newer');
  } finally {
    Map.groupBy = groupBy;
  }
});
