import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compileMachineConfigs } from '../../src/compile/compile-specs.ts';
import { DRAWN_FORMATS, drawGraph } from '../../src/compile/draw-graph.ts';
import { isDeep } from '../depth.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);

it.each(DRAWN_FORMATS)('%s is the same at every run and ends in a line break', async (format) => {
  const drawn = await drawGraph(specs, format, { current: 'test' });
  expect(drawn.endsWith('\n')).toBe(true);
  expect(await drawGraph(specs, format, { current: 'test' })).toBe(drawn);
});

describe('the module for Stately', () => {
  it.runIf(isDeep)('of each machine needs only xstate, type-checks, and contains the same machine', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hopgate-stately-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const config = { extends: resolve('tsconfig.json'), compilerOptions: { noEmit: true }, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const machines = compileMachineConfigs(specs);
    for (const { id } of machines) {
      const text = await drawGraph(specs, 'stately', { machine: id });
      expect(text.match(/from '[^']+'/g)).toEqual(["from 'xstate'"]);
      writeFileSync(join(folder, `${id}.ts`), text);
    }
    execFileSync(resolve('node_modules/.bin/tsc'), ['--singleThreaded', '--project', folder], { stdio: 'inherit' });
    const files = machines.map(({ id }) => pathToFileURL(join(folder, `${id}.ts`)).href);
    const script = `for (const file of ${JSON.stringify(files)}) console.log(JSON.stringify(Object.values(await import(file))[0].config))`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    expect(
      printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(machines);
  });

  it('is refused for an unknown name', async () => {
    await expect(drawGraph(specs, 'stately', { machine: 'no-such' })).rejects.toThrow('there is no machine "no-such"');
    await expect(drawGraph(specs, 'dot', { machine: 'no-such' })).rejects.toThrow('there is no machine "no-such"');
  });
});
