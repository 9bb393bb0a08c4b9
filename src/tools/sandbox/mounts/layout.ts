import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { toolchainSecrets } from '../host-secrets.ts';
import { LayoutError } from '../layout-error.ts';
import type { Mount } from '../mount.ts';

/** What one command may use up. */
export interface LayoutLimits {
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
  readonly memoryBytes: number;
  /** Of `/tmp`, which is memory. */
  readonly tmpBytes: number;
}

/**
 * What a command sees and may touch: data, built once and handed to {@link Sandbox.run}. Whatever a layout says, the sandbox adds the fixed
 * part: an allow-listed root (`/usr`, a few files of `/etc`), own namespaces, no capabilities, no nested user namespaces, a covered `/proc`,
 * a system-call filter, a cleared environment.
 */
export interface SandboxLayout {
  readonly name: string;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly mounts: readonly Mount[];
  readonly chdir: string;
  readonly env: { readonly [name: string]: string };
  /** Share the host's network. False: an own one with nothing but loopback. */
  readonly network: boolean;
  /**
   * Let the command open unix sockets. A socket file of the host can be connected to through a read-only mount, but not through an overlay, and an
   * abstract one in the same network namespace: so this is for layouts that show the tree by an overlay and share no network.
   */
  readonly unixSockets: boolean;
  readonly limits: LayoutLimits;
}

export const DEFAULT_LIMITS: LayoutLimits = {
  processes: 512,
  openFiles: 4096,
  fileBytes: 1 << 30,
  memoryBytes: 4 * 2 ** 30,
  tmpBytes: 256 << 20,
};

/** The home folder inside: empty, writable, in memory. */
export const SANDBOX_HOME = '/home/agent';
const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];
// Granting one of these would undo the allow-list.
const TOO_WIDE = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/media',
  '/mnt',
  '/opt',
  '/proc',
  '/root',
].concat(
  ['/run', '/sbin', '/srv', '/sys', '/tmp', '/usr', '/var', homedir()],
  // Little else but keys and tokens.
  ['.ssh', '.aws', '.gnupg', '.config', '.docker', '.kube', '.azure'].map((name) => join(homedir(), name)),
);

export interface BaseRequest {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** Extra read-only folders; `<folder>/bin` (or the folder itself) goes in front of `PATH`. */
  readonly toolchains?: readonly string[];
  /** The operator's own programs: after the toolchains on `PATH`. */
  readonly programs?: {
    readonly path: readonly string[];
    readonly mounts: readonly Mount[];
    readonly env: { readonly [name: string]: string };
  };
  readonly env?: { readonly [name: string]: string };
  readonly limits?: Partial<LayoutLimits>;
}

/**
 * A layout that sees the system's programs and the toolchains but nothing of the repository: add mounts with {@link withMounts}. It starts in
 * the root, so mount that, or set `chdir`.
 *
 * @throws LayoutError if the root is not a real absolute folder, or is so wide that it holds the system, or a toolchain is.
 */
export function baseLayout(name: string, request: BaseRequest): SandboxLayout {
  const { root } = request;
  if (!isAbsolute(root) || !existsSync(root) || realpathSync(root) !== root || !statSync(root).isDirectory())
    throw new LayoutError(`the root "${root}" is not the real path of a folder`);
  if (TOO_WIDE.includes(root))
    throw new LayoutError(`"${root}" is too wide to be a repository; choose a folder beneath it`);
  const toolchains = (request.toolchains ?? []).map((folder) => checkFolder('toolchains', folder));
  const path = toolchains.map((folder) => (existsSync(join(folder, 'bin')) ? join(folder, 'bin') : folder));
  return {
    name,
    root,
    mounts: [
      ...toolchains.flatMap((folder): Mount[] => [
        { kind: 'read-only', source: realpathSync(folder), target: folder },
        ...toolchainSecrets(folder),
      ]),
      ...(request.programs?.mounts ?? []),
    ],
    chdir: root,
    env: {
      ...request.programs?.env,
      PATH: [...new Set([...path, ...(request.programs?.path ?? []), ...SYSTEM_PATH])].join(':'),
      HOME: SANDBOX_HOME,
      USER: 'agent',
      LANG: 'C.UTF-8',
      TMPDIR: '/tmp',
      ...request.env,
    },
    network: false,
    unixSockets: false,
    limits: { ...DEFAULT_LIMITS, ...request.limits },
  };
}

/** The layout with more mounts on top. */
export function withMounts(layout: SandboxLayout, mounts: readonly Mount[]): SandboxLayout {
  return { ...layout, mounts: [...layout.mounts, ...mounts] };
}

/** Where hopgate keeps evidence, the operator's token and its socket: nothing of it may be seen in a sandbox. */
export const STATE_HOMES = (): readonly string[] => {
  const { XDG_STATE_HOME, XDG_RUNTIME_DIR, HOME } = process.env;
  const bases = [
    XDG_STATE_HOME || join(HOME || homedir(), '.local', 'state'),
    ...(XDG_RUNTIME_DIR ? [XDG_RUNTIME_DIR] : []),
  ];
  return bases.map((base) => join(existsSync(base) ? realpathSync(base) : base, 'hopgate'));
};

const isBeneath = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** A path of hopgate.yaml that may begin with `~/`. */
export function fromHome(path: string): string {
  return path.replace(/^~(?=\/)/, process.env['HOME'] || homedir());
}

/** @throws LayoutError if a folder that hopgate.yaml names is not there, or so wide that it must not be shown */
export function checkFolder(key: string, stated: string): string {
  const folder = fromHome(stated);
  if (!isAbsolute(folder)) throw new LayoutError(`${key}: "${folder}" is not an absolute path`);
  if (!existsSync(folder)) throw new LayoutError(`${key}: there is no "${folder}"; correct it in hopgate.yaml`);
  const real = realpathSync(folder);
  if (TOO_WIDE.includes(real)) throw new LayoutError(`${key}: "${folder}" is too wide; name a folder of its own`);
  if (STATE_HOMES().some((state) => isBeneath(real, state) || isBeneath(state, real)))
    throw new LayoutError(`${key}: "${folder}" holds hopgate's own state; name a folder of its own`);
  return folder;
}
