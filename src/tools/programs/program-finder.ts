import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { listFileNames, readLinkOrNull, realpathIfAny } from '../../base/files.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { isPathWithin } from '../../base/paths.ts';
import { findProgram, isExecutableFile } from '../../base/process.ts';
import { quoteShell } from '../../base/text.ts';
import { type Env, homeFolder } from '../../base/user-folders.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { SANDBOX_HOME } from '../sandbox/mounts/layout.ts';
import { type HiddenFolders, installationMounts, installationOfProgram, isReadableInSandbox } from './installation.ts';
import { type ResolvedShim, readFirstBytes, resolveShim } from './shim.ts';
import type { VirtualEnv } from './virtual-env.ts';

/** The operator's programs in the form in which the sandbox shows them. */
export interface FoundPrograms {
  /** Folders of PATH, in the operator's order. */
  readonly path: readonly string[];
  readonly mounts: readonly SandboxMount[];
  readonly env: { readonly [name: string]: string };
  /** Programs that cannot be shown, each with the reason that a replacement script prints. */
  readonly hidden: readonly { readonly program: string; readonly why: string }[];
}

export interface ProgramsRequest {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** Programs that commands need: names, or paths. */
  readonly names: readonly string[];
  /** Folders that the sandbox shows regardless of this search. */
  readonly toolchains: readonly string[];
  readonly masks: readonly string[];
  readonly env: Env;
  /** Folders of hopgate's state; never shown. */
  readonly state: readonly string[];
}

/** Folders that are always shown; with a merged `/usr` some of them are links. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/alternatives'];
/** Folders that are shown if they exist: read-only stores of public packages, without configuration. */
const STORES = ['/nix/store', '/gnu/store'];
const MAX_NAMES = 2000;
const MAX_LINKS = 40;
const MAX_SHIM_LOOKUPS = 8;

/**
 * Packages that an interpreter installs for one user, and versions of package managers, relative to the home folder.
 * Programs search them in the home folder of the sandbox. A name may begin with a pattern for the version.
 */
const USER_PACKAGES: readonly { readonly folder: string; readonly version?: RegExp; readonly under?: string }[] = [
  { folder: '.local/lib', version: /^python3\.\d+$/, under: 'site-packages' },
  { folder: '.local/share/gem/ruby', version: /^\d/ },
  { folder: '.gem/ruby', version: /^\d/ },
  { folder: '.cache/node/corepack' },
];

/** Finds the mounts that show programs in the sandbox, and the folders of its PATH. */
export class ProgramMountFinder {
  readonly #request: ProgramsRequest;
  readonly #path: readonly string[];
  readonly #hiddenFolders: HiddenFolders;
  readonly #masked: (path: string) => boolean;
  /** Paths and real paths of the folders that the sandbox shows. */
  readonly #shown: string[];
  readonly #mounts = new Map<string, readonly SandboxMount[]>();
  /** For each folder with a version manager's shims: the folders of the real programs, which precede it on PATH. */
  readonly #foldersBefore = new Map<string, string[]>();
  readonly #hidden: { program: string; why: string }[] = [];
  readonly #visited = new Set<string>();
  /** Real paths by path, kept because each folder of PATH is looked up once for each name in the folders before it. */
  readonly #real = new Map<string, string | null>();
  readonly #venv: VirtualEnv | null;

  constructor(request: ProgramsRequest, path: readonly string[], venv: VirtualEnv | null) {
    this.#venv = venv;
    const { root, env, toolchains, masks, state } = request;
    this.#request = request;
    this.#path = path;
    const home = homeFolder(env);
    this.#hiddenFolders = { home: realpathIfAny(home) ?? home, folders: [root, ...state] };
    this.#masked = compileMasks(masks);
    for (const store of STORES)
      if (existsSync(store)) this.#mounts.set(store, [{ kind: 'read-only', source: store, target: store }]);
    this.#shown = [...SYSTEM, ...STORES, root, ...toolchains].flatMap((folder) => [
      folder,
      realpathIfAny(folder) ?? folder,
    ]);
  }

  findAll(): FoundPrograms {
    const { root, names } = this.#request;
    for (const name of names) this.#require(name);
    this.#showVenvPython(join(root, '.venv', 'bin', 'python'));
    if (this.#venv?.isOutside) this.#show(join(this.#venv.folder, 'bin', 'python'));
    for (const folder of this.#path) this.#showShadowing(folder);
    this.#mountUserPackages();
    const path = [...new Set(this.#path.flatMap((folder) => [...(this.#foldersBefore.get(folder) ?? []), folder]))];
    return { path, mounts: [...this.#mounts.values()].flat(), env: this.#variables(), hidden: this.#hidden };
  }

  #variables(): { readonly [name: string]: string } {
    const shown = keptVariables(this.#request, [...this.#mounts.keys()]);
    // Pipenv or Poetry would search for the environment in the sandbox's home folder.
    return this.#venv?.isOutside ? { ...shown, VIRTUAL_ENV: this.#venv.folder } : shown;
  }

  #mountUserPackages(): void {
    const { home } = this.#hiddenFolders;
    for (const { folder, version, under = '' } of USER_PACKAGES)
      for (const name of version ? listFileNames(join(home, folder)).filter((each) => version.test(each)) : ['']) {
        const path = join(folder, name, under);
        const source = realpathIfAny(join(home, path));
        const target = join(SANDBOX_HOME, path);
        if (source !== null && isPathWithin(home, source) && isReadableInSandbox(source, this.#request.root))
          this.#mounts.set(target, [{ kind: 'read-only', source, target }]);
      }
  }

  /** Requires a program: a name is searched on the PATH, a path is relative to the root. */
  #require(name: string): void {
    const { root } = this.#request;
    if (!name.includes('/')) return this.#requireByName(name);
    const file = resolve(root, name);
    if (isPathWithin(root, file)) this.#requireInterpreter(file);
    else this.#show(file);
  }

  /**
   * @param onlyBinaries true if a file of the repository requests the program: it must not reveal the operator's
   *   scripts
   */
  #requireByName(name: string, onlyBinaries = false): void {
    const file = findProgram(name, this.#path.join(delimiter));
    if (file === null) return;
    if (isPathWithin(this.#request.root, file)) return this.#requireInterpreter(file);
    if (
      !onlyBinaries ||
      installationOfProgram(file, this.#hiddenFolders) !== null ||
      readFirstBytes(file).startsWith('\x7fELF') ||
      this.#shimTarget(file)
    )
      this.#show(file);
  }

  #requireInterpreter(script: string): void {
    const words = /^#! *(\S+)(?: +(.*))?/.exec(readFirstBytes(script).split('\n')[0] ?? '');
    if (!words) return;
    const [, program = '', rest = ''] = words;
    const isInRepository = isPathWithin(this.#request.root, script);
    const name = rest.split(/\s+/).find((word) => /^[\w.+-]+$/.test(word) && !word.startsWith('-'));
    if (basename(program) === 'env' && name !== undefined) this.#requireByName(name, isInRepository);
    else if (!isInRepository && isAbsolute(program)) this.#show(program);
  }

  #isShown(path: string): boolean {
    const real = getOrInsert(this.#real, path, () => realpathIfAny(path));
    return real !== null && this.#shown.some((folder) => isPathWithin(folder, real)) && this.#isReached(path);
  }

  /** True if the path resolves in the sandbox too, because every link on it is shown. */
  #isReached(path: string): boolean {
    return (
      this.#mounts.has(path) ||
      this.#shown.some((folder) => isPathWithin(folder, path)) ||
      [...this.#mounts.keys()].some((folder) => isPathWithin(folder, path))
    );
  }

  /** Shows a program: its installation or its file, and the targets of links; then the interpreter of a script. */
  #show(stated: string): void {
    let file = stated;
    for (let count = 0; count < MAX_LINKS; count += 1) {
      if (this.#visited.has(file)) return;
      this.#visited.add(file);
      const target = this.#shimTarget(file);
      if (target) return this.#showShimTarget(file, target);
      const why = this.#hiddenReason(file);
      if (why !== null) return this.#hide(stated, why);
      const link = readLinkOrNull(file);
      if (!this.#isShown(file)) this.#mount(file, link);
      if (link === null) break;
      file = resolve(dirname(file), link);
    }
    this.#requireInterpreter(file);
  }

  #mount(file: string, link: string | null): void {
    const installation = installationOfProgram(file, this.#hiddenFolders);
    const real = installation && realpathIfAny(installation);
    if (installation !== null && real !== null) {
      for (const folder of new Set([real, installation])) {
        this.#mounts.set(folder, installationMounts(folder, this.#request.masks));
        this.#shown.push(folder);
      }
    } else if (link !== null) {
      this.#mounts.set(file, [{ kind: 'link', target: file, to: resolve(dirname(file), link) }]);
    } else {
      this.#mounts.set(file, [{ kind: 'read-only', source: realpathIfAny(file) ?? file, target: file }]);
      this.#shown.push(realpathIfAny(file) ?? file);
    }
  }

  #hiddenReason(file: string): string | null {
    const real = realpathIfAny(file);
    if (real === null || !isExecutableFile(real)) return 'it cannot be executed';
    if (!isReadableInSandbox(file, this.#request.root)) return 'the owner of the repository may not read it';
    const { home, folders } = this.#hiddenFolders;
    const [, ...state] = folders;
    if ([file, real].some((path) => state.some((folder) => isPathWithin(folder, path))))
      return "it lies in the folder of hopgate's state";
    const names = [file, real].map((path) => (isPathWithin(home, path) ? path.slice(home.length + 1) : path.slice(1)));
    return names.some((name) => this.#masked(name)) ? 'mask: names it' : null;
  }

  #hide(program: string, why: string): void {
    this.#hidden.push({ program, why });
    const text = `#!/bin/sh\necho ${quoteShell(`hopgate: ${program} exists on this machine, but cannot be mounted in the sandbox (${why}). Ask the operator to run "hopgate doctor".`)} >&2\nexit 127\n`;
    if (!this.#isShown(dirname(program))) this.#mounts.set(program, [{ kind: 'text-file', target: program, text }]);
  }

  #shimTarget(file: string): ResolvedShim | null {
    const { root, env } = this.#request;
    if (isPathWithin(root, file)) return null;
    const found = this.#foldersBefore
      .get(dirname(file))
      ?.map((folder) => join(folder, basename(file)))
      .find(isExecutableFile);
    return found !== undefined ? { program: found } : resolveShim(file, root, env);
  }

  #showShimTarget(shim: string, target: ResolvedShim): void {
    if ('problem' in target) return this.#hide(shim, target.problem);
    const folder = dirname(shim);
    // The version manager may select the system's program, which is found later on the PATH.
    if (!SYSTEM.some((system) => isPathWithin(system, target.program)))
      this.#foldersBefore.set(folder, [
        ...new Set([...(this.#foldersBefore.get(folder) ?? []), dirname(target.program)]),
      ]);
    this.#show(target.program);
  }

  /** Mounts programs of an unmounted folder, if their names would otherwise resolve to different programs. */
  #showShadowing(folder: string): void {
    const at = this.#path.indexOf(folder);
    let lookups = 0;
    for (const name of this.#isShown(folder) ? [] : listFileNames(folder).slice(0, MAX_NAMES)) {
      const file = join(folder, name);
      const isLater = this.#path.slice(at + 1).some((later) => this.#isShown(later) && existsSync(join(later, name)));
      if (!isLater || this.#isShown(file) || this.#mounts.has(file) || !isExecutableFile(file)) continue;
      if (this.#path.slice(0, at).some((before) => isExecutableFile(join(before, name)))) continue;
      if (this.#isBefore(folder, name)) continue;
      lookups += 1;
      if (lookups > MAX_SHIM_LOOKUPS && this.#foldersBefore.has(folder))
        this.#hide(file, 'its folder holds too many programs of a version manager');
      else this.#show(file);
      if (this.#isShown(folder)) return;
    }
  }

  #isBefore = (folder: string, name: string): boolean =>
    this.#foldersBefore.get(folder)?.some((each) => isExecutableFile(join(each, name))) === true;

  /** Shows the Python that a virtual environment was made with, the only program that a repository can add. */
  #showVenvPython(file: string): void {
    const real = realpathIfAny(file);
    if (real === null || this.#isShown(real) || !/^(?:python|pypy)[\d.]*$/.test(basename(real))) return;
    const installation = installationOfProgram(real, this.#hiddenFolders);
    if (installation === null) return;
    const isPython = listFileNames(join(installation, 'lib')).some(
      (name) => /^(?:python|pypy)\d/.test(name) && existsSync(join(installation, 'lib', name, 'encodings')),
    );
    if (!isPython || !isReadableInSandbox(real, this.#request.root) || !readFirstBytes(real).startsWith('\x7fELF'))
      return;
    for (let at = file, count = 0; count < MAX_LINKS; count += 1) {
      if (!isPathWithin(this.#request.root, at) && realpathIfAny(at) === real && !this.#isShown(at))
        this.#mount(at, readLinkOrNull(at));
      const link = readLinkOrNull(at);
      if (link === null) return;
      at = resolve(dirname(at), link);
    }
  }
}

/** Variables that name the folder or the version of a shown installation, the language and the timezone. */
function keptVariables(
  { env, root, toolchains }: ProgramsRequest,
  shown: readonly string[],
): { readonly [name: string]: string } {
  const folders = [...shown, ...toolchains, '/usr', root];
  const isKept = (name: string, value: string): boolean =>
    /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ)$/.test(name)
      ? /^[\w.@:/+,<>-]{1,100}$/.test(value)
      : /_(?:VERSION|TOOLCHAIN)$|^GOTOOLCHAIN$/.test(name)
        ? /^\w[\w.+-]{0,63}$/.test(value)
        : /_(?:HOME|ROOT|DIR|PREFIX|ENV)$|^GOROOT$/.test(name) &&
          isAbsolute(value) &&
          folders.some((folder) => isPathWithin(folder, value));
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && isKept(pair[0], pair[1]),
  );
  return Object.fromEntries(kept);
}
