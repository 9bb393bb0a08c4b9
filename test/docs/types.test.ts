import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { blocksOf, pages } from './blocks.ts';
import { SOURCES } from './sources.ts';

/** Names that incomplete examples may use. */
const AROUND = `
declare global {
  const session: import('hopgate').Session;
  const specs: import('hopgate').SpecSet;
}
export {};
`;

const tsc = (folder: string): Promise<string> =>
  new Promise((done) =>
    execFile(resolve('node_modules/.bin/tsc'), ['--project', folder], { cwd: folder }, (_, out, err) =>
      done(out + err),
    ),
  );

/** A folder in which each block is a module, and `hopgate` is the sources. */
function folderOf(modules: { readonly [file: string]: string }): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-types-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'blocks'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'around.d.ts'), AROUND);
  const compilerOptions = {
    noEmit: true,
    noUnusedLocals: false,
    paths: Object.fromEntries(Object.entries(SOURCES).map(([name, file]) => [name, [file]])),
  };
  const config = { extends: resolve('tsconfig.json'), compilerOptions, include: ['blocks', 'around.d.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  for (const [file, text] of Object.entries(modules))
    writeFileSync(join(folder, 'blocks', file), `${text}\nexport {};\n`);
  return folder;
}

const named = (page: string, line: number): string => `${page.replaceAll(/[^\w]+/g, '-')}-line-${line}.ts`;

it.runIf(isDeep)('every ts block of README.md and docs/ type-checks, and an error in one is found', async () => {
  const blocks = pages()
    .flatMap((page) => blocksOf(page))
    .filter(
      ({ page, lang, notRun }) => lang === 'ts' && !page.startsWith('docs/extend/') && !notRun?.startsWith('not typed'),
    );
  expect(blocks.length).toBeGreaterThan(8);
  const modules = Object.fromEntries(blocks.map(({ page, line, text }) => [named(page, line), text]));
  // The last block shows that errors are found.
  const wrong = "import { openSession } from 'hopgate';\nawait openSession({ root: 1, agent: 'a' });\n";
  const output = await tsc(folderOf({ ...modules, 'wrong.ts': wrong }));
  expect(output.split('\n').filter((line) => /^\S/.test(line))).toEqual([
    expect.stringMatching(/^blocks\/wrong\.ts\(2,21\): error /),
  ]);
});
