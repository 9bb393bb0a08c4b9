import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CLAUDE_BIN, type ClaudeWorld } from './claude-world.ts';
import { type Model, type Step, scriptedModel } from './messages-server.ts';
import { Screen } from './screen.ts';

/** Claude Code at a terminal, started by hopgate. */
export class ClaudeScreen extends Screen {
  readonly #world: ClaudeWorld;
  readonly model: Model;

  /** @param args those of `hopgate claude` */
  static async start(world: ClaudeWorld, script: readonly Step[], args: readonly string[]): Promise<ClaudeScreen> {
    const screen = new ClaudeScreen(world, await scriptedModel({ main: script }));
    await screen.#start(args);
    return screen;
  }

  private constructor(world: ClaudeWorld, model: Model) {
    super(world.folder);
    this.#world = world;
    this.model = model;
  }

  async #start(args: readonly string[]): Promise<void> {
    const { home, env, root } = this.#world;
    const settings = join(home, '.claude.json');
    const key = { approved: [env['ANTHROPIC_API_KEY']?.slice(-20)], rejected: [] };
    const answered = { theme: 'dark', customApiKeyResponses: key };
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, 'utf8')), ...answered }));
    const program = [process.execPath, resolve('src/cli/main.ts'), 'claude', '--root', root];
    await this.open([...program, '--claude', CLAUDE_BIN ?? '', ...args], {
      cwd: root,
      env: { ...env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${this.model.port}` },
      prompt: /❯/,
    });
  }

  override async close(): Promise<void> {
    await super.close();
    await this.model.close();
  }
}
