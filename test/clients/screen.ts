import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const hasTmux = (() => {
  try {
    return execFileSync('tmux', ['-V'], { encoding: 'utf8' }) !== '';
  } catch {
    return false;
  }
})();

/** A program on a terminal of tmux, whose server is this test's own. */
export class Screen {
  readonly #folder: string;
  readonly #socket: string;

  /** @param folder for the socket and the script */
  constructor(folder: string) {
    this.#folder = folder;
    // Each screen has a new name, because the server of an earlier screen may still be ending.
    this.#socket = join(mkdtempSync(join(folder, 'tmux-')), 'tmux');
  }

  /** Starts a command line in an environment of its own, and waits for the prompt. */
  async open(
    words: readonly string[],
    {
      cwd,
      env,
      prompt,
    }: { readonly cwd: string; readonly env: { readonly [name: string]: string }; readonly prompt: RegExp },
  ): Promise<void> {
    const variables = Object.entries({ ...env, TERM: 'xterm-256color' }).map(([name, value]) => `${name}=${value}`);
    const quoted = ['env', '-i', ...variables, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const script = join(this.#folder, 'screen.sh');
    writeFileSync(script, `cd '${cwd}'\ntrap : INT\n${quoted}\necho "EXIT=$?"\nwhile :; do sleep 60; done\n`);
    this.tmux('new-session', '-d', '-s', 'screen', '-x', '150', '-y', '50', 'sh', script);
    await this.shows(prompt);
    await sleep(2000); // the program ignores keys at first
  }

  /** Runs a command of tmux and returns what it prints. */
  tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }

  get text(): string {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-300', '-t', 'screen');
  }

  /** Waits until the screen shows it. */
  async shows(wanted: RegExp): Promise<void> {
    const end = Date.now() + 60_000;
    while (!wanted.test(this.text)) {
      if (Date.now() > end) throw new Error(`the screen never showed ${wanted}:\n${this.text}`);
      await sleep(150);
    }
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.tmux('send-keys', '-t', 'screen', key);
      await sleep(400);
    }
  }

  /** Types a line. A program that is still starting may take no keys, so they are typed again until they show. */
  async type(text: string): Promise<void> {
    for (let tries = 0; tries < 8; tries++) {
      this.tmux('send-keys', '-t', 'screen', '-l', text);
      for (let waited = 0; waited < 4000 && !this.text.includes(text); waited += 200) await sleep(200);
      if (this.text.includes(text)) break;
    }
    await sleep(400);
    await this.press('Enter');
  }

  /** Ends the program by Ctrl-C, and returns the whole screen. */
  async quit(): Promise<string> {
    // A first Ctrl-C may only interrupt a call. One that comes after the end would stop hopgate's report.
    for (let tries = 0; tries < 5 && !this.text.includes('EXIT='); tries++) {
      await this.press('C-c', 'C-c');
      for (let waited = 0; waited < 6000 && !this.text.includes('EXIT='); waited += 200) await sleep(200);
    }
    await this.shows(/EXIT=\d/);
    return this.text;
  }

  async close(): Promise<void> {
    try {
      this.tmux('kill-server');
    } catch {
      // the program has ended
    }
  }
}
