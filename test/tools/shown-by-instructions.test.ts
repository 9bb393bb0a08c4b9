import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { findInstructionProblem } from '../../src/tools/instruction-imports.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

type Files = { readonly [path: string]: string | { readonly link: string } };

function repository(files: Files): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-instructions-')));
  folders.push(base);
  for (const [path, content] of Object.entries<Files[string]>({
    'root/.env': 'A=1',
    outside: '',
    ...prefixed(files),
  })) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    if (typeof content === 'string') writeFileSync(join(base, path), content);
    else symlinkSync(content.link, join(base, path));
  }
  return join(base, 'root');
}

const prefixed = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`root/${path}`, content]));

const config = DEFAULT_PROJECT_CONFIG;

describe('an existing instruction file', () => {
  it.each<[string, Files, string]>([
    ['imports what is masked', { 'CLAUDE.md': 'see @.env' }, 'CLAUDE.md imports "@.env", which is masked'],
    ['lies in a folder', { 'a/b/AGENTS.md': '@../../.env' }, 'a/b/AGENTS.md imports "@../../.env", which is masked'],
    ['imports what imports it', { 'CLAUDE.md': '@a/x.md', 'a/x.md': '@../.env' }, 'a/x.md imports "@../.env"'],
    ['imports what lies outside', { 'CLAUDE.local.md': '@../outside' }, 'which lies outside the root'],
    ['is a rule', { '.claude/rules/a.md': '@../../.env' }, '.claude/rules/a.md imports'],
    ['is in a linked folder of rules', { '.claude/rules': { link: '../r' }, 'r/a.md': '@../.env' }, 'r/a.md imports'],
    ['is a command', { 'sub/.claude/commands/a.md': '@.env', 'sub/.claude/commands/.env': '' }, 'a.md imports'],
    ['is a link to what is masked', { 'CLAUDE.md': { link: '.env' } }, 'CLAUDE.md is a link to'],
    ['is a link to what lies outside', { 'x/CLAUDE.md': { link: '../../outside' } }, 'which lies outside the root'],
    [
      'imports a link to it',
      { 'CLAUDE.md': '@x.txt', 'x.txt': { link: '.env' } },
      'CLAUDE.md imports "@x.txt", which is masked',
    ],
    ['is too large to be searched', { 'CLAUDE.md': 'x'.repeat(5 << 20) }, 'CLAUDE.md is too large'],
  ])('is reported if it %s', (_, files, message) => {
    const problem = findInstructionProblem({ root: repository(files), config }, 'claude-code');
    expect(problem?.message).toContain(message);
  });

  it.each<[string, Files]>([
    ['imports what may be read', { 'CLAUDE.md': '@AGENTS.md', 'AGENTS.md': '@a.md', 'a.md': '@AGENTS.md' }],
    ['imports what is not there', { 'CLAUDE.md': '@secrets/.env and @/not/there and @~/not-there' }],
    ['names folders', { 'CLAUDE.md': 'the aliases @/ and @~ and @/tmp' }],
    ['is a link in the root', { 'CLAUDE.md': { link: 'AGENTS.md' }, 'AGENTS.md': 'x' }],
    ['is an installed one', { 'node_modules/a/CLAUDE.md': '@../../.env' }],
  ])('is not reported if it %s', (_, files) =>
    expect(findInstructionProblem({ root: repository(files), config }, 'claude-code')).toBeNull(),
  );

  it('may import the files that hopgate.yaml lists', () => {
    const root = repository({ 'CLAUDE.md': '@.env @../outside' });
    const problem = (imports: string[]) =>
      findInstructionProblem({ root, config: { ...config, imports } }, 'claude-code');
    expect(problem([])?.remedy).toContain('add ".env" to "imports" in hopgate.yaml');
    const outside = join(dirname(root), 'outside');
    expect(problem(['.env'])?.remedy).toContain(`add "${outside}"`);
    expect(problem(['.env', outside])).toBeNull();
    const linked = repository({ 'CLAUDE.md': '@x.txt', 'x.txt': { link: '.env' } });
    const allowed = { ...config, imports: ['x.txt'] };
    expect(findInstructionProblem({ root: linked, config: allowed }, 'claude-code')?.message).toContain('is masked');
  });

  it('is searched in all folders of a path, including packages', () => {
    const root = repository({ 'a/CLAUDE.md': '@../.env', 'node_modules/b/CLAUDE.md': '@../../.env' });
    const near = (path: string) => findInstructionProblem({ root, config }, 'claude-code', path)?.message ?? null;
    expect(near('x.js')).toBeNull();
    expect(near('node_modules/c/x.js')).toBeNull();
    expect(near('a/b/c/x.js')).toContain('a/CLAUDE.md');
    expect(near('node_modules/b/lib/x.js')).toContain('node_modules/b/CLAUDE.md');
  });

  it('is read without imports if the client expands none', () => {
    const problem = (files: Files) => findInstructionProblem({ root: repository(files), config }, 'codex');
    expect(problem({ 'AGENTS.md': '@.env' })).toBeNull();
    expect(problem({ 'AGENTS.md': { link: '.env' } })?.message).toContain('AGENTS.md is a link to');
  });
});
