import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { executableFileFinding } from '../../src/evidence/findings/executable-files.ts';
import { sandboxOfProcess } from '../../src/tools/sandbox/detect-sandbox.ts';
import { shellBackend } from '../../src/tools/shell/shell-backend.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { type CallChanges, toolCall } from '../tools/shell/tool-call.ts';

const deploy = { staging: { run: ['./tools/ship', '--to', 'staging'], network: true } };
const why = (path: string, executable = false) => executableFileFinding(path, { executable, deploy })?.why ?? null;

describe('a file that will run outside the sandbox', () => {
  it.each([
    ...[
      'package.json',
      'a/b/package.json',
      'Package.JSON',
      'package-lock.json',
      'pnpm-lock.yaml',
      'Cargo.toml',
      'build.rs',
      'setup.py',
    ],
    ...[
      'Makefile',
      'src/rules.mk',
      'CMakeLists.txt',
      'Dockerfile',
      'docker-compose.prod.yml',
      '.github/workflows/ci.yml',
      '.gitlab-ci.yml',
    ],
    ...[
      'vitest.config.ts',
      '.eslintrc.cjs',
      'conftest.py',
      '.gitattributes',
      '.githooks/pre-push',
      'CLAUDE.md',
      'AGENTS.md',
      'run.sh',
      'flake.nix',
    ],
  ])('may be %s', (path) => expect(why(path)).not.toBeNull());
  it.each([
    'src/main.ts',
    'docs/guide.md',
    'src/package.ts',
    'README.md',
    'src/makefile.ts',
    'data/package.json.txt',
    'src/config.ts',
  ])('is not %s', (path) => expect(why(path)).toBeNull());
  it('is any executable file and any file that a deploy command names', () => {
    expect(why('bin/tool', true)).toBe('it is executable');
    expect(why('tools/ship')).toBe('the deploy command "staging" names this file');
  });
});

function repository(files: { readonly [path: string]: number }): string {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-later-')));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.mkdirSync(join(root, 'src'));
  for (const [path, mode] of Object.entries(files)) fs.writeFileSync(join(root, path), 'old\n', { mode });
  return root;
}

describe('the finding of a file that will run outside the sandbox is in the result', () => {
  const envelope: CallChanges['envelope'] = {
    scope: { read: 'root', write: ['src/'], command: 'contained', url: 'none' },
  };
  const findings = async (root: string, tool: string, args: { [name: string]: string }) => {
    const backend = tool === 'bash' ? shellBackend(await sandboxOfProcess()) : workspaceBackend();
    const { outcome } = await backend.run(toolCall(root, tool, args, { envelope }));
    if (outcome.status !== 'ok') throw new Error(JSON.stringify(outcome));
    return (outcome.result as { findings?: { path: string; why: string }[] }).findings;
  };

  it('of write and edit', async () => {
    const root = repository({ 'src/run': 0o755, 'src/plain': 0o644 });
    expect(await findings(root, 'write', { path: 'src/Makefile', content: 'x' })).toEqual([
      { path: 'src/Makefile', why: 'a build tool runs this file' },
    ]);
    expect(await findings(root, 'edit', { path: 'src/run', old: 'old', new: 'new' })).toEqual([
      { path: 'src/run', why: 'it is executable' },
    ]);
    expect(await findings(root, 'edit', { path: 'src/plain', old: 'old', new: 'new' })).toBeUndefined();
  });

  it('of bash, also for a change of permissions, but not for a removed file', async () => {
    const root = repository({ 'src/run': 0o755, 'src/plain': 0o644 });
    expect(await findings(root, 'bash', { command: 'chmod +x src/plain; rm src/run; echo x > src/new' })).toEqual([
      { path: 'src/plain', why: 'it is executable' },
    ]);
  });
});

it('the next write removes temporary files of a killed process, but not those of a running one', async () => {
  const root = repository({});
  const dead = '.hopgate-4194303-0123456789abcdef.tmp';
  const living = `.hopgate-${process.pid}-0123456789abcdef.tmp`;
  for (const name of [dead, living, '.hopgate-x.tmp']) fs.writeFileSync(join(root, 'src', name), 'half');
  await workspaceBackend().run(
    toolCall(
      root,
      'write',
      { path: 'src/a', content: 'a' },
      { envelope: { scope: { read: 'root', write: ['src/'], command: 'none', url: 'none' } } },
    ),
  );
  expect(fs.readdirSync(join(root, 'src')).sort()).toEqual([living, '.hopgate-x.tmp', 'a'].sort());
});

it('masks apply in node_modules, also to files that appear between two commands', async () => {
  const root = repository({});
  const modules = join(root, 'src/node_modules/dep/deep');
  fs.mkdirSync(modules, { recursive: true });
  fs.writeFileSync(join(modules, 'index.js'), 'code');
  const shell = shellBackend(await sandboxOfProcess());
  const config = { mask: ['.env', '*.pem'] };
  const cat = async () => {
    const { outcome } = await shell.run(
      toolCall(
        root,
        'bash-readonly',
        { command: 'cat src/node_modules/dep/deep/* src/node_modules/dep/deep/.env' },
        { config },
      ),
    );
    return outcome.status === 'ok' ? (outcome.result as { stdout: string }).stdout : JSON.stringify(outcome);
  };
  expect(await cat()).toBe('code');
  // Longer than the clock tick, so that the state of the folder is cached.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await cat()).toBe('code');
  fs.writeFileSync(join(modules, '.env'), 'SECRET');
  fs.writeFileSync(join(modules, 'key.pem'), 'SECRET');
  expect(await cat()).toBe('code');
});
