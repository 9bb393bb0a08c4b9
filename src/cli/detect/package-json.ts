import { fieldsOf, isObject, parseJson } from '../../base/json.ts';
import { type DetectedDeploy, type DetectedTest, JUNIT_REPORT_NAME } from './detected-commands.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

interface Manifest {
  readonly scripts: { readonly [name: string]: string };
  readonly packages: ReadonlySet<string>;
  readonly packageManager: string;
}

/** For each package manager: its lock files, and the words that run a script and pass arguments to it. */
const MANAGERS = {
  npm: { locks: ['package-lock.json', 'npm-shrinkwrap.json'], run: ['npm', 'run'], separator: ['--'] },
  pnpm: { locks: ['pnpm-lock.yaml'], run: ['pnpm', 'run'], separator: [] },
  yarn: { locks: ['yarn.lock'], run: ['yarn', 'run'], separator: [] },
  bun: { locks: ['bun.lock', 'bun.lockb'], run: ['bun', 'run'], separator: [] },
} as const;
type Manager = (typeof MANAGERS)[keyof typeof MANAGERS];

/** The fields of an object that are strings; empty if the value is not an object. */
export const pickStringFields = (value: unknown): { [key: string]: string } =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );

function manifestOf(tree: ProjectFileReader): Manifest | null {
  const json: unknown = parseJson(tree.read('package.json') ?? '');
  if (!isObject(json)) return null;
  const { scripts, dependencies, devDependencies, packageManager } = json;
  return {
    scripts: pickStringFields(scripts),
    packages: new Set([
      ...Object.keys(pickStringFields(dependencies)),
      ...Object.keys(pickStringFields(devDependencies)),
    ]),
    packageManager: typeof packageManager === 'string' ? packageManager : '',
  };
}

/** The package manager that package.json names, or whose lock file is at the root. */
export function detectPackageManager(tree: ProjectFileReader): keyof typeof MANAGERS {
  const files = new Set(tree.list(''));
  const names = Object.keys(MANAGERS) as (keyof typeof MANAGERS)[];
  const stated = names.find((name) => manifestOf(tree)?.packageManager.startsWith(`${name}@`));
  const locked = names.find((name) => MANAGERS[name].locks.some((lock) => files.has(lock)));
  return stated ?? locked ?? 'npm';
}

const managerOf = (tree: ProjectFileReader): Manager => MANAGERS[detectPackageManager(tree)];

/** The command that runs a script: `npm test` for npm's `test`. `bun test` would not be the same as `bun run test`. */
const runScript = (manager: Manager, script: string, args: readonly string[] = []): readonly string[] => {
  const base = script === 'test' && manager === MANAGERS.npm ? ['npm', 'test'] : [...manager.run, script];
  return args.length === 0 ? base : [...base, ...manager.separator, ...args];
};

/** The test script of package.json, with a report if the script runs a known test runner. */
export function detectPackageTest(tree: ProjectFileReader): DetectedTest | null {
  const manifest = manifestOf(tree);
  const script = manifest?.scripts['test'];
  if (manifest === null || script === undefined || script.trim() === '' || script.includes('no test specified'))
    return null;
  const manager = managerOf(tree);
  const because = `package.json: "test": ${JSON.stringify(script)}`;
  // Quotes and globs change neither the program nor its options.
  const words = splitUnquotedWords(script.replaceAll(/["'*?{}]/g, '_'));
  const reported = words === null ? null : reporter(words, manifest);
  if (reported === null) return { run: runScript(manager, 'test'), report: 'none', because };
  if ('run' in reported) {
    const { pretest, posttest } = manifest.scripts;
    return pretest !== undefined || posttest !== undefined || splitUnquotedWords(script) === null
      ? { run: runScript(manager, 'test'), report: 'none', because }
      : { ...reported, because };
  }
  return { run: runScript(manager, 'test', reported.args), report: reported.report, because };
}

type Reporter = ({ readonly args: readonly string[] } | { readonly run: readonly string[] }) &
  Pick<DetectedTest, 'report'>;

/** The arguments or the command by which a test runner writes a report that hopgate reads; null if not possible. */
function reporter(words: readonly string[], { packages }: Manifest): Reporter | null {
  const [program, ...rest] = words;
  const has = (option: string): boolean => rest.some((word) => word === option || word.startsWith(`${option}=`));
  switch (program?.replace(/^(?:\S*\/)?bats$/, 'bats')) {
    case 'node': {
      const options = rest.findIndex((word) => !word.startsWith('-'));
      if (!(options === -1 ? rest : rest.slice(0, options)).includes('--test')) return null;
      if (has('--test-reporter')) return rest.includes('--test-reporter=tap') ? { args: [], report: 'tap' } : null;
      // The option must come before any file name, so the package manager cannot append it.
      return { run: ['node', '--test-reporter=tap', ...rest], report: 'tap' };
    }
    case 'vitest': {
      if (
        has('--reporter') ||
        has('--outputFile') ||
        (rest.length > 0 && rest[0] !== 'run' && !rest[0]!.startsWith('-'))
      )
        return null;
      const once = rest.includes('run') || rest.includes('--run') ? [] : ['--run'];
      const report = ['--reporter=default', '--reporter=junit', `--outputFile.junit=${JUNIT_REPORT_NAME}`];
      return { args: [...once, ...report], report: { junit: JUNIT_REPORT_NAME } };
    }
    case 'jest':
      return packages.has('jest-junit') && !has('--reporters')
        ? { args: ['--ci', '--reporters=default', '--reporters=jest-junit'], report: { junit: 'junit.xml' } }
        : null;
    case 'mocha':
      return has('--reporter') || has('-R') ? null : { args: ['--reporter', 'tap'], report: 'tap' };
    case 'ava':
      return { args: has('--tap') ? [] : ['--tap'], report: 'tap' };
    case 'bats':
      return has('--formatter') || has('-F') || has('-p') || has('--pretty')
        ? null
        : { args: ['--tap'], report: 'tap' };
    case 'tape':
      return { args: [], report: 'tap' };
    default:
      return null;
  }
}

/** The scripts `deploy` and `deploy:<name>` of package.json. */
export function detectPackageDeploys(tree: ProjectFileReader): readonly DetectedDeploy[] {
  const manifest = manifestOf(tree);
  if (manifest === null) return [];
  const manager = managerOf(tree);
  return Object.keys(manifest.scripts)
    .filter((script) => /^deploy(:[a-z][a-z0-9-]*)?$/.test(script))
    .map((script) => ({
      name: script === 'deploy' ? 'deploy' : script.slice('deploy:'.length),
      run: runScript(manager, script),
      because: `package.json: "${script}"`,
    }));
}

/** The words that a shell would run as one command, nothing quoted, expanded, joined or redirected; else null. */
export function splitUnquotedWords(line: string): readonly string[] | null {
  const words = line.trim().split(/\s+/);
  return words.every((word) => /^[\w./:@%+,=-]+$/.test(word)) && !/^\w+=/.test(words[0]!) ? words : null;
}
