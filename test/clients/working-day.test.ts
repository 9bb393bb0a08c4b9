import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SERVER } from '../server-name.ts';
import { ClaudeScreen } from './claude-screen.ts';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';
import { CODEX_BIN, codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { ScriptedTurn } from './responses-server.ts';
import { hasTmux, Screen } from './screen.ts';

const FILES = {
  '.gitignore': 'node_modules\n',
  'package.json': '{"name":"shop","version":"1.0.0","type":"module","dependencies":{"tax":"file:vendor/tax"}}\n',
  'vendor/tax/package.json': '{"name":"tax","version":"1.0.0","type":"module","main":"index.js"}\n',
  'vendor/tax/index.js': 'export const rate = 2;\n',
  'src/price.js': "import { rate } from 'tax';\nexport const price = (net) => net + rate;\n",
  'test/price.test.js':
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { price } from '../src/price.js';\ntest('price', () => assert.equal(price(3), 6));\n",
  'test/other.test.js': "import test from 'node:test';\ntest('other', () => {});\n",
  'lint.mjs':
    "import { readFileSync } from 'node:fs';\nif (readFileSync('src/price.js', 'utf8').includes('var ')) process.exit(1);\nconsole.log('lint is clean');\n",
  'release.mjs': "console.log('released-' + 1);\n",
  'hopgate.yaml': `test: [{ run: [node, --test] }]
install: { approval: true, commands: [{ run: [npm, install, --offline, --no-audit, --no-fund], hosts: [registry.example.com] }] }
deploy: { release: { run: [node, release.mjs] } }
git: { remote: origin, branch: [main, "agent/*"] }
`,
};

type Input = { readonly [name: string]: unknown };

/** A call of the shell in Claude Code, and of a tool of hopgate in Codex. */
const shell = (command: string, codex = 'bash', input: Input = { command }) =>
  ['shell', { command, codex, input }] as const;

const STEPS: readonly (readonly [name: string, input: Input])[] = [
  ['hop', { to: 'edit', exit: 'hop-edit', reason: 'the price is wrong', mode: 'execute' }],
  shell('npm install --offline --no-audit --no-fund', 'install', {}),
  shell('node --test test/other.test.js'),
  ['edit', { old: 'net + rate', new: 'net * rate' }],
  shell('node --test test/price.test.js'),
  shell('node lint.mjs'),
  ['hop', { to: 'test', exit: 'hop-test', reason: 'to test', fruit: { 'commit-message': 'Mend the price' } }],
  shell('node --test', 'bash-test'),
  ['hop', { to: 'deploy', exit: 'pass', reason: 'to ship' }],
  ...['switch -c agent/price', 'add -A', 'commit -m "Mend the price"', 'push -u origin agent/price'].map((sub) =>
    shell(`git ${sub}`, 'bash-git', { sub }),
  ),
  shell('node release.mjs', 'bash-deploy', { name: 'release' }),
];

const END = { text: 'day-done' };

/** A remote of its own, which gets the first commit. */
function withRemote(root: string, folder: string): string {
  const remote = join(folder, 'remote.git');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { stdio: 'pipe' });
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  git('config', 'user.name', 'Ann');
  git('config', 'user.email', 'ann@example.org');
  git('remote', 'add', 'origin', remote);
  git('push', '-q', 'origin', 'main');
  return remote;
}

const shipped = (remote: string): string =>
  execFileSync('git', ['-C', remote, 'show', '--format=%s%n%an%n%b', '--stat', 'agent/price'], { encoding: 'utf8' });

/** Writes the text of the screen to a file for a person. */
function keep(name: string, text: string): void {
  const folder = process.env['HOPGATE_CAPTURES'];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.txt`), text);
}

it.skipIf(!CLAUDE_BIN || !hasTmux)(
  'a working day on the screen of Claude Code ships a tested branch',
  async () => {
    const world = new ClaudeWorld(FILES);
    const remote = withRemote(world.root, world.folder);
    expect((await world.hopgate('trust', '--yes')).code).toBe(0);
    const file_path = world.path('src/price.js');
    const turn = (name: string, input: Input) => {
      if (name === 'shell') return call('Bash', { command: input['command'], description: 'for the test' });
      if (name !== 'edit') return call(own(name), input);
      return call('Edit', { file_path, old_string: input['old'], new_string: input['new'] });
    };
    const script = STEPS.flatMap(([name, input]) => [
      ...(name === 'edit' ? [call('Read', { file_path })] : []),
      turn(name, input),
    ]);
    const options = [
      '--approve',
      'execute,install,deploy',
      '--permission-mode',
      'acceptEdits',
      '--allowedTools',
      'Bash',
    ];
    const screen = await ClaudeScreen.start(world, [...script, END, END], options);
    try {
      await screen.type('go');
      await screen.shows(/day-done/);
      keep('claude', screen.text);
      expect(await screen.quit()).toContain('EXIT=0');
      const results = screen.model.requests.flatMap((request) => request.results);
      const seen = results.map(({ name, failed, text }) => `${name} ${failed}: ${text.slice(0, 300)}`).join('\n');
      keep('claude-results', seen);
      expect(shipped(remote), seen).toMatch(/^Mend the price\nAnn\nAssisted-by: claude-code\n\n\n src\/price\.js/);
      expect(seen).toContain('released-1');
      const { code, stdout } = await world.hopgate('verify', '--inhabited');
      expect(code, stdout).toBe(0);
      for (const demand of ['P-4', 'P-5']) expect(stdout).toMatch(new RegExp(`${demand} .*holds`));
    } finally {
      await screen.close();
      await world.close();
    }
  },
  400_000,
);

it.skipIf(!CODEX_BIN || !hasTmux)(
  'a working day on the screen of Codex ships a tested branch',
  async () => {
    const ours = (name: string, input: Input): ScriptedTurn => ({
      calls: [{ namespace: `mcp__${SERVER}`, name: name.replaceAll('-', '_'), input }],
    });
    const turn = (name: string, input: Input): ScriptedTurn => {
      if (name === 'shell') return ours(String(input['codex']), input['input'] as Input);
      return ours(name, name === 'edit' ? { path: 'src/price.js', ...input } : input);
    };
    const world = await codexWorld({ scripts: { main: [...STEPS.map((step) => turn(...step)), END, END] } });
    const root = join(world.folder, 'repo');
    writeTree(root, FILES);
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args]);
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const remote = withRemote(root, world.folder);
    const trusted = `\n[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`;
    appendFileSync(join(world.codexHome, 'config.toml'), trusted);
    expect((await hopgate(world, root, ['trust', '--yes'])).code).toBe(0);
    const screen = new Screen(world.folder);
    try {
      const words = ['codex', '--root', root, '--approve', 'execute,install,deploy'];
      await screen.open([process.execPath, resolve('src/cli/main.ts'), ...words], {
        cwd: root,
        env: { ...world.env, CODEX_BIN: CODEX_BIN ?? '' },
        prompt: /\? for shortcuts/,
      });
      await sleep(8000); // Codex ignores keys for some seconds
      await screen.type('go');
      await screen.shows(/day-done/);
      keep('codex', screen.text);
      expect(await screen.quit()).toContain('EXIT=0');
      const results = world.model.requests.flatMap((request) => request.results);
      const seen = results.map(({ name, text }) => `${name}: ${text.slice(0, 300)}`).join('\n');
      keep('codex-results', seen);
      expect(shipped(remote), seen).toMatch(/^Mend the price\nAnn\nAssisted-by: codex\n\n\n src\/price\.js/);
      expect(seen).toContain('released-1');
      const { code, stdout } = await hopgate(world, root, ['verify', '--inhabited']);
      expect(code, stdout).toBe(0);
      for (const demand of ['P-4', 'P-5']) expect(stdout).toMatch(new RegExp(`${demand} .*holds`));
    } finally {
      await screen.close();
      await world.close();
    }
  },
  400_000,
);
