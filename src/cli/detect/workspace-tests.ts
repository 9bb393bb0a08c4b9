import { parse } from 'yaml';
import { compileGlob, globProblem } from '../../base/glob.ts';
import { fieldsOf, parseJson } from '../../base/json.ts';
import { valueOr } from '../../base/value-or.ts';
import type { DetectedTest } from './detected-commands.ts';
import { detectPackageManager } from './package-json.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

/** Maximum depth of folders in which packages of a workspace are searched. */
const DEPTH = 4;
/** Maximum number of commands if each package needs its own. */
const MAX_COMMANDS = 20;

/** The tests of the packages of a workspace whose root has no test script. */
export function detectWorkspaceTests(tree: ProjectFileReader): readonly DetectedTest[] {
  const tested = packagesOf(tree).flatMap((folder) => {
    const { name, scripts } = fieldsOf(parseJson(tree.read(`${folder}/package.json`) ?? ''));
    const script = fieldsOf(scripts)['test'];
    const isTest = typeof script === 'string' && script.trim() !== '' && !script.includes('no test specified');
    return isTest ? [{ folder, name: typeof name === 'string' ? name : folder, script }] : [];
  });
  const [first] = tested;
  if (!first) return [];
  const others = tested.length === 1 ? '' : ` and ${tested.length - 1} more`;
  const because = `${first.folder}/package.json: "test": ${JSON.stringify(first.script)}${others}`;
  const found = (run: readonly string[], why = because): DetectedTest => ({ run, report: 'none', because: why });
  switch (detectPackageManager(tree)) {
    case 'pnpm':
      // By `{args}`, an agent may choose packages: --filter NAME.
      return [found(['pnpm', '-r', '{args}', 'run', 'test'])];
    case 'npm':
      return [found(['npm', 'test', '--workspaces', '--if-present'])];
    case 'bun':
      return [found(['bun', 'run', '--filter', '*', 'test'])];
    default:
      return tested
        .slice(0, MAX_COMMANDS)
        .map(({ name, folder, script }) =>
          found(
            ['yarn', 'workspace', name, 'run', 'test'],
            `${folder}/package.json: "test": ${JSON.stringify(script)}`,
          ),
        );
  }
}

/** The folders of the packages that a workspace lists. */
function packagesOf(tree: ProjectFileReader): readonly string[] {
  const patterns = patternsOf(tree).map((pattern) => pattern.replace(/^(!?)\.\//, '$1').replace(/\/$/, ''));
  const [excluded, included] = [true, false].map((is) => {
    const globs = patterns.filter((pattern) => pattern.startsWith('!') === is).map((each) => each.replace(/^!/, ''));
    return globs.filter((glob) => globProblem(glob) === null).map((glob) => compileGlob(glob));
  });
  if (included!.length === 0) return [];
  const found: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const name of tree.list(folder).filter((each) => each.endsWith('/') && !/^(?:node_modules|\.)/.test(each))) {
      const path = `${folder === '' ? '' : `${folder}/`}${name.slice(0, -1)}`;
      const isIn = (globs: typeof included) => globs!.some((matches) => matches(path.split('/')));
      if (isIn(included) && !isIn(excluded)) found.push(path);
      if (depth < DEPTH) walk(path, depth + 1);
    }
  };
  walk('', 1);
  return found;
}

function patternsOf(tree: ProjectFileReader): readonly string[] {
  const strings = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  const workspace = tree.read('pnpm-workspace.yaml');
  if (workspace !== null) return strings(fieldsOf(valueOr(() => parse(workspace), null))['packages']);
  const { workspaces } = fieldsOf(parseJson(tree.read('package.json') ?? ''));
  return strings(Array.isArray(workspaces) ? workspaces : fieldsOf(workspaces)['packages']);
}
