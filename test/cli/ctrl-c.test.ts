import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { commitAll, machine } from './run.ts';

const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** The command line as its own process on a real terminal. */
class Terminal {
  readonly #child: ChildProcess;
  readonly #until = performance.now() + 60_000;
  text = '';

  constructor(root: string, env: { readonly [name: string]: string | undefined }, ...argv: readonly string[]) {
    const words = [process.execPath, resolve('src/cli/main.ts'), ...argv];
    const line = `exec ${words.map((word) => `'${word}'`).join(' ')}`;
    this.#child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
      cwd: root,
      env: { ...env, TERM: 'xterm', NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.on('data', (chunk) => {
      this.text += chunk;
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  /** Waits until the terminal shows `text` after the output of earlier waits. */
  async shows(wanted: string, after = 0): Promise<number> {
    while (this.text.indexOf(wanted, after) < 0) {
      if (this.#child.exitCode !== null || performance.now() > this.#until)
        throw new Error(`it did not show ${wanted}:\n${this.text}`);
      await sleep(20);
    }
    return this.text.indexOf(wanted, after) + wanted.length;
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

const PLAN = `title: Two long commands
agent: a
steps:
  - start: explore
  - mode: diagnose
  - step: { tool: bash-readonly, args: ["sleep 301"] }
  - step: { tool: bash-readonly, args: ["sleep 302"] }
  - step: { tool: read, args: [src/a.txt] }
`;

// test/cli/shell.test.ts has such a test in `npm test`.
it.skipIf(!hasScript || !isDeep)(
  'Ctrl-C cancels each long command of a run, and the run continues to its end',
  async () => {
    const { root, env, run } = machine({ 'src/a.txt': 'the text\n', 'plan.yaml': PLAN });
    commitAll(root);
    const terminal = new Terminal(root, env, 'run', join(root, 'plan.yaml'), '--root', root, '--yes');
    for (const command of ['sleep 301', 'sleep 302']) {
      const at = await terminal.shows(command);
      terminal.type(CTRL_C);
      await terminal.shows('the run continues', at);
      if (command === 'sleep 301') await sleep(1200); // a second Ctrl-C at once would end the run
    }
    expect(await terminal.ended(), terminal.text).toBe(1);
    const session = /session (s-[\w-]+)/.exec(terminal.text)?.[1] ?? '';
    const log = (await run('log', session, '--json')).out.trim().split('\n');
    const steps = log.flatMap((line) => {
      const { body } = JSON.parse(line) as { body: { event: string; tool: string; outcome: { status: string } } };
      return body.event === 'step' ? [`${body.tool} ${body.outcome.status}`] : [];
    });
    expect(steps).toEqual(['bash-readonly failed', 'bash-readonly failed', 'read ok']);
    expect((await run('verify', session)).code).toBe(0);
  },
);

it.skipIf(!hasScript || !isDeep)(
  'Ctrl-C in the shell cancels the command and keeps the shell and its session',
  async () => {
    const { root, env, run } = machine({ 'src/a.txt': 'the text\n' });
    commitAll(root);
    const terminal = new Terminal(root, env, 'shell', '--root', root);
    await terminal.shows('(outside)');
    terminal.type('start explore\r');
    await terminal.shows(' explore');
    terminal.type('mode diagnose\r');
    let at = await terminal.shows('diagnose explore');
    for (const command of ['sleep 301', 'sleep 302']) {
      terminal.type(`bash-readonly ${command}\r`);
      at = await terminal.shows(command, at);
      await terminal.shows('Ctrl-C cancels it', at);
      terminal.type(CTRL_C);
      at = await terminal.shows('›', at);
    }
    terminal.type('read src/a.txt\r');
    await terminal.shows('the text', at);
    terminal.type(CTRL_D);
    await terminal.shows('Continue with:');
    expect(await terminal.ended(), terminal.text).toBe(0);
    const session = /session (s-[\w-]+)/.exec(terminal.text)?.[1] ?? '';
    expect((await run('verify', session)).code).toBe(0);
  },
);
