import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { realpathIfAny } from '../../../base/files.ts';
import { type SupportFiles, SANDBOX_ID, textFile } from './support-files.ts';
import { ETC } from '../host-secrets.ts';
import { type SandboxLayout, SANDBOX_HOME } from './layout.ts';
import { LayoutError } from '../layout-error.ts';
import type { Mount } from '../mount.ts';

/** The file descriptors that bubblewrap is started with; what runs in the sandbox keeps none of them. */
export const FD = { seccomp: 3, status: 4, args: 5, go: 6 } as const;

const NAMESPACES = ['user', 'pid', 'ipc', 'uts', 'cgroup'];
const USR_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
// A fresh /proc leaves these writable to host uid 0 even without capabilities.
const PROC_COVERED = ['sys', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr', 'sysrq-trigger'];
const HOME_BYTES = 64 << 20;
const SHARED_MEMORY_BYTES = 64 << 20;

/** What the fixed part still depends on. */
export type Networking = Pick<SandboxLayout, 'network'>;

/**
 * Everything of bubblewrap's command line up to `--`. Pure but for looking at which system paths the host has, and for the furniture.
 */
export function bwrapArguments(
  layout: SandboxLayout,
  furniture: SupportFiles,
  env: Readonly<Record<string, string>>,
): string[] {
  return [...fixedArguments(layout, furniture), ...layoutArguments(layout, furniture, env)];
}

/** The part that contains, the same for every command; what follows it can only add to what the command sees. */
export function fixedArguments({ network }: Networking, furniture: SupportFiles): string[] {
  return [
    ...NAMESPACES.map((name) => `--unshare-${name}`),
    ...(network ? [] : ['--unshare-net']),
    ...['--disable-userns', '--cap-drop', 'ALL', '--uid', `${SANDBOX_ID}`, '--gid', `${SANDBOX_ID}`],
    ...['--die-with-parent', '--new-session', '--hostname', 'peripheral', '--clearenv'],
    ...['--seccomp', `${FD.seccomp}`, '--json-status-fd', `${FD.status}`],
    ...systemArguments(furniture),
    ...(network ? resolverArguments() : []),
    ...['--proc', '/proc', ...procCovers()],
    ...['--dev', '/dev', '--size', `${SHARED_MEMORY_BYTES}`, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
  ];
}

/** What one command sees. */
export function layoutArguments(
  layout: SandboxLayout,
  furniture: SupportFiles,
  env: Readonly<Record<string, string>>,
): string[] {
  return [
    ...Object.entries({ ...layout.env, ...env }).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--size', `${layout.limits.tmpBytes}`, '--perms', '1777', '--tmpfs', '/tmp'],
    ...['--size', `${HOME_BYTES}`, '--tmpfs', SANDBOX_HOME],
    ...layout.mounts.flatMap((mount) => mountArguments(mount, layout.root, furniture)),
    ...['--remount-ro', '/', '--chdir', layout.chdir],
  ];
}

function systemArguments(furniture: SupportFiles): string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...USR_LINKS.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    ),
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...furniture.etc.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...furniture.secrets.flatMap((mount) => mountArguments(mount, '/', furniture)),
  ];
}

const resolverArguments = () =>
  existsSync('/etc/resolv.conf') ? ['--ro-bind', realpathSync('/etc/resolv.conf'), '/etc/resolv.conf'] : [];

function procCovers(): string[] {
  const covered = PROC_COVERED.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return covered.flatMap((path) => ['--ro-bind', path, path]);
}

function mountArguments(mount: Mount, root: string, furniture: SupportFiles): string[] {
  switch (mount.kind) {
    case 'read-only':
    case 'writable': {
      const { kind, source, target, optional } = mount;
      const real = realpathIfAny(source);
      if (optional && real !== source) return [];
      if (real !== null && real !== source)
        throw new LayoutError(`${source} leads through a link to ${real}, which is not mounted; replace the link`);
      return [kind === 'writable' ? '--bind' : '--ro-bind', source, target];
    }
    case 'empty-file':
      return ['--ro-bind', furniture.emptyFile, mount.target];
    case 'text-file':
      return ['--ro-bind', textFile(furniture, mount.text), mount.target];
    case 'link':
      return ['--symlink', mount.to, mount.target];
    case 'empty-folder':
      return ['--tmpfs', mount.target, '--remount-ro', mount.target];
    case 'sealed':
      return ['--ro-bind-try', join(mergedOf(furniture), relative(root, mount.target)), mount.target];
    case 'scratch':
      return ['--size', `${mount.bytes}`, '--tmpfs', mount.target];
    case 'overlay':
      return [mount.readOnly ? '--ro-bind' : '--bind', mergedOf(furniture), mount.target];
  }
}

const mergedOf = ({ overlayBase }: SupportFiles): string => join(overlayBase, 'merged');
