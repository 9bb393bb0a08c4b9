import { statSync } from 'node:fs';
import { bwrapArguments, FD } from './bwrap-arguments.ts';
import type { Furniture } from './furniture.ts';
import type { Layout, Mount } from './layout.ts';

/** Who runs the sandbox on the host. */
export interface HostIdentity {
  readonly uid: number;
  readonly gid: number;
}

/** How this host runs a sandbox: found out once. */
export interface Host {
  readonly bwrap: string;
  readonly furniture: Furniture;
  /** Ours. */
  readonly self: HostIdentity;
}

// Stays after the command has ended, until we let go of fd 5: as long as it lives, what the command wrote can be read through /proc/<pid>/root.
// If we are killed it is killed too, and with it bubblewrap and everything in the sandbox.
const WITH_OVERLAY = `
set -e
[ "$PPID" = "$1" ] || exit 125
root=$2 base=$3 bytes=$4 mode=$5 owner=$6 options=$7
shift 7
cd "$root"
mount -t tmpfs -o "size=$bytes,mode=0755" hopgate "$base"
mkdir "$base/upper" "$base/work" "$base/merged"
[ -z "$owner" ] || chown "$owner" "$base/upper"
chmod "$mode" "$base/upper"
mount -t overlay -o "lowerdir=.,upperdir=$base/upper,workdir=$base/work$options" hopgate "$base/merged"
cd /
"$@" ${FD.hold}<&- || :
exec >&- 2>&- ${FD.seccomp}<&- ${FD.status}>&-
read -r _ <&${FD.hold} || :
`;

export type OverlayMount = Extract<Mount, { kind: 'overlay' }>;

export const overlayOf = (layout: Layout): OverlayMount | null =>
  layout.mounts.find((mount): mount is OverlayMount => mount.kind === 'overlay') ?? null;

/**
 * The whole command line of one run: mount the overlay, drop the uid, enter the sandbox, limit, run. Every link of the chain but the overlay's
 * shell replaces itself with the next.
 *
 * @param options.runAs another uid to run as; only root can
 * @param options.block the sandbox waits, set up but with nothing of the command running, until it is told to go on
 */
export function launchCommand(
  host: Host,
  layout: Layout,
  argv: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly block: boolean;
    readonly runAs: HostIdentity | null;
    readonly cpuSeconds: number;
  },
): string[] {
  const overlay = overlayOf(layout);
  const { limits } = layout;
  return [
    ...(overlay ? overlayPrefix(host, overlay) : []),
    ...(options.runAs ? dropTo(options.runAs) : []),
    ...[host.bwrap, ...(options.block ? ['--block-fd', `${FD.block}`] : [])],
    ...[...bwrapArguments(layout, host.furniture, options.env), '--'],
    // Inside, where processes are counted for this sandbox alone. Their number does not bind host uid 0; the data size binds each process.
    ...[
      'prlimit',
      `--nofile=${limits.openFiles}`,
      '--core=0',
      `--fsize=${limits.fileBytes}`,
      `--data=${limits.memoryBytes}`,
    ],
    ...[`--cpu=${options.cpuSeconds}`, `--nproc=${limits.processes}`, '--', ...argv],
  ];
}

function overlayPrefix(host: Host, overlay: OverlayMount): string[] {
  const asRoot = host.self.uid === 0;
  const root = statSync(overlay.source);
  return [
    ...['unshare', '--mount', ...(asRoot ? [] : ['--user', '--map-root-user']), '--'],
    ...['setpriv', '--pdeathsig', 'KILL', '--', '/bin/sh', '-c', WITH_OVERLAY, 'sh'],
    ...[`${process.pid}`, overlay.source, host.furniture.overlayBase, `${overlay.bytes}`],
    ...[(root.mode & 0o777).toString(8), asRoot ? `${root.uid}:${root.gid}` : '', asRoot ? '' : ',userxattr'],
  ];
}

const dropTo = ({ uid, gid }: HostIdentity) => [
  ...['setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--'],
];
