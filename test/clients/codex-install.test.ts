import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { SERVER } from '../server-name.ts';
import { CODEX_BIN, type CodexWorld, codexWorld, hopgate, runToEnd, writeTree } from './codex-world.ts';

let world: CodexWorld | null = null;
afterEach(async () => world?.close());

describe.skipIf(CODEX_BIN === undefined)(
  'hopgate install codex (set CODEX_BIN to the real program to run these)',
  () => {
    test.each(['user', 'project'] as const)(
      'puts plain Codex into a session, and restores its settings afterwards (%s)',
      async (scope) => {
        world = await codexWorld({
          modelName: 'gpt-5.5',
          scripts: {
            main: [
              { calls: [{ name: 'exec_command', input: { cmd: 'echo x > made.txt' } }] },
              { calls: [{ namespace: `mcp__${SERVER}`, name: 'mode', input: { to: 'diagnose', reason: 'look' } }] },
              { calls: [{ namespace: `mcp__${SERVER}`, name: 'read', input: { path: 'README.md' } }] },
              { text: 'done' },
              // With `hopgate codex` in addition:
              { calls: [{ name: 'exec_command', input: { cmd: 'echo x > made.txt' } }] },
              { text: 'done' },
              // Taken out again:
              { calls: [{ name: 'exec_command', input: { cmd: 'echo x > made.txt' } }] },
              { text: 'done' },
            ],
          },
        });
        const repo = join(world.folder, 'repo');
        writeTree(repo, { 'README.md': 'read me\n' });
        execFileSync('git', ['init', '-q', '-b', 'main', repo]);
        const file = join(world.codexHome, 'config.toml');
        writeTree(world.codexHome, {
          'config.toml': `${readFileSync(file, 'utf8')}\n# mine\n[projects.${JSON.stringify(repo)}]\ntrust_level = "trusted"\n`,
        });
        const before = readFileSync(file, 'utf8');
        const codex = () =>
          runToEnd([CODEX_BIN ?? '', '-s', 'danger-full-access', '-a', 'never', 'exec', '--json', 'begin'], {
            cwd: repo,
            env: world?.env ?? {},
          });

        expect(await hopgate(world, repo, ['install', 'codex', '--scope', scope])).toMatchObject({ code: 0 });
        expect(readFileSync(file, 'utf8')).toContain('# mine');
        const doctor = JSON.parse((await hopgate(world, repo, ['--json', 'doctor'])).stdout) as {
          findings: { name: string; found: string }[];
        };
        expect(doctor.findings.find(({ name }) => name === 'Codex hooks')?.found).toBe('installed and trusted');
        const ended = await codex();
        expect(ended.code).toBe(0);
        const texts = world.model.requests.map(({ results }) => results.map(({ text }) => text).join('\n'));
        expect(texts[1]).toMatch(/mode-forbids[\s\S]*What to do:/);
        expect(texts[3]).toContain('read me');
        expect(existsSync(join(repo, 'made.txt'))).toBe(false);

        // Each event is answered once, although the installation and `hopgate codex` both have hooks.
        const beside = await hopgate(world, repo, ['codex', 'exec', 'begin']);
        expect(beside).toMatchObject({ code: 0, stderr: expect.stringContaining('0 steps, 1 refusal;') });

        expect(await hopgate(world, repo, ['uninstall', 'codex', '--scope', scope])).toMatchObject({ code: 0 });
        expect(readFileSync(file, 'utf8')).toBe(before);
        expect(existsSync(join(scope === 'user' ? world.codexHome : join(repo, '.codex'), 'hooks.json'))).toBe(false);
        expect((await codex()).code).toBe(0);
        expect(existsSync(join(repo, 'made.txt'))).toBe(true);
      },
    );
  },
);
