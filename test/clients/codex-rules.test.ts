import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER } from '../server-name.ts';
import { CODEX_BIN, type CodexWorld, codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { ScriptedTurn } from './responses-server.ts';

const worlds: CodexWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const call = (name: string, input: object): ScriptedTurn => ({ calls: [{ namespace: `mcp__${SERVER}`, name, input }] });
const toEdit = [
  call('mode', { to: 'diagnose', reason: 'look' }),
  call('hop', { to: 'edit', exit: 'ready-to-edit', reason: 'found it' }),
  call('mode', { to: 'execute', reason: 'go', 'exit-criteria': 'it works' }),
];

const RULES = `prefix_rule(pattern=["rm"], decision="forbidden", justification="use the bin")
prefix_rule(pattern=["cp"], decision="prompt", justification="copies are large")
prefix_rule(pattern=["touch"], decision="allow")
`;

/** The answer that the model gets to each command, in the peripheral edit. */
async function results(commands: readonly string[], rules: { readonly [file: string]: string }, config = '') {
  const main = [...toEdit, ...commands.map((command) => call('bash', { command })), { text: 'done' }, { text: 'done' }];
  const world = await codexWorld({ scripts: { main }, config });
  worlds.push(world);
  const repo = join(world.folder, 'repo');
  writeTree(repo, { 'src/a.js': 'one\n', 'src/b.js': 'two\n' });
  writeTree(world.folder, rules);
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  const ended = await hopgate(world, repo, ['codex', '--approve', 'execute', 'exec', '--json', 'begin']);
  const texts = world.model.requests.flatMap(({ results }) => results.map(({ text }) => text)).slice(toEdit.length);
  const read = (path: string) => (existsSync(join(repo, path)) ? readFileSync(join(repo, path), 'utf8') : null);
  return { texts, read, world, repo, ended };
}

describe.skipIf(!CODEX_BIN)('a Codex user’s own rules for commands', () => {
  it.each([
    ['the user', 'home/.codex/rules/mine.rules'],
    ['the repository', 'repo/.codex/rules/ours.rules'],
  ])('are applied to commands that hopgate runs: those of %s', async (_, file) => {
    const { texts, read, ended } = await results(
      [
        'touch src/c.js',
        'rm src/a.js',
        '/bin/rm src/a.js',
        'cp src/a.js src/d.js',
        'ls src; rm src/b.js',
        "rm 'src/b.js'",
      ],
      { [file]: RULES },
    );
    expect(texts[0], ended.stderr).not.toMatch(/rules/);
    expect(texts[1]).toContain("The user's own rules for commands refuse this command: use the bin");
    expect(texts[2]).toContain('use the bin');
    expect(texts[3]).toMatch(/nobody can be asked here: copies are large/);
    expect(texts[4]).toMatch(/nobody can be asked here: .*one command of plain words/);
    expect(texts[5]).toContain('use the bin');
    expect(['a', 'b', 'c', 'd'].map((name) => read(`src/${name}.js`))).toEqual(['one\n', 'two\n', '', null]);
  });

  it('change nothing if they only allow', async () => {
    const { texts, read } = await results(['ls src; rm src/b.js'], {
      'home/.codex/rules/default.rules': 'prefix_rule(pattern=["ls"], decision="allow")\n',
    });
    expect(texts[0]).not.toMatch(/rules/);
    expect(read('src/b.js')).toBeNull();
  });

  it('refuse what Codex cannot judge', async () => {
    const { texts, read } = await results(['rm src/a.js'], { 'home/.codex/rules/broken.rules': 'prefix_rule(\n' });
    expect(texts[0] ?? '').toMatch(/Codex cannot apply your rules|^$/);
    expect(read('src/a.js')).toBe('one\n');
  });
});
