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

const JOIN_CGROUPS = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"';

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
 * The whole command line of one run: join the cgroups, mount the overlay, drop the uid, limit, enter the sandbox, limit again, run.
 * Every link of the chain but the overlay's shell replaces itself with the next.
 *
 * @param runAs another uid to run as; only root can
 */
export function launchCommand(
  host: Host,
  layout: Layout,
  argv: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly join: readonly string[];
    readonly runAs: HostIdentity | null;
    readonly cpuSeconds: number;
  },
): string[] {
  const overlay = overlayOf(layout);
  const { limits } = layout;
  return [
    ...(options.join.length > 0 ? ['/bin/sh', '-c', JOIN_CGROUPS, 'sh', ...options.join, '--'] : []),
    ...(overlay ? overlayPrefix(host, overlay) : []),
    ...(options.runAs ? dropTo(options.runAs) : []),
    ...['prlimit', `--nofile=${limits.openFiles}`, '--core=0', `--fsize=${limits.fileBytes}`],
    ...[`--cpu=${options.cpuSeconds}`, '--', host.bwrap, ...bwrapArguments(layout, host.furniture, options.env), '--'],
    // Inside, where it counts this sandbox's processes only. It does not bind host uid 0.
    ...['prlimit', `--nproc=${limits.processes}`, '--', ...argv],
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
