import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

/**
 * What V8 made of the hook program's chunks, kept for the next hook. Node's own compile cache keeps what V8 makes of a file when it is loaded, which
 * is without the functions that are compiled when they are first called: compiling those anew takes a fourth of a hook's time.
 *
 * Chunks are named by their content. What is kept is code, so it is taken only from files that nobody but this user can write.
 */
export interface CodeCache {
  /** Keeps what V8 has made of the chunks by now, if any was new, or this kind of work: another kind calls other functions. Never throws. */
  keep(kind: string): void;
}

interface Loaded {
  readonly file: string;
  readonly script: Script;
  /** Compiled here and now. */
  readonly isNew: boolean;
}

/** `require.extensions`. */
type Extensions = { [extension: string]: (module: LoadingModule, file: string) => void };
type LoadingModule = NodeJS.Module & { readonly require: (id: string) => unknown };
type Modules = { [file: string]: NodeJS.Module | undefined };
type Wrapper = (
  this: unknown,
  exports: unknown,
  require: (id: string) => unknown,
  module: NodeJS.Module,
  filename: string,
  dirname: string,
) => void;

export const NO_CACHE: CodeCache = { keep() {} };
/** Files that a build's folder holds at most: chunks, and marks of kinds of work. */
const MAX_FILES = 120;
const OLD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Loads every `.cjs` beside the entry with what was kept in a folder; where there is none, or where it does not fit, they are compiled as ever.
 *
 * @param home where it is kept; each version of Node, each set of its flags and each build has a folder of its own beneath it
 */
export function useCodeCache(
  home: string,
  entry: string,
  { extensions, cache }: { readonly extensions: Extensions; readonly cache: object },
): CodeCache {
  const modules = cache as Modules;
  const folder = dirname(entry);
  const versions = join(
    home,
    [process.version, process.arch, ...process.execArgv].join(' ').replaceAll(/[^\w. =-]/g, '_'),
  );
  const loaded: Loaded[] = [];
  // The first chunk's name follows from all that it leads to.
  let kept = '';
  const otherwise = extensions['.js']!;
  /** Chunks know where the others lie: nothing is searched for. */
  const requireFrom = (module: LoadingModule, id: string): unknown => {
    const [, name] = /^\.\/([\w-]+\.cjs)$/.exec(id) ?? [];
    if (name === undefined) return module.require(id);
    const file = join(folder, name);
    const there = modules[file];
    if (there) return there.exports;
    const Module = module.constructor as new (id: string, parent: NodeJS.Module) => LoadingModule;
    const made = Object.assign(new Module(file, module), { filename: file, paths: module.paths });
    modules[file] = made;
    try {
      load(made, file);
    } catch (error) {
      delete modules[file];
      throw error;
    }
    made.loaded = true;
    return made.exports;
  };
  const load = (module: LoadingModule, file: string): void => {
    kept ||= join(versions, basename(file));
    const cachedData = codeIn(join(kept, basename(file)));
    // ASCII alone, see tsdown.config.ts.
    const source = readFileSync(file, 'latin1');
    const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
      filename: file,
      ...(cachedData ? { cachedData } : {}),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    loaded.push({ file, script, isNew: !cachedData || script.cachedDataRejected === true });
    const run = script.runInThisContext() as Wrapper;
    run.call(module.exports, module.exports, (id) => requireFrom(module, id), module, file, folder);
  };
  extensions['.cjs'] = (module, file) => (dirname(file) === folder ? load : otherwise)(module, file);
  return {
    keep(kind) {
      if (kept === '') return;
      const mark = join(kept, `kind ${kind.replaceAll(/\W/g, '_').slice(0, 80)}`);
      if (existsSync(mark) && !loaded.some(({ isNew }) => isNew)) return;
      try {
        keepCode(kept, loaded, mark);
      } catch {
        // A folder that cannot be written costs the next hook its time, and nothing else.
      }
    },
  };
}

function keepCode(folder: string, loaded: readonly Loaded[], mark: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOld(dirname(folder));
  if (readdirSync(folder).length > MAX_FILES) return;
  for (const { file, script } of loaded) put(join(folder, basename(file)), script.createCachedData());
  put(mark, Buffer.of());
}

/** What no build has added to for long. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const there = statSync(path, { throwIfNoEntry: false });
    if (there && Date.now() - there.mtimeMs > OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** All or nothing, also after a power cut: V8 believes what it reads. */
function put(file: string, bytes: Buffer): void {
  const made = `${file}.${process.pid}`;
  const fd = openSync(made, 'w', 0o600);
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(made, file);
}

/** null: there is none, or somebody else could have written it. */
function codeIn(file: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return null;
  }
  try {
    const { uid, mode } = fstatSync(fd);
    return uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0 ? readFileSync(fd) : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
