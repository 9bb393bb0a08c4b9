import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { realpathIfAny } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { splitWords } from '../../../base/text.ts';
import { homeFolder, userStateFolder } from '../../../base/user-folders.ts';
import { toolchainSecretMounts } from '../host-secrets.ts';
import { LayoutError } from '../layout-error.ts';
import type { SandboxMount } from '../mount.ts';

export interface LayoutLimits {
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
  /** Maximum memory of a command in bytes; Infinity for no limit. */
  readonly memoryBytes: number;
  /** Maximum size of `/tmp` in bytes; `/tmp` is in memory. */
  readonly tmpBytes: number;
  /** Maximum size of the home folder in bytes; the folder is in memory. */
  readonly homeBytes: number;
}

/**
 * The files and the network that a command can use, as data for {@link Sandbox.run}. To every layout the sandbox adds
 * the fixed part: an allow-listed root (`/usr`, a few files of `/etc`), its own namespaces, no capabilities, no nested
 * user namespaces, a covered `/proc`, a system-call filter, a cleared environment.
 */
export interface SandboxLayout {
  readonly name: string;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly mounts: readonly SandboxMount[];
  readonly chdir: string;
  readonly env: { readonly [name: string]: string };
  /** True if the command shares the host's network. If false, the sandbox has its own network with only loopback. */
  readonly network: boolean;
  /**
   * True if connections to {@link PROXY_ADDRESS} in the sandbox's own network are passed to the caller (`onConnection`
   * of the options), which can run a proxy for the command. Not together with `network`.
   */
  readonly proxy?: boolean;
  /**
   * True if the command may open unix sockets. Only for layouts that show the tree through an overlay and do not share
   * the network: a read-only mount allows connections to the host's socket files (an overlay does not), and a shared
   * network namespace allows connections to its abstract sockets.
   */
  readonly unixSockets: boolean;
  readonly limits: LayoutLimits;
}

export const DEFAULT_LIMITS: LayoutLimits = {
  processes: 512,
  openFiles: 4096,
  fileBytes: 1 << 30,
  memoryBytes: 4 * 2 ** 30,
  tmpBytes: 2 ** 30,
  homeBytes: 2 ** 30,
};

/** The address at which a command finds its proxy, in the sandbox's own network. */
export const PROXY_ADDRESS = { host: '127.0.0.1', port: 3128 } as const;

/** The home folder inside: empty, writable, in memory. */
export const SANDBOX_HOME = '/home/agent';
const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];
const HOME = homeFolder(process.env);
// Folders so wide that granting one would defeat the allow-list.
const TOO_WIDE = [
  ...splitWords('/ /bin /boot /dev /etc /home /lib /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var'),
  HOME,
  // Folders that hold mostly keys and tokens.
  ...splitWords('.ssh .aws .gnupg .config .docker .kube .azure').map((name) => join(HOME, name)),
];

export interface BaseLayoutRequest {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** Extra read-only folders; `<folder>/bin` (or the folder itself) goes in front of `PATH`. */
  readonly toolchains?: readonly string[];
  /** The operator's own programs; they follow the toolchains on `PATH`. */
  readonly programs?: {
    readonly path: readonly string[];
    readonly mounts: readonly SandboxMount[];
    readonly env: { readonly [name: string]: string };
  };
  readonly env?: { readonly [name: string]: string };
  readonly limits?: Partial<LayoutLimits>;
}

/**
 * A layout with the system's programs and the toolchains, without the repository. See {@link addMountsToLayout}.
 * Commands start in the root, so mount the root or set `chdir`.
 * @throws LayoutError if the root is not a real absolute folder, or if the root or a toolchain is so wide that it
 *   contains the system.
 */
export function makeBaseLayout(name: string, request: BaseLayoutRequest): SandboxLayout {
  const { root } = request;
  if (!isAbsolute(root) || !existsSync(root) || realpathSync(root) !== root || !statSync(root).isDirectory())
    throw new LayoutError(`the root "${root}" is not the real path of a folder`);
  if (TOO_WIDE.includes(root))
    throw new LayoutError(`"${root}" is too wide to be a repository; choose a folder inside it`);
  const toolchains = (request.toolchains ?? []).map((folder) => resolveConfigFolder('toolchains', folder));
  const path = toolchains.map((folder) => (existsSync(join(folder, 'bin')) ? join(folder, 'bin') : folder));
  return {
    name,
    root,
    mounts: [
      ...toolchains.flatMap((folder): SandboxMount[] => [
        { kind: 'read-only', source: realpathSync(folder), target: folder },
        ...toolchainSecretMounts(folder),
      ]),
      ...(request.programs?.mounts ?? []),
    ],
    chdir: root,
    env: {
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ...request.programs?.env,
      PATH: [...new Set([...path, ...(request.programs?.path ?? []), ...SYSTEM_PATH])].join(':'),
      HOME: SANDBOX_HOME,
      USER: 'agent',
      LOGNAME: 'agent',
      SHELL: existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh',
      TMPDIR: '/tmp',
      ...request.env,
    },
    network: false,
    unixSockets: false,
    limits: { ...DEFAULT_LIMITS, ...request.limits },
  };
}

export function addMountsToLayout(layout: SandboxLayout, mounts: readonly SandboxMount[]): SandboxLayout {
  return { ...layout, mounts: [...layout.mounts, ...mounts] };
}

/** The folders with hopgate's evidence, the operator's token and the socket. No sandbox may show any of them. */
export const findStateFolders = (): readonly string[] => {
  const { XDG_RUNTIME_DIR } = process.env;
  const homes = [userStateFolder(process.env), ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'hopgate')] : [])];
  return homes.map((home) => realpathIfAny(home) ?? join(realpathIfAny(dirname(home)) ?? dirname(home), 'hopgate'));
};

/** The absolute path for a path of hopgate.yaml that may begin with `~/`; other paths stay as they are. */
export const expandTilde = (path: string): string => path.replace(/^~(?=\/)/, homeFolder(process.env));

/** A folder of hopgate.yaml as an absolute path. @throws LayoutError if it is missing or may not be shown */
export function resolveConfigFolder(key: string, stated: string): string {
  const folder = expandTilde(stated);
  if (!isAbsolute(folder)) throw new LayoutError(`${key}: "${folder}" is not an absolute path`);
  if (!existsSync(folder)) throw new LayoutError(`${key}: "${folder}" does not exist; correct it in hopgate.yaml`);
  const real = realpathSync(folder);
  if (TOO_WIDE.includes(real)) throw new LayoutError(`${key}: "${folder}" is too wide; name a more specific folder`);
  if (findStateFolders().some((state) => isPathWithin(state, real) || isPathWithin(real, state)))
    throw new LayoutError(`${key}: "${folder}" holds hopgate's own state; name a different folder`);
  return folder;
}
