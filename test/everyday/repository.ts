import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseDocument } from 'yaml';
import type { Run, Tree } from './compare.ts';
import type { Ecosystem } from './ecosystem.ts';

/** A repository that can be put back into its first state. */
export interface Repository {
  readonly root: string;
  restore(): void;
  /** Runs a line outside of every sandbox. */
  run(line: string, more?: { readonly [name: string]: string }): Run;
  tree(): Tree;
  /** A line whose files in /tmp are removed after a run outside; inside, /tmp is empty for each command anyway. */
  withOwnTemp(line: string): string;
  /** True for a path that git ignores. */
  ignores(path: string): boolean;
}

const SECONDS = 600;

/** The exit status that a shell shows for a signal; SIGTERM comes from the time limit. */
const exitOf = (signal: NodeJS.Signals | null): number =>
  signal === null || signal === 'SIGTERM' ? 124 : 128 + constants.signals[signal];

/**
 * Builds an ecosystem's repository with a commit and the hopgate.yaml that `hopgate init` proposes.
 *
 * @param env the operator's environment: that of the native runs and of the sandbox's programs
 */
export function buildRepository(one: Ecosystem, folder: string, env: NodeJS.ProcessEnv): Repository {
  const [root, kept] = [join(folder, 'repo'), join(folder, 'kept')];
  const temp = `/tmp/hopgate-day-${process.pid}-`;
  fs.mkdirSync(root);
  // An ordinary environment has no state folder of hopgate.
  const { XDG_STATE_HOME: _, ...operator } = env;
  const PATH = [...one.path.map((path) => join(root, path)), env['PATH']].join(delimiter);
  // Walking node_modules takes longer than most commands, so a tree is read once after each of them.
  let last: Tree | null = null;
  const run = (line: string, more: { readonly [name: string]: string } = {}): Run => {
    const { status, signal, stdout, stderr } = spawnSync('bash', ['-c', line], {
      cwd: root,
      env: { ...operator, PATH, ...one.env, ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SECONDS * 1000,
      maxBuffer: 64 << 20,
    });
    for (const left of fs.globSync(`${temp}*`)) fs.rmSync(left, { recursive: true, force: true });
    last = treeOf(root, env);
    return { exit: status ?? exitOf(signal), stdout, stderr, tree: last };
  };
  const mustRun = (line: string) => {
    const { exit, stdout, stderr } = run(line);
    if (exit !== 0) throw new Error(`${one.title}: "${line}" ended with ${exit}: ${stdout}${stderr}`);
  };
  for (const [path, content] of Object.entries(one.files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
  }
  for (const line of ['git init -q -b main', ...one.prepare, 'git add -A', 'git commit -qm first']) mustRun(line);
  // An address like those of real remotes: pip takes a path for one of the disk and looks for it there.
  mustRun(
    `git init -q --bare ${folder}/remote.git && git remote add origin file://${folder}/remote.git && git push -q -u origin main`,
  );
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  execFileSync(process.execPath, [main, 'init', '--root', root], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  configure(join(root, 'hopgate.yaml'), one);
  mustRun('git add -A && git commit -qm "configure hopgate" && git push -q');
  for (const line of one.afterwards) mustRun(line);
  execFileSync('cp', ['-a', root, kept]);
  const first = treeOf(root, env);
  // cargo builds again if a source is younger than its target; npm prints other counts if a package is younger than
  // node_modules/.package-lock.json.
  const packages = fs.globSync(['**/node_modules', '**/node_modules/*', '**/node_modules/@*/*'], { cwd: kept });
  const timed = [...first.keys()].filter((path) => !path.startsWith('git: ') && !BY_SIZE.test(path)).concat(packages);
  const restoreTimes = () => {
    for (const path of timed) {
      const { atime, mtime } = fs.lstatSync(join(kept, path));
      if (fs.lstatSync(join(root, path)).mtime.getTime() !== mtime.getTime())
        fs.lutimesSync(join(root, path), atime, mtime);
    }
  };
  return {
    root,
    run,
    tree: () => (last = treeOf(root, env)),
    withOwnTemp: (line) => line.replaceAll('/tmp/', temp),
    ignores: (path) => spawnSync('git', ['check-ignore', '-q', '--', path], { cwd: root, env }).status === 0,
    restore() {
      const now = last ?? first;
      last = first;
      const changed = [...new Set([...now.keys(), ...first.keys()])].filter(
        (path) => now.get(path) !== first.get(path),
      );
      if (changed.length === 0 && ![root, kept].some((at) => fs.existsSync(join(at, 'target')))) return restoreTimes();
      // Only what differs is copied: a virtual environment alone takes longer than most commands.
      let above = '/';
      for (const path of ['.git', 'target', ...changed.filter((each) => !each.startsWith('git: '))].sort()) {
        if (path.startsWith(above)) continue;
        const at = path.replace(/\/$/, '');
        above = `${at}/`;
        fs.rmSync(join(root, at), { recursive: true, force: true });
        if (!fs.existsSync(join(kept, at))) continue;
        fs.mkdirSync(dirname(join(root, at)), { recursive: true });
        execFileSync('cp', ['-a', join(kept, at), join(root, at)]);
      }
      restoreTimes();
    },
  };
}

/** Adds the ecosystem's test commands and settings to the proposed hopgate.yaml. */
function configure(file: string, { tests, config }: Ecosystem): void {
  const document = parseDocument(fs.readFileSync(file, 'utf8'));
  const proposed = document.toJSON() as { readonly test?: readonly { readonly run: readonly string[] }[] };
  const known = (proposed.test ?? []).map(({ run }) => run.join(' '));
  const added = tests
    .filter(({ run }) => !known.includes(run))
    .map(({ run }) => ({ run: run.split(' '), report: 'none' }));
  document.set('test', [...(proposed.test ?? []), ...added]);
  for (const [key, value] of Object.entries(config)) document.set(key, value);
  fs.writeFileSync(file, document.toString());
}

/** Large folders, and compiled files that contain the time of their source: only their sizes are compared. */
const BY_SIZE = /^(?:node_modules|\.venv)\/|\.pyc$/;
const hashOf = (path: string) => createHash('sha256').update(fs.readFileSync(path)).digest('hex');

/** The files with their content, the folders (with a slash at the end), and the facts of the git repository. */
function treeOf(root: string, env: NodeJS.ProcessEnv): Tree {
  const found = new Map<string, string>();
  const walk = (path: string) => {
    for (const entry of fs.readdirSync(join(root, path), { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const place = join(root, inner);
      // Names in Cargo's folder are random.
      if (inner === '.git' || inner === 'target') continue;
      if (entry.isDirectory()) {
        if (!BY_SIZE.test(inner)) found.set(`${inner}/`, 'folder');
        walk(inner);
      } else if (entry.isSymbolicLink()) found.set(inner, `-> ${fs.readlinkSync(place)}`);
      else if (entry.isFile()) {
        const { size, mode } = fs.statSync(place);
        found.set(inner, BY_SIZE.test(inner) ? `${size}` : `${hashOf(place)}${mode & 0o100 ? ' executable' : ''}`);
      } else found.set(inner, 'special');
    }
  };
  walk('');
  for (const words of ['rev-parse HEAD', 'symbolic-ref -q HEAD', 'for-each-ref', 'diff --cached --name-status']) {
    const { stdout } = spawnSync('git', words.split(' '), { cwd: root, env, encoding: 'utf8' });
    found.set(`git: ${words}`, stdout);
  }
  return found;
}
