import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { SERVER } from '../server-name.ts';
import { CODEX_BIN, type CodexWorld, codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { ScriptedTurn } from './responses-server.ts';
import { hasTmux, Screen } from './screen.ts';

let world: CodexWorld | null = null;
let screen: Screen | null = null;
afterEach(async () => {
  await screen?.close();
  await world?.close();
  world = screen = null;
});

const call = (name: string, input: object = {}): ScriptedTurn => ({
  calls: [{ namespace: `mcp__${SERVER}`, name, input }],
});

/** Codex at a terminal, started by hopgate with these arguments. */
async function start(on: CodexWorld, repo: string, ...args: readonly string[]): Promise<Screen> {
  const opened = new Screen(on.folder);
  await opened.open([process.execPath, resolve('src/cli/main.ts'), 'codex', '--root', repo, ...args], {
    cwd: repo,
    env: { ...on.env, CODEX_BIN: CODEX_BIN ?? '' },
    prompt: /\? for shortcuts/,
  });
  await sleep(8000); // Codex ignores keys for some seconds
  return opened;
}

const sessions = async (on: CodexWorld, repo: string): Promise<readonly { readonly id: string }[]> =>
  (await hopgate(on, repo, ['sessions', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe.skipIf(!CODEX_BIN || !hasTmux)('Codex on a terminal', () => {
  test('uses approvals given in advance, and a resumed conversation finds its session', async () => {
    const toEdit = call('hop', {
      to: 'edit',
      exit: 'hop-edit',
      reason: 'to change a',
      mode: 'execute',
      'exit-criteria': 'a is two',
    });
    const scripts = { main: [toEdit, { text: 'in-edit-now' }, { text: 'resumed-now' }] };
    world = await codexWorld({ scripts });
    const root = join(world.folder, 'repo');
    writeTree(root, { 'src/a.js': 'one\n' });
    execFileSync('git', ['init', '-q', '-b', 'main', root]);
    appendFileSync(
      join(world.codexHome, 'config.toml'),
      `\n[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`,
    );
    screen = await start(world, root, '--approve', 'execute,deploy');
    await screen.type('go');
    await screen.shows(/in-edit-now/);
    const first = await screen.quit();
    expect(first).toContain('in edit, mode execute');
    expect(await sessions(world, root)).toHaveLength(1);
    await screen.close();
    screen = await start(world, root, 'resume', '--last');
    await screen.type('on');
    await screen.shows(/resumed-now/);
    expect(await screen.quit()).toContain('in edit, mode execute');
    expect(await sessions(world, root)).toHaveLength(1);
  });
});
