import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { realpathIfAny } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { etcPaths } from '../host-secrets.ts';
import { LayoutError } from '../layout-error.ts';
import type { SandboxMount } from '../mount.ts';
import { SANDBOX_HOME, type SandboxLayout } from './layout.ts';
import { makeSupportTextFile, SANDBOX_HOST_NAME, SANDBOX_UID, type SupportFiles } from './support-files.ts';

/** The file descriptors that bubblewrap is started with; the command in the sandbox inherits none of them. */
export const BWRAP_FDS = { seccomp: 3, status: 4, args: 5, go: 6, channel: 7 } as const;

const NAMESPACES = ['user', 'pid', 'ipc', 'uts', 'cgroup'];
const USR_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
// Entries of /proc that are mounted read-only, because host uid 0 could write them even without capabilities.
const PROC_COVERED = ['sys', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr', 'sysrq-trigger'];
const SHARED_MEMORY_BYTES = 64 << 20;

export const SECOND_OVERLAY_FOLDER = 'other';

export type OverlayMount = Extract<SandboxMount, { kind: 'overlay' }>;

/** The overlays of a layout: the overlay of the tree, and optionally a second overlay. */
export const overlaysOfLayout = ({ mounts, root }: Pick<SandboxLayout, 'mounts' | 'root'>): readonly OverlayMount[] =>
  mounts
    .filter((mount): mount is OverlayMount => mount.kind === 'overlay')
    .sort((a, b) => Number(b.target === root) - Number(a.target === root));

/** The arguments that confine every command. Later arguments can only add paths that the command sees. */
export function fixedBwrapArguments({ network }: Pick<SandboxLayout, 'network'>, supportFiles: SupportFiles): string[] {
  return [
    ...NAMESPACES.map((name) => `--unshare-${name}`),
    ...(network ? [] : ['--unshare-net']),
    ...['--disable-userns', '--cap-drop', 'ALL', '--uid', `${SANDBOX_UID}`, '--gid', `${SANDBOX_UID}`],
    ...['--die-with-parent', '--new-session', '--hostname', SANDBOX_HOST_NAME, '--clearenv'],
    ...['--seccomp', `${BWRAP_FDS.seccomp}`, '--json-status-fd', `${BWRAP_FDS.status}`],
    ...systemArguments(supportFiles),
    ...(network ? resolverArguments() : []),
    ...['--proc', '/proc', ...procCovers()],
    ...['--dev', '/dev', '--size', `${SHARED_MEMORY_BYTES}`, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
  ];
}

export function bwrapArgumentsOfLayout(
  layout: SandboxLayout,
  supportFiles: SupportFiles,
  env: Readonly<Record<string, string>>,
): string[] {
  return [
    ...Object.entries({ ...layout.env, ...env }).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--size', `${layout.limits.tmpBytes}`, '--perms', '1777', '--tmpfs', '/tmp'],
    ...['--symlink', '/tmp', '/var/tmp'],
    ...['--size', `${layout.limits.homeBytes}`, '--tmpfs', SANDBOX_HOME],
    // Made in advance, because Java prints a message when it creates this folder.
    ...['--perms', '0700', '--dir', `${SANDBOX_HOME}/.java/.userPrefs`],
    ...layout.mounts.flatMap((mount) => mountArguments(mount, overlaysOfLayout(layout), supportFiles)),
    ...['--remount-ro', '/', '--chdir', layout.chdir],
  ];
}

function systemArguments(supportFiles: SupportFiles): string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...USR_LINKS.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    ),
    ...etcPaths().flatMap((path) => ['--ro-bind', path, path]),
    ...timezoneArguments(),
    // Debian's Ruby installs gems into the first folder; lscpu and GNU parallel count processors in the second.
    ...['/var/lib/gems', '/sys/devices/system/cpu'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...supportFiles.etc.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...supportFiles.secrets.flatMap((mount) => mountArguments(mount, [], supportFiles)),
  ];
}

/** Shows `/etc/localtime`. A link stays a link, because programs read the timezone's name from its target. */
function timezoneArguments(): string[] {
  const path = '/etc/localtime';
  const real = realpathIfAny(path);
  if (real === null) return [];
  return real.startsWith('/usr/share/zoneinfo/') ? ['--symlink', real, path] : ['--ro-bind', path, path];
}

const resolverArguments = () =>
  existsSync('/etc/resolv.conf') ? ['--ro-bind', realpathSync('/etc/resolv.conf'), '/etc/resolv.conf'] : [];

function procCovers(): string[] {
  const covered = PROC_COVERED.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return covered.flatMap((path) => ['--ro-bind', path, path]);
}

function mountArguments(mount: SandboxMount, overlays: readonly OverlayMount[], supportFiles: SupportFiles): string[] {
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
      return ['--ro-bind', supportFiles.emptyFile, mount.target];
    case 'text-file':
      return ['--ro-bind', makeSupportTextFile(supportFiles, mount.text), mount.target];
    case 'link':
      return ['--symlink', mount.to, mount.target];
    case 'empty-folder':
      return ['--tmpfs', mount.target, '--remount-ro', mount.target];
    case 'sealed':
      return ['--ro-bind-try', mergedPath(overlays, mount.target, supportFiles), mount.target];
    case 'outbox':
      return ['--bind', join(supportFiles.overlayBase, 'outbox'), mount.target];
    case 'scratch':
      return ['--size', `${mount.bytes}`, '--tmpfs', mount.target];
    case 'overlay':
      return [mount.readOnly ? '--ro-bind' : '--bind', mergedPath(overlays, mount.target, supportFiles), mount.target];
  }
}

/** The path of a file in the merged folder of the overlay that contains it. */
function mergedPath([tree, other]: readonly OverlayMount[], target: string, { overlayBase }: SupportFiles): string {
  const isOther = other !== undefined && !isPathWithin(tree!.target, target);
  const { target: top } = isOther ? other : tree!;
  return join(overlayBase, isOther ? SECOND_OVERLAY_FOLDER : '', 'merged', relative(top, target));
}
