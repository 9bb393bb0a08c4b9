import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from './depth.ts';

let folder = '';
let root = '';
const node = (args: readonly string[], cwd = '.') =>
  execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

// Building the package takes longer than any other test.
describe.runIf(isDeep)('the package', () => {
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-packed-')));
    node(['node_modules/tsdown/dist/run.mjs', '--out-dir', join(folder, 'package/dist')]);
    root = makeProject();
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('does not contain vitest: describeSpec uses the one that runs the user’s tests', () => {
    const dist = join(folder, 'package/dist');
    const chunks = readdirSync(dist).filter((name) => name.endsWith('.js'));
    const texts = chunks.map((name) => readFileSync(join(dist, name), 'utf8'));
    expect(texts.filter((text) => text.includes('await import("vitest")'))).toHaveLength(1);
    expect(texts.join('')).not.toContain('node_modules/@vitest');
  });

  it('has a hook program that answers, and refuses unreadable input', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'package/dist/main.cjs'), 'alone', 'hook', 'claude-code'],
      {
        input: 'no JSON',
        encoding: 'utf8',
        env: { ...process.env, XDG_STATE_HOME: join(folder, 'state'), HOPGATE_DAEMON: 'off' },
      },
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('hopgate');
  });

  it('works on the oldest Node that package.json names', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    const version = `${engines.node.replace('>=', '')}.0`;
    const oldest = join(folder, 'oldest');
    const install = ['install', '--prefix', oldest, '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`];
    execFileSync('npm', install, { stdio: 'ignore' });
    writeFileSync(
      join(root, 'note.mjs'),
      `import { openSession } from 'hopgate';
      const session = await openSession({ root: '.', agent: 'a', store: 'memory' });
      await session.setMode({ to: 'diagnose' });
      await session.start('explore');
      const sent = await session.step({ tool: 'bell', args: { to: 'operator', text: 'hi' } });
      console.log(process.version, sent.ok, (await session.evidence()).length > 3);
      await session.detach();`,
    );
    const { stdout, stderr } = spawnSync(join(oldest, 'node_modules/node/bin/node'), ['note.mjs'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: `v${version} true true\n`, stderr: '' });
    const tried = spawnSync(
      join(oldest, 'node_modules/node/bin/node'),
      [join(root, 'node_modules/hopgate/dist/cli.js'), 'try'],
      { cwd: root, encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') } },
    );
    expect(tried.stdout).toContain('As the scenario says');
  });

  /** Makes a project with the packed package and the packages of this repository. */
  function makeProject(): string {
    const at = join(folder, 'package');
    for (const name of ['package.json', 'specs', 'machines', 'src/daemon/client'])
      cpSync(name, join(at, name), { recursive: true });
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: at });
    const project = join(folder, 'mine');
    const modules = join(project, 'node_modules');
    mkdirSync(modules, { recursive: true });
    for (const name of readdirSync('node_modules'))
      if (!name.startsWith('.')) symlinkSync(resolve('node_modules', name), join(modules, name));
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    execFileSync('tar', ['-xzf', join(folder, tarball), '--transform', 's/^package/hopgate/', '-C', modules]);
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    return project;
  }

  it('runs its own and its generated machines with xstate alone', () => {
    const page = readFileSync('docs/recipes/xstate.md', 'utf8');
    const block = (kind: string) => page.match(new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``))?.[1] ?? '';
    const loop = block('ts');
    const cli = join(root, 'node_modules/hopgate/dist/cli.js');
    cpSync('specs', join(root, 'specs'), { recursive: true });
    node([cli, 'generate', 'specs', '--out', 'machines'], root);
    writeFileSync(join(root, 'loop.ts'), loop);
    writeFileSync(join(root, 'own.ts'), loop.replace('hopgate/machines/hop-graph', './machines/hop-graph.machine.ts'));
    expect(node(['loop.ts'], root)).toBe(block('text'));
    expect(node(['own.ts'], root)).toBe(block('text'));

    writeFileSync(join(root, 'typo.ts'), loop.replace("'hop-test.test'", "'hop-tset.test'"));
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck'];
    const more = ['--allowImportingTsExtensions', '--types', 'node'];
    // The last file shows that errors are found.
    const files = ['loop.ts', 'own.ts', 'typo.ts'];
    const { stdout } = spawnSync(
      join(root, 'node_modules/typescript/bin/tsc'),
      ['--ignoreConfig', '--singleThreaded', ...options, ...more, ...files],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
      },
    );
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^typo\.ts\(.*hop-tset\.test/)]);
  });
});
