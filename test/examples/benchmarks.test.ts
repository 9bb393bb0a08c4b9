import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const EXAMPLES = resolve('examples/benchmarks');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-benchmarks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs claude-in-hopgate.sh with doubles of both programs, and returns the calls that they got. */
function runInPlaceOfClaude(words: readonly string[]): { readonly calls: readonly string[]; readonly code: number } {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const name of ['hopgate', 'claude'])
    writeFileSync(
      join(folder, 'bin', name),
      `#!/bin/sh\necho ${name} "$@" >> ${folder}/calls\n[ "$1" = verify ] && echo '{}'\n[ "$1" != claude ] || exit 3\n`,
      { mode: 0o755 },
    );
  const env = {
    PATH: `${folder}/bin:${process.env['PATH']}`,
    HOPGATE_CLAUDE: join(folder, 'bin/claude'),
    HOPGATE_VERDICTS: join(folder, 'verdicts'),
  };
  let code = 0;
  try {
    execFileSync('sh', [join(EXAMPLES, 'claude-in-hopgate.sh'), ...words], { cwd: folder, env, stdio: 'pipe' });
  } catch (error) {
    code = (error as { readonly status: number }).status;
  }
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().replaceAll(folder, '');
  return { calls: calls.split('\n'), code };
}

describe('the program in place of claude in a benchmark', () => {
  it("starts an agent's run inside of hopgate, exits with the code of the run, and keeps the verdicts", () => {
    expect(runInPlaceOfClaude(['--verbose', '--print'])).toEqual({
      calls: [
        'hopgate init --no-run-tests',
        'hopgate claude --claude /bin/claude --approve execute,deploy --verbose --print',
        'hopgate verify --json',
      ],
      code: 3,
    });
    expect(readFileSync(join(folder, 'verdicts'), 'utf8')).toBe('{}\n');
  });

  it('leaves a hopgate.yaml of the task as it is', () => {
    writeFileSync(join(folder, 'hopgate.yaml'), '');
    expect(runInPlaceOfClaude(['-p', 'fix it']).calls[0]).toMatch(/^hopgate claude .* -p fix it$/);
  });

  it('leaves calls that run no agent to Claude Code', () => {
    expect(runInPlaceOfClaude(['--version'])).toEqual({ calls: ['claude --version'], code: 0 });
  });
});

it('every benchmark case has a task, a repository and hidden tests, and the page names the files that are there', () => {
  for (const path of ['task.md', 'repository/package.json', 'hidden/median.test.js'])
    expect(existsSync(join(EXAMPLES, 'cases/median', path)), path).toBe(true);
  const page = readFileSync('docs/recipes/measure-a-real-model.md', 'utf8');
  for (const path of ['inspect_hopgate.py', 'harbor_hopgate.py', 'harbor-namespaces.yaml'])
    expect([page.includes(path.replace('.py', '')), existsSync(join(EXAMPLES, path))], path).toEqual([true, true]);
});
