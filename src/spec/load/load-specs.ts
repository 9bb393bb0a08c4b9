import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertArgument } from '../../base/assert-argument.ts';
import { freezeDeep } from '../../base/json.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { explainSystemError } from '../../base/system-error.ts';
import { plural } from '../../base/text.ts';
import { SpecError, type SpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName, findSimilarName } from '../names.ts';
import { MAX_AUTHORED_FILE_BYTES, MAX_SPEC_FILES } from '../policy/limits.ts';
import { parseSpecSet } from '../resolve/parse-spec-set.ts';
import type { SpecSet } from '../types.ts';
import type { SpecSource } from './source-document.ts';

const SET_FILES = ['gate.yaml', 'tools.yaml', 'scopes.yaml', 'conditions.yaml', 'properties.yaml'];
const OTHER_FILES = ['hopgate.yaml'];

/** The last sets that were loaded, by the texts of their files: a process often opens many sessions with one set. */
const latest = new Map<string, SpecSet>();
const MAX_LATEST = 8;

/**
 * Loads a spec set and returns it checked, resolved and frozen. Files with the same texts give the same object.
 * @param path `default` for the specs that come with this package, a folder (`gate.yaml`, `tools.yaml`, `scopes.yaml`,
 *   `conditions.yaml`, `properties.yaml`, `peripherals/*.yaml`, `*.edn`), or a single file with peripherals. Tools and
 *   scopes that the set does not define come from the built-in catalogue.
 * @throws {@link SpecError} with all problems of all files; TypeError if `path` is not a path
 * @throws Error with the remedy, if Node is too old
 * @example
 * const specs = await loadSpecs('default');
 * specs.edges.filter(({ from }) => from === 'test').map(({ exit, to }) => `${exit} → ${to}`);
 */
export async function loadSpecs(path: string): Promise<SpecSet> {
  // Every program that uses the package as a library calls this first. Without this check, Node 20 would fail later,
  // with the message that a function does not exist.
  if (!('groupBy' in Map))
    throw new Error(`hopgate needs Node 22.13 or newer, and this is ${process.version}: install it from nodejs.org`);
  assertArgument(typeof path === 'string' && path !== '', 'loadSpecs: path', '"default" or the path of specs', path);
  const { sources, problems } = await readSet(path === 'default' ? defaultSpecsFolder() : path);
  const catalogue = await loadBuiltInCatalogue();
  const key = JSON.stringify([sources, catalogue]);
  const known = problems.length === 0 && latest.get(key);
  if (known) return known;
  const parsed = problems.length > 0 && sources.length === 0 ? null : parseSpecSet(sources, catalogue);
  const all = [...problems, ...(parsed?.ok === false ? parsed.problems : [])];
  if (!parsed?.ok || all.length > 0) throw new SpecError(all);
  if (latest.size >= MAX_LATEST) latest.delete(latest.keys().next().value!);
  latest.set(key, freezeDeep(parsed.specs));
  return parsed.specs;
}

/** The folder of the specs that come with this package; found from the sources and from the bundle alike. */
export function defaultSpecsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) || !existsSync(join(folder, 'specs', 'tools.yaml'))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new Error(
        'the specs folder of the package hopgate is missing: reinstall hopgate, or let your bundler leave it out (esbuild: --packages=external)',
      );
    folder = parent;
  }
  return join(folder, 'specs');
}

/** The built-in `tools.yaml` and `scopes.yaml`, the defaults of every spec set. */
export async function loadBuiltInCatalogue(): Promise<SpecSource[]> {
  const folder = defaultSpecsFolder();
  return Promise.all(['tools.yaml', 'scopes.yaml'].map((name) => readSource(join(folder, name))));
}

async function readSet(path: string) {
  const found = await stat(path).catch(() => null);
  if (found === null) {
    const suggestion = 'name a folder of spec files, an .edn or .yaml file, or default';
    return {
      sources: [],
      problems: [{ file: path, path: '', message: 'there is no such file or folder', suggestion }],
    };
  }
  const problems: SpecProblem[] = [];
  if (!found.isDirectory()) return { sources: readSources([path], problems), problems };
  const files: string[] = [];
  const entries = await readdir(path, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  for (const name of entries.map((entry) => entry.name).sort()) {
    if (SET_FILES.includes(name) || name.endsWith('.edn')) files.push(join(path, name));
    else if (folders.includes(name)) problems.push(...strayFolder(join(path, name), name));
    else if (/\.ya?ml$/.test(name) && !OTHER_FILES.includes(name)) {
      const suggestion = `${describeSimilarName(name, SET_FILES)}; peripherals go into the folder peripherals`;
      problems.push({ file: join(path, name), path: '', message: 'is not a file of a spec set', suggestion });
    }
  }
  for (const name of (await readdir(join(path, 'peripherals')).catch(() => [])).sort()) {
    const file = join(path, 'peripherals', name);
    if (name.endsWith('.yaml')) files.push(file);
    else if (SPEC_FILE.test(name)) {
      const suggestion = name.endsWith('.edn') ? 'move it to the folder above' : 'rename it to .yaml';
      problems.push({ file, path: '', message: `ends in ${extname(name)}`, suggestion });
    } else if ((await readdir(file).catch(() => [])).some((inside) => SPEC_FILE.test(inside))) {
      const suggestion = 'move its files to the folder above';
      problems.push({ file, path: '', message: 'is a folder, so nothing in it is read', suggestion });
    }
  }
  return { sources: readSources(files, problems), problems };
}

/** Endings of peripherals' files. In the folder `peripherals` only `.yaml` is read; the others are reported. */
const SPEC_FILE = /\.(?:ya?ml|edn)$/;
const FOLDERS = ['peripherals', 'scenarios', 'schemas', 'patterns'];

/** Reports a folder whose name is probably a typo of `peripherals` or another folder of spec sets. */
function strayFolder(file: string, name: string): SpecProblem[] {
  const meant = FOLDERS.includes(name) ? null : findSimilarName(name, FOLDERS);
  if (meant === null) return [];
  const message = 'is not a folder of a spec set, so nothing in it is read';
  return [{ file, path: '', message, suggestion: `did you mean "${meant}"?` }];
}

function readSources(files: readonly string[], problems: SpecProblem[]): SpecSource[] {
  const more = files[MAX_SPEC_FILES];
  if (more !== undefined)
    problems.push({
      file: more,
      path: '',
      message: `exceeds the limit of ${plural(MAX_SPEC_FILES, 'file')}`,
      suggestion: null,
    });
  return files.slice(0, MAX_SPEC_FILES).flatMap((file) => {
    try {
      return [readSource(file)];
    } catch (error) {
      problems.push({
        file,
        path: '',
        message: `cannot be read: ${explainSystemError(error)?.message ?? (error as Error).message}`,
        suggestion: null,
      });
      return [];
    }
  });
}

const readSource = (file: string): SpecSource => ({
  file,
  text: readRegularFile(file, MAX_AUTHORED_FILE_BYTES).toString('utf8'),
});
