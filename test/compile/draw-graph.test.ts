import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DRAWN_FORMATS, drawGraph } from '../../src/compile/draw-graph.ts';
import { compileHopGraph } from '../../src/compile/hop-graph.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);

it.each(DRAWN_FORMATS)('%s is the same every time and ends in a line break', async (format) => {
  const drawn = await drawGraph(specs, format, { current: 'test' });
  expect(drawn.endsWith('\n')).toBe(true);
  expect(await drawGraph(specs, format, { current: 'test' })).toBe(drawn);
});

describe('the machine for Stately', () => {
  it('is one module that needs xstate alone, type-checks, and holds the same machine', async () => {
    const text = await drawGraph(specs, 'stately');
    expect(text.match(/from '[^']+'/g)).toEqual(["from 'xstate'"]);
    const folder = mkdtempSync(join(tmpdir(), 'hopgate-stately-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const file = join(folder, 'hop-graph.ts');
    writeFileSync(file, text);
    const config = { extends: resolve('tsconfig.json'), compilerOptions: { noEmit: true }, include: ['hop-graph.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    execFileSync(resolve('node_modules/.bin/tsc'), ['--project', folder], { stdio: 'inherit' });
    const script = `import(${JSON.stringify(pathToFileURL(file).href)}).then(({ hopGraph }) => console.log(JSON.stringify(hopGraph.config)))`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual(compileHopGraph(specs));
  });
});
