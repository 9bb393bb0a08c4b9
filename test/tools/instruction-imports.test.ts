import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { importProblemOfText } from '../../src/tools/instruction-imports.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-imports-')));
const root = join(base, 'root');
mkdirSync(join(root, 'docs/more'), { recursive: true });
for (const [path, text] of [
  ['.env', 'A=1'],
  ['docs/guide.md', ''],
  ['my key.pem', ''],
  ['docs/a@b.key', ''],
] as const)
  writeFileSync(join(root, path), text);
writeFileSync(join(base, 'secret'), '');
symlinkSync('../.env', join(root, 'docs/plain.txt'));
afterAll(() => rmSync(base, { recursive: true }));

const problem = (path: string, text: string) =>
  importProblemOfText({ root, config: DEFAULT_PROJECT_CONFIG }, path, text);

it.each([
  ['CLAUDE.md', '@.env'],
  ['CLAUDE.md', 'See @./.env for more.'],
  ['docs/CLAUDE.md', 'a\n- @../.env\n'],
  ['claude.md', '**@.ENV**'],
  ['AGENTS.md', '(@docs/../.env)'],
  ['docs/more/GEMINI.md', '@../../.env.'],
  ['.github/copilot-instructions.md', '#file:../.env'],
  ['CLAUDE.md', '@my\\ key.pem'],
  ['CLAUDE.md', '@docs/a@b.key'],
  ['CLAUDE.md', '@docs/plain.txt'],
  ['CLAUDE.md', '@x,@.env\n@.env'],
  ['CLAUDE.md', '`@.env`'.replaceAll('`', ' ')],
  ['CLAUDE.md', '@.env.not-there-yet'],
  ['CLAUDE.md', '@.env#part'],
  ['docs/guide.md', 'imported by instructions: @../.env'],
  ['src/a.ts', '// @../.env'],
])('in %s, the import %j of a masked file is refused', (path, text) =>
  expect(problem(path, text)).toContain('which is masked'),
);

it.each([
  ['CLAUDE.md', '@../secret'],
  ['CLAUDE.md', '@~/.aws/config'],
  ['AGENTS.md', '@/etc/hosts'],
  ['docs/guide.md', '@/etc/hosts'],
  ['docs/guide.md', '@../../secret'],
])('in %s, the import %j from outside the root is refused', (path, text) =>
  expect(problem(path, text)).toContain('which lies outside the root'),
);

it.each([
  ['CLAUDE.md', 'Read @docs/guide.md and @README.md. Mail me@example.com; never commit .env.'],
  ['CLAUDE.md', '@.env.example'],
  ['src/a.ts', "import x from '@/etc/hosts';\n@Injectable()\nclass A {}\n/** @param {string} a @see {@link b} */"],
  ['src/a.py', '@app.route("/")\ndef f(): ...\n'],
  ['package-lock.json', JSON.stringify({ 'node_modules/@a/b.pem': {}, '@a/../.env': 1 })],
  ['docs/guide.md', 'the alias @/components/Button and @~/x'],
])('in %s, the import %j is allowed', (path, text) => expect(problem(path, text)).toBeNull());

it('the search for imports takes bounded time', () => {
  const start = process.cpuUsage();
  expect(problem('docs/a.md', ' @'.repeat(1 << 20))).toBeNull();
  expect(problem('docs/a.md', '@'.repeat(1 << 20))).toBeNull();
  expect(problem('CLAUDE.md', Array.from({ length: 30_000 }, (_, at) => `@${at}`).join(' '))).toContain('more than');
  // Each of them begins with the same 1,024 characters.
  expect(problem('CLAUDE.md', '*@'.repeat(500_000))).toContain('more than');
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(10);
});
