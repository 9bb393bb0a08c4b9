import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call } from './claude-world.ts';
import { CODEX_BIN, codexWorld, hopgate, writeTree } from './codex-world.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
/** Set it to look at the pages: `HOPGATE_PICTURES=DIR`. */
const { HOPGATE_PICTURES: pictures } = process.env;

/** The rows that the live view shows of the newest session of a state folder. */
async function rowsIn(env: { readonly [name: string]: string }, name: string): Promise<readonly string[]> {
  execFileSync(process.execPath, ['node_modules/tsdown/dist/run.mjs', '--filter', 'page'], { stdio: 'pipe' });
  const server = spawn(process.execPath, [resolve('src/cli/main.ts'), 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
  const ended = once(server, 'close');
  onTestFinished(async () => {
    await browser.close();
    server.kill('SIGTERM');
    await ended;
  });
  let out = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  while (!out.trimEnd().endsWith('}')) await new Promise((next) => setTimeout(next, 20));
  const { address, tokens } = JSON.parse(out);
  const headers = { authorization: `Bearer ${readFileSync(tokens.operator, 'utf8').trim()}` };
  const { code } = (await (await fetch(`${address}/v1/login/code`, { method: 'POST', headers })).json()) as {
    code: string;
  };
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(20_000);
  await page.goto(`${address}/#code=${code}`);
  await page.locator('.row').first().waitFor();
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
  return page.locator('.row').allInnerTexts();
}

describe.skipIf(!CHROMIUM)('the live view', () => {
  it.skipIf(!CLAUDE_BIN)('shows the calls of Claude Code, also of its own tools', async () => {
    const world = new ClaudeWorld();
    try {
      await world.run([
        call('Read', { file_path: world.path('src/a.js') }),
        call('Write', { file_path: world.path('src/b.js'), content: 'two' }),
        { text: 'done' },
        { text: 'done' },
      ]);
      const rows = (await rowsIn(world.env, 'claude')).join('\n');
      expect(rows).toMatch(/read src\/a\.js/);
      expect(rows).toMatch(/✗\s+write src\/b\.js[\s\S]*→ /);
    } finally {
      await world.close();
    }
  });

  it.skipIf(!CODEX_BIN)('shows the calls of Codex, also of its own tools', async () => {
    const cmd = 'ls src';
    const world = await codexWorld({
      modelName: 'gpt-5.5',
      scripts: {
        main: [{ calls: [{ name: 'exec_command', input: { cmd } }] }, { text: 'done' }],
      },
    });
    try {
      const repo = join(world.folder, 'repo');
      writeTree(repo, { 'src/a.js': 'one\n' });
      execFileSync('git', ['init', '-q', '-b', 'main', repo]);
      await hopgate(world, repo, ['codex', 'exec', '--json', 'begin']);
      const rows = (await rowsIn(world.env, 'codex')).join('\n');
      expect(rows).toMatch(/bash-readonly "?ls src/);
    } finally {
      await world.close();
    }
  });
});
