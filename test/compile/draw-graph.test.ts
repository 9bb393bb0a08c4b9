import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DRAWN_FORMATS, drawGraph } from '../../src/compile/draw-graph.ts';
import { compileHopGraph } from '../../src/compile/hop-graph.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);

it.each(DRAWN_FORMATS)('%s is the same every time and ends in a line break', async (format) => {
  const drawn = await drawGraph(specs, format, { current: 'test' });
  expect(drawn.endsWith('\n')).toBe(true);
  expect(await drawGraph(specs, format, { current: 'test' })).toBe(drawn);
});

describe('the page', () => {
  it('holds the drawing and what each peripheral is, and loads nothing', async () => {
    const page = await drawGraph(specs, 'html');
    expect(page).toContain((await drawGraph(specs, 'svg')).trimEnd());
    for (const { id, purpose } of Object.values(specs.peripherals)) {
      expect(page).toContain(`<section id="${id}">\n<h2>${id}</h2>\n<p>${purpose}</p>`);
    }
    expect(page).toContain(
      '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    );
    expect(page).not.toMatch(/<script|<link|<img|src=|url\(|@import|href="(?!#)/);
    expect(page).toContain('prefers-color-scheme:dark');
  });

  it('tells tools, scope, entry, exits and gates of a peripheral', async () => {
    const page = await drawGraph(fixtureSpecs, 'html');
    const [, test = ''] = /<section id="test">([\s\S]*?)<\/section>/.exec(page) ?? [];
    const text = test.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('tools read observe');
    expect(text).toContain('scope test-commands-only reads root; writes nothing; runs test commands');
    expect(text).toContain('entry from-edit or user-request');
    expect(text).toContain('pass → deploy , reflect only if result is pass');
    expect(text).toContain('gates to deploy : approval by operator');
    expect(text).toContain('limits 100 steps, 30 minutes');
  });

  it('marks where a session stands', async () => {
    expect(await drawGraph(specs, 'html', { current: 'edit' })).toContain('<section id="edit" class="here">');
  });
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
