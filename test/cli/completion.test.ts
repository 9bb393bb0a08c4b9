import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETION_SCRIPTS } from '../../src/cli/help/completion-scripts.ts';
import { renderManPage } from '../../src/cli/help/man-page.ts';
import { processIo } from '../../src/cli/io.ts';
import { createCliProgram } from '../../src/cli/program.ts';
import { isDeep } from '../depth.ts';
import { folder, machine } from './run.ts';

const completed = async (...words: string[]): Promise<readonly string[]> =>
  (await machine().run('complete', '--', ...words)).out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0]!);

describe('hopgate completion', () => {
  it.each([
    [['grap'], ['graph']],
    [['--json', 'up'], ['upstream']],
    [['help', 'ver'], ['verify']],
    [
      ['upstream', ''],
      ['list', 'import', 'help'],
    ],
    [['graph', '--cur'], ['--current']],
    [
      ['graph', '--format', 's'],
      ['svg', 'stately'],
    ],
    [
      ['graph', '--format', '=', 's'],
      ['svg', 'stately'],
    ],
    [
      ['graph', '--format='],
      ['--format=mermaid', '--format=dot', '--format=json', '--format=svg', '--format=stately'],
    ],
    [['completion', ''], Object.keys(COMPLETION_SCRIPTS)],
    [['check', 'sp'], []],
    [['graph', '--out', ''], []],
    [['docter', ''], []],
  ])('completes %j', async (words, expected) => expect(await completed(...words)).toEqual(expected));

  it('lists every command and hides those that only programs call', async () => {
    const commands = await completed('');
    expect(commands).toEqual(expect.arrayContaining(['run', 'verify', 'completion']));
    expect(commands).not.toContain('hook');
    expect(commands).not.toContain('complete');
  });

  it('completes the sessions of the named repository', async () => {
    const here = machine({ 'a.js': 'a' });
    await here.feed('mode diagnose\n', 'shell', '--agent', 'mary');
    for (const words of [
      ['log', 's-'],
      ['verify', 's-1', 's-'],
      ['shell', '--session', ''],
      ['log', '--root', here.root, 's'],
    ])
      expect((await here.run('complete', '--', ...words)).out).toMatch(/^s-[\w-]+\tmary, 2\d{3}-/);
    expect((await here.run('complete', '--', 'log', '--root', '/nowhere', 's')).out).toBe('');
  });
});

/** Defines `hopgate` as a shell function, and runs a script in a shell that the machine has. */
function inShell(shell: string, script: string) {
  const root = folder({ 'specs-of-mine/a.yaml': '' });
  const call = `${process.execPath} ${resolve('src/cli/main.ts')}`;
  const hopgate = shell === 'fish' ? `function hopgate; ${call} $argv; end` : `hopgate() { ${call} "$@"; }`;
  return spawnSync(shell, ['-c', `${hopgate}\n${script}`], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: folder() },
  });
}

const isMissing = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status !== 0;

describe('the completion script', () => {
  it.runIf(isDeep)('works in bash', () => {
    const complete = (...words: string[]) =>
      `COMP_WORDS=(hopgate ${words.join(' ')}); COMP_CWORD=${words.length}; _hopgate; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = inShell(
      'bash',
      [
        'source <(hopgate completion bash)',
        complete('grap'),
        complete('graph', '--format', 's'),
        'complete -p hopgate',
      ].join('\n'),
    );
    expect({ stdout, stderr }).toEqual({
      stdout: 'graph\nsvg stately\ncomplete -o default -F _hopgate hopgate\n',
      stderr: '',
    });
  });

  it.skipIf(!isDeep || isMissing('fish'))('works in fish (skipped without fish)', () => {
    const { stdout } = inShell(
      'fish',
      'hopgate completion fish | source\ncomplete -C "hopgate grap"\ncomplete -C "hopgate check specs"\ncomplete -C "hopgate "',
    );
    expect(stdout).toContain('graph\tprint the hop graph\nspecs-of-mine/');
    expect(stdout).toContain('verify\t');
  });

  it.skipIf(!isDeep || isMissing('zsh'))('works in zsh (skipped without zsh)', () => {
    const script = `
      autoload -Uz compinit && compinit -u -d ${join(folder(), 'dump')}
      source <(hopgate completion zsh)
      _describe() { print -l -- "\${(@P)2}" }
      _files() { print files }
      words=(hopgate graph --format s) CURRENT=4; _hopgate
      words=(hopgate check sp) CURRENT=3; _hopgate
      print $_comps[hopgate]`;
    expect(inShell('zsh', script).stdout).toBe('svg:\nstately:\nfiles\n_hopgate\n');
  });
});

describe('the manual page', () => {
  it('has a section for each command, its options and examples', async () => {
    const program = await createCliProgram(processIo());
    const page = renderManPage(program);
    for (const command of program.createHelp().visibleCommands(program))
      if (command.name() !== 'help') expect(page).toContain(`.SS hopgate ${command.name().replaceAll('-', '\\-')}`);
    expect(page).toContain('.B \\-\\-format <format>');
    expect(page).toContain('\\&Examples:'.slice(2));
    expect(page).toContain('    hopgate graph > hops.mmd');
    expect(page.split('\n').filter((line) => /^['.](?!TH|SH|SS|TP|PP|B |nf|fi)/.test(line))).toEqual([]);
  });
});
