import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generateFiles } from '../../src/compile/generate-files.ts';
import { compareGeneratedFiles, writeGeneratedFiles } from '../../src/compile/write-generated-files.ts';
import { CORE, GATE, specSet } from './specs.ts';

const full = generateFiles(specSet(CORE, GATE), { guardsImport: 'hopgate' });
const { deploy: _, ...fewer } = CORE;
const less = generateFiles(specSet(fewer), { guardsImport: 'hopgate' });
const UP_TO_DATE = { missing: [], stale: [], extra: [] };

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('a missing folder of generated files is reported and then written', async () => {
  const out = join(folder, 'new', 'machines');
  expect(await compareGeneratedFiles(out, full)).toEqual({ ...UP_TO_DATE, missing: Object.keys(full).sort() });
  expect(await writeGeneratedFiles(out, full)).toEqual(Object.keys(full).sort());
  expect(await compareGeneratedFiles(out, full)).toEqual(UP_TO_DATE);
  expect((await readdir(out)).sort()).toEqual(Object.keys(full).sort());
  for (const [name, text] of Object.entries(full)) expect(await readFile(join(out, name), 'utf8')).toBe(text);
});

it('unchanged generated files are not written again', async () => {
  await writeGeneratedFiles(folder, full);
  expect(await writeGeneratedFiles(folder, full)).toEqual([]);
});

it('an edited, removed or superfluous generated file is reported and repaired alone', async () => {
  await writeGeneratedFiles(folder, full);
  await writeFile(join(folder, 'mode-gate.json'), '{}');
  await rm(join(folder, 'hop-graph.mmd'));
  expect(await compareGeneratedFiles(folder, full)).toEqual({
    ...UP_TO_DATE,
    missing: ['hop-graph.mmd'],
    stale: ['mode-gate.json'],
  });
  expect(await writeGeneratedFiles(folder, full)).toEqual(['hop-graph.mmd', 'mode-gate.json']);

  const gone = ['deploy-lifecycle', 'mode-gate'].flatMap((name) => [
    `${name}.json`,
    `${name}.machine.ts`,
    `${name}.mmd`,
  ]);
  expect((await compareGeneratedFiles(folder, less)).extra).toEqual(gone);
  await writeGeneratedFiles(folder, less);
  expect((await readdir(folder)).sort()).toEqual(Object.keys(less).sort());
});

it('other files in a folder of generated files stay', async () => {
  const own = { 'notes.md': 'mine', 'deploy-lifecycle.json': '{}', 'own.machine.ts': 'export {};\n', 'own.json': '{}' };
  for (const [name, text] of Object.entries(own)) await writeFile(join(folder, name), text);
  await mkdir(join(folder, 'sub'));
  expect((await compareGeneratedFiles(folder, less)).extra).toEqual([]);
  await writeGeneratedFiles(folder, less);
  expect((await readdir(folder)).sort()).toEqual([...Object.keys(less), ...Object.keys(own), 'sub'].sort());
});
