import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
  const config: import('hopgate').ProjectConfig;
  const context: import('hopgate').GateContext;
  const store: import('hopgate').EvidenceStore;
  const approver: import('hopgate').Approver;
  const backends: import('hopgate').ToolBackend[];
  const sessionId: string;
  const model: any;
  const messages: object[];
  const checkpointer: any;
  const client: { messages: { create(request: object): Promise<{ content: readonly { type: string }[] }> } };
  const ToolLoopAgent: typeof import('ai').ToolLoopAgent;
  const query: typeof import('@anthropic-ai/claude-agent-sdk').query;
  const createAgent: typeof import('langchain').createAgent;
  const Agent: typeof import('@openai/agents').Agent;
  const run: typeof import('@openai/agents').run;
  const Codex: typeof import('@openai/codex-sdk').Codex;
  const setup: typeof import('xstate').setup;
}
export {};
`;

const tsc = (folder: string): Promise<string> =>
  new Promise((done) =>
    execFile(
      resolve('node_modules/.bin/tsc'),
      ['--singleThreaded', '--project', folder],
      { cwd: folder },
      (_, out, err) => done(out + err),
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
    // A reader's program may use both; hopgate's own sources use only the second.
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    paths: Object.fromEntries(Object.entries(SOURCES).map(([name, file]) => [name, [file]])),
  };
  const config = { extends: resolve('tsconfig.json'), compilerOptions, include: ['blocks', 'around.d.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  for (const [file, text] of Object.entries(modules))
    writeFileSync(join(folder, 'blocks', file), `${text}\nexport {};\n`);
  return folder;
}

const named = (page: string, line: number): string => `${page.replaceAll(/[^\w]+/g, '-')}-line-${line}.ts`;

const entries = Object.entries(SOURCES).map(([name, file]) => [name, readFileSync(file, 'utf8')] as const);

/** Imports of the public names that a text uses and does not import or declare itself. */
function importsFor(text: string): string {
  const declared = [...text.matchAll(/(?:const|import) \{?([^}=]*)\}?(?: =| from)/g)]
    .map(([, names]) => names)
    .join(' ');
  const words = new Set(text.match(/(?<!\.)\b[A-Za-z]\w+(?=\()|\bsession\b/g));
  return [...words]
    .filter((word) => !new RegExp(`\\b${word}\\b`).test(declared))
    .flatMap((word) => {
      const [entry] = entries.find(([, source]) => exports(source, word)) ?? [];
      return entry === undefined ? [] : [`import { ${word} } from '${entry}';\n`];
    })
    .join('');
}

const exports = (source: string, word: string): boolean =>
  new RegExp(`^export (?:async )?(?:function|const|class) ${word}\\b|^export \\{[^}]*\\b${word}\\b[^}]*\\}`, 'm').test(
    source,
  );

const EXAMPLE =
  /@example\b(?: ?)((?:(?!\n\s*\* @|\n?\s*\*\/)[\s\S])*)\s*\*\/\n(?:export (?:async )?(?:function|const|class) (\w+)|\s{2})/g;

/** The examples of the public functions, and of the methods of a session, as modules. */
function examples(): { readonly [file: string]: string } {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'));
  return Object.fromEntries(
    files.flatMap((file) =>
      [...readFileSync(join('src', file), 'utf8').matchAll(EXAMPLE)].flatMap(({ 1: text = '', 2: name, index }) => {
        const isPublic =
          name === undefined ? file === 'session/session.ts' : entries.some(([, each]) => exports(each, name));
        const code = text.replaceAll(/\n\s*\* ?/g, '\n');
        return isPublic ? [[named(file, index), `${importsFor(code)}${code}`]] : [];
      }),
    ),
  );
}

it.runIf(isDeep)(
  'every script of README.md and docs/, and every public @example, type-checks under strict options',
  async () => {
    const blocks = pages()
      .flatMap((page) => blocksOf(page))
      .filter(
        ({ page, lang, notRun }) =>
          (lang === 'ts' || lang === 'js') && !page.startsWith('docs/extend/') && !notRun?.startsWith('not typed'),
      );
    expect(blocks.length).toBeGreaterThan(8);
    const inCode = examples();
    expect(Object.keys(inCode).length).toBeGreaterThan(30);
    const modules = Object.fromEntries(blocks.map(({ page, line, text }) => [named(page, line), text]));
    // The last block shows that errors are found.
    const wrong = "import { openSession } from 'hopgate';\nawait openSession({ root: 1, agent: 'a' });\n";
    const output = await tsc(folderOf({ ...modules, ...inCode, 'wrong.ts': wrong }));
    expect(output.split('\n').filter((line) => line.startsWith('blocks/'))).toEqual([
      expect.stringMatching(/^blocks\/wrong\.ts\(2,21\): error /),
    ]);
  },
);
