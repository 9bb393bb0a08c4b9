import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLAUDE_BIN, type ClaudeWorld } from './claude-world.ts';
import { type Model, type Step, scriptedModel } from './messages-server.ts';

/** Claude Code on its screen, started by hopgate: a terminal of tmux, whose server is this test's own. */
export class ClaudeScreen {
  readonly #world: ClaudeWorld;
  readonly #socket: string;
  readonly #model: Model;

  static async start(world: ClaudeWorld, script: readonly Step[], args: readonly string[]): Promise<ClaudeScreen> {
    const screen = new ClaudeScreen(world, await scriptedModel({ main: script }));
    await screen.#open(args);
    return screen;
  }

  private constructor(world: ClaudeWorld, model: Model) {
    this.#world = world;
    this.#model = model;
    this.#socket = join(world.folder, 'tmux');
  }

  get model(): Model {
    return this.#model;
  }

  /** @param args those of `hopgate claude` */
  async #open(args: readonly string[]): Promise<void> {
    const { home, env, folder, root } = this.#world;
    const settings = join(home, '.claude.json');
    const key = { approved: [env['ANTHROPIC_API_KEY']?.slice(-20)], rejected: [] };
    const answered = { theme: 'dark', customApiKeyResponses: key };
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, 'utf8')), ...answered }));
    const variables = { ...env, TERM: 'xterm-256color', ANTHROPIC_BASE_URL: `http://127.0.0.1:${this.#model.port}` };
    const words = [
      ...['env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
      ...[process.execPath, resolve('src/cli/main.ts'), 'claude', '--root', root, '--claude', CLAUDE_BIN ?? ''],
      ...args,
    ];
    const script = join(folder, 'screen.sh');
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    writeFileSync(script, `trap : INT\n${quoted}\necho "EXIT=$?"\nwhile :; do sleep 60; done\n`);
    this.#tmux('new-session', '-d', '-s', 'screen', '-x', '150', '-y', '50', 'sh', script);
    await this.shows(/❯/);
    await sleep(2000); // it takes no keys in its first moments
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }

  get text(): string {
    return this.#tmux('capture-pane', '-p', '-J', '-S', '-300', '-t', 'screen');
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
      this.#tmux('send-keys', '-t', 'screen', key);
      await sleep(400);
    }
  }

  async type(text: string): Promise<void> {
    this.#tmux('send-keys', '-t', 'screen', '-l', text);
    await sleep(400);
    await this.press('Enter');
  }

  /** Ends Claude Code by Ctrl-C, and returns the whole screen. */
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
      this.#tmux('kill-server');
    } catch {
      // it has ended
    }
    await this.#model.close();
  }
}
