import { chmodSync, constants, copyFileSync, existsSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { quoteShell, splitWords } from '../../base/text.ts';
import {
  BWRAP_FDS,
  bwrapArgumentsOfLayout,
  fixedBwrapArguments,
  type OverlayMount,
  overlaysOfLayout,
  SECOND_OVERLAY_FOLDER,
} from './mounts/bwrap-arguments.ts';
import { UNREAD_COVER_ACCESS_TIME } from './mounts/covers.ts';
import { type LayoutLimits, PROXY_ADDRESS, type SandboxLayout } from './mounts/layout.ts';
import type { SupportFiles } from './mounts/support-files.ts';
import { SandboxError } from './sandbox.ts';

/** The uid and gid that run the sandbox on the host. */
export interface HostUser {
  readonly uid: number;
  readonly gid: number;
}

/** How this host runs a sandbox; detected once. */
export interface SandboxHostFacts {
  readonly bwrap: string;
  readonly supportFiles: SupportFiles;
  /** The identity of hopgate's own process. */
  readonly self: HostUser;
  /** True if a cgroup limits the memory of each command, so that hopgate need not watch it. */
  readonly limitsMemory: boolean;
}

const START = `
set -e
[ "$PPID" = "$1" ] || exit 125
folder=$2 filter=$3
shift 3
mkfifo -m 666 "$folder/stdout" "$folder/stderr" "$folder/status"
mkfifo -m 600 "$folder/stdin"
echo ready
run() {
  "$@" ${BWRAP_FDS.go}<&0 <"$input" >"$folder/stdout" 2>"$folder/stderr" ${BWRAP_FDS.seccomp}<"$filter" ${BWRAP_FDS.status}>"$folder/status" ${BWRAP_FDS.args}<"$folder/args"
}
# Skips the lines that an earlier command did not read.
next() {
  while read -r line; do
    case $line in "$1"*) return ;; esac
  done
  exit 0
}
`;

/**
 * Protocol: the script reads the path of a command's stdin, one per line (each overlay's lowerdirs follow on a line
 * of their own), and writes the exit code of bubblewrap.
 */
const PLAIN = `${START}
while next /; do
  input=$line
  code=0
  run "$@" || code=$?
  echo "$code"
done
`;

/**
 * The script for layouts with an overlay. Each command has a fresh upper folder. It is kept until the script reads the
 * line of the next command, so that hopgate can read its files through /proc/<pid>/root. The script does not access the
 * repository before the first command.
 */
const WITH_OVERLAY = `${START}
root=$1 base=$2 bytes=$3 mode=$4 owner=$5 options=$6 other=$7 other_mode=$8 other_owner=$9
shift 9
prepare() {
  mkdir -p "$1/work" "$1/merged" \${4:+"$4"}
  mkdir -m "$2" "$1/upper"
  [ -z "$3" ] || chown "$3" "$1/upper" \${4:+"$4"}
}
show() {
  read -r layers
  cd "$2"
  mount -t overlay -o "lowerdir=$layers.,upperdir=$1/upper,workdir=$1/work$options" hopgate "$1/merged"
  cd /
}
# A copy of each cover in the upper folder, because overlayfs keeps access times only there.
notice() {
  [ -s "$folder/covers" ] || return 0
  cd "$1/merged"
  xargs -0 touch -c -a -d @${UNREAD_COVER_ACCESS_TIME} -- <"$folder/covers" 2>/dev/null || :
  cd /
}
while :; do
  mount -t tmpfs -o "size=$bytes,mode=0755" hopgate "$base"
  prepare "$base" "$mode" "$owner" "$base/outbox"
  [ -z "$other" ] || prepare "$base/${SECOND_OVERLAY_FOLDER}" "$other_mode" "$other_owner"
  next /
  input=$line
  show "$base" "$root"
  notice "$base"
  [ -z "$other" ] || show "$base/${SECOND_OVERLAY_FOLDER}" "$other"
  code=0
  run "$@" || code=$?
  echo "$code"
  next release
  [ -z "$other" ] || umount "$base/${SECOND_OVERLAY_FOLDER}/merged"
  umount "$base/merged" "$base"
done
`;

/**
 * The command line of a command shell, which starts one bubblewrap after the other. The arguments that confine the
 * command are fixed; bubblewrap reads the remaining ones from a file, so the command line reveals nothing about the
 * command. If hopgate is killed, the parent-death signal kills that shell, bubblewrap and everything in the sandbox.
 * @param runAs the uid that bubblewrap runs as; only root can change it
 * @param folder holds the message with the command, and the pipes
 */
export function commandShellArgv(
  host: SandboxHostFacts,
  layout: SandboxLayout,
  runAs: HostUser | null,
): (folder: string) => string[] {
  const overlays = overlaysOfLayout(layout);
  const isOverlay = overlays.length > 0;
  const filter = host.supportFiles.filters[layout.unixSockets ? 'unixSockets' : 'plain'];
  const mapsRoot = isRoot(host) ? [] : ['--user', '--map-root-user'];
  const unshared = isOverlay ? ['unshare', '--mount', '--propagation', 'slave', ...mapsRoot, '--'] : [];
  const contained = [
    ...(isOverlay ? overlayParameters(host, overlays) : []),
    ...(runAs ? runAsArguments(runAs) : []),
    ...[host.bwrap, ...fixedBwrapArguments(layout, host.supportFiles)],
    ...(layout.proxy ? ['--ro-bind', nodeFor(host, runAs), NODE] : []),
    ...['--args', `${BWRAP_FDS.args}`],
    ...['--', '/bin/sh', '-c', `eval "\${${RUN}:?}"`],
  ];
  return (folder) => [
    ...[...unshared, 'setpriv', '--pdeathsig', 'KILL', '--', '/bin/sh', '-c', isOverlay ? WITH_OVERLAY : PLAIN, 'sh'],
    ...[`${process.pid}`, folder, filter, ...contained],
  ];
}

const isRoot = ({ self }: SandboxHostFacts): boolean => self.uid === 0;

function overlayParameters(host: SandboxHostFacts, [tree, other]: readonly OverlayMount[]): string[] {
  const modeAndOwner = (source: string): [mode: string, owner: string] => {
    const { mode, uid, gid } = statSync(source);
    const isOwn = uid === host.self.uid && gid === host.self.gid;
    return [(mode & 0o777).toString(8), isRoot(host) && !isOwn ? `${uid}:${gid}` : ''];
  };
  return [
    ...[tree!.source, host.supportFiles.overlayBase, `${tree!.bytes}`, ...modeAndOwner(tree!.source)],
    isRoot(host) ? '' : ',userxattr',
    ...(other ? [other.source, ...modeAndOwner(other.source)] : ['', '', '']),
  ];
}

const runAsArguments = ({ uid, gid }: HostUser) =>
  splitWords(`setpriv --reuid=${uid} --regid=${gid} --clear-groups --`);

/** The path of hopgate's own Node inside a sandbox with a proxy. */
const NODE = '/run/hopgate/node';

/** JavaScript that opens the proxy's socket in the sandbox and passes it to hopgate before the command starts. */
const LISTEN = `
const server = require('node:net').createServer();
server.listen({ host: '${PROXY_ADDRESS.host}', port: ${PROXY_ADDRESS.port}, backlog: 511 }, () => process.send('listening', server));
process.on('message', () => process.exit());
`;

/** The path of hopgate's own Node; a copy if the uid that runs the sandbox cannot read it. */
function nodeFor({ supportFiles }: SandboxHostFacts, runAs: HostUser | null): string {
  const own = realpathSync(process.execPath);
  if (runAs === null || isOpenToAll(own)) return own;
  const copy = join(supportFiles.folder, 'node');
  if (!existsSync(copy)) {
    copyFileSync(own, `${copy}.new`, constants.COPYFILE_FICLONE);
    chmodSync(`${copy}.new`, 0o555);
    renameSync(`${copy}.new`, copy);
  }
  return copy;
}

/** True if every user can reach and execute the file. */
function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

const RUN = 'HOPGATE_RUN';
const variableName = (index: number): string => `HOPGATE_${index}`;

/** Shell text that sets the limits with `ulimit`, each at most the hard limit of hopgate's process. */
function limitScript({ openFiles, fileBytes, processes }: LayoutLimits, cpuSeconds: number): string {
  return [
    'at_most() { ulimit "$1" "$2" 2>/dev/null || ulimit "$1" "$(ulimit -H "$1")"; }',
    `ulimit -c 0 && at_most -n ${openFiles} && at_most -f ${Math.ceil(fileBytes / 512)}`,
    `at_most -t ${cpuSeconds}`,
    // Counts this sandbox's processes only; no limit for uid 0 of the host. The option is -u in some shells, -p in
    // others.
    `{ at_most -u ${processes} 2>/dev/null || at_most -p ${processes}; }`,
  ].join(' && ');
}

/** Below the kernel's maximum for a word (128 KiB) and a command line (2 MiB), with a reserve for hopgate's words. */
const MAX_BYTES = { word: 131_000, packed: 96_000, line: 1_800_000 };

/** A command's words as variables, with the shell text that reads them; packed, because bubblewrap limits arguments. */
function variablesOf(argv: readonly string[]): { readonly values: readonly string[]; readonly set: string } {
  const values: string[] = [];
  const set: string[] = [];
  let isPacked = false;
  for (const text of argv) {
    const quoted = quoteShell(text);
    const [bytes, last] = [Buffer.byteLength(text), values.at(-1)];
    if (bytes > MAX_BYTES.word) throw tooLong();
    if (bytes > MAX_BYTES.packed / 4) {
      set.push(`\\"\\$${variableName(values.push(text) - 1)}\\"`);
      isPacked = false;
    } else if (
      isPacked &&
      last !== undefined &&
      Buffer.byteLength(last) + Buffer.byteLength(quoted) < MAX_BYTES.packed
    ) {
      values[values.length - 1] = `${last} ${quoted}`;
    } else {
      set.push(`$${variableName(values.push(quoted) - 1)}`);
      isPacked = true;
    }
  }
  if (values.reduce((sum, value) => sum + Buffer.byteLength(value), 0) > MAX_BYTES.line) throw tooLong();
  return { values, set: `eval "set -- ${set.join(' ')}"` };
}

const tooLong = () =>
  new SandboxError('the command line is too long for this machine', {
    cause: Object.assign(new Error('argument list too long'), { code: 'E2BIG' }),
  });

/**
 * The message to a command shell: the remaining arguments of bubblewrap, each followed by a NUL. The command's words
 * reach the shell in the sandbox as variables, so they are not parsed outside. The script comes last, so a truncated
 * message runs nothing. The script waits for hopgate's "go", so the command never starts if hopgate is killed before
 * bubblewrap has set its parent-death signal.
 * @throws SandboxError if a word contains a NUL, or the words are too long (then the cause's code is `E2BIG`)
 */
export function commandMessage(
  host: SandboxHostFacts,
  layout: SandboxLayout,
  argv: readonly string[],
  { env, cpuSeconds }: { readonly env: Readonly<Record<string, string>>; readonly cpuSeconds: number },
): string {
  const { values, set } = variablesOf(argv);
  const run = [
    `read -r go <&${BWRAP_FDS.go} && exec ${BWRAP_FDS.go}<&- || exit 125`,
    `${limitScript(layout.limits, cpuSeconds)} || exit 125`,
    set,
    ...(layout.proxy
      ? [
          `env -i NODE_CHANNEL_FD=${BWRAP_FDS.channel} ${NODE} -e ${quoteShell(LISTEN)} <&- || exit 125`,
          `exec ${BWRAP_FDS.channel}>&-`,
        ]
      : []),
    `unset go ${[...values.keys().map(variableName), RUN].join(' ')}`,
    'exec "$@"',
  ].join('; ');
  const words = [
    ...bwrapArgumentsOfLayout(layout, host.supportFiles, env),
    ...values.flatMap((text, index) => ['--setenv', variableName(index), text]),
    ...['--setenv', RUN, run],
  ];
  if (words.some((text) => text.includes('\0'))) throw new SandboxError('a word of the command holds a NUL');
  return words.map((text) => `${text}\0`).join('');
}
