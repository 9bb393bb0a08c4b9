import { statSync } from 'node:fs';
import { quoteShell } from '../../base/text.ts';
import { FD, fixedArguments, layoutArguments } from './mounts/bwrap-arguments.ts';
import type { SupportFiles } from './mounts/support-files.ts';
import type { SandboxLayout, LayoutLimits } from './mounts/layout.ts';
import type { Mount } from './mount.ts';
import { SandboxError } from './sandbox.ts';

/** Who runs the sandbox on the host. */
export interface HostIdentity {
  readonly uid: number;
  readonly gid: number;
}

/** How this host runs a sandbox: found out once. */
export interface SandboxHost {
  readonly bwrap: string;
  readonly furniture: SupportFiles;
  /** Ours. */
  readonly self: HostIdentity;
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
  "$@" ${FD.go}<&0 <"$input" >"$folder/stdout" 2>"$folder/stderr" ${FD.seccomp}<"$filter" ${FD.status}>"$folder/status" ${FD.args}<"$folder/args"
}
# Skips what a command did not come to read.
next() {
  while read -r line; do
    case $line in "$1"*) return ;; esac
  done
  exit 0
}
`;

/** Each line that it reads is where a command's input comes from (in a layout with an overlay, the next what lies over the root); each that it writes, how bubblewrap ended. */
const PLAIN = `${START}
while next /; do
  input=$line
  code=0
  run "$@" || code=$?
  echo "$code"
done
`;

// Each command has a fresh upper folder, which stays after it until the next line: what it wrote can be read through /proc/<pid>/root. Nothing of the
// repository is looked at before there is a command.
const WITH_OVERLAY = `${START}
root=$1 base=$2 bytes=$3 mode=$4 owner=$5 options=$6
shift 6
while :; do
  mount -t tmpfs -o "size=$bytes,mode=0755" hopgate "$base"
  mkdir "$base/upper" "$base/work" "$base/merged"
  [ -z "$owner" ] || chown "$owner" "$base/upper"
  chmod "$mode" "$base/upper"
  next /
  input=$line
  read -r layers
  cd "$root"
  mount -t overlay -o "lowerdir=$layers.,upperdir=$base/upper,workdir=$base/work$options" hopgate "$base/merged"
  cd /
  code=0
  run "$@" || code=$?
  echo "$code"
  next release
  umount "$base/merged" "$base"
done
`;

export type OverlayMount = Extract<Mount, { kind: 'overlay' }>;

export const overlayOf = (layout: SandboxLayout): OverlayMount | null =>
  layout.mounts.find((mount): mount is OverlayMount => mount.kind === 'overlay') ?? null;

/**
 * The command line of a runner: a shell of ours that starts one bubblewrap after the other, each of which knows already how it will contain and reads
 * the rest of its arguments from a file. It names nothing of any command. It is killed if we are, and with it bubblewrap and everything in the sandbox.
 *
 * @param runAs another uid for bubblewrap to run as; only root can
 * @param folder where it is told what to run, and its pipes are
 */
export function runnerCommand(
  host: SandboxHost,
  layout: SandboxLayout,
  runAs: HostIdentity | null,
): (folder: string) => string[] {
  const overlay = overlayOf(layout);
  const filter = host.furniture.filters[layout.unixSockets ? 'unixSockets' : 'plain'];
  const unshared = overlay ? ['unshare', '--mount', '--propagation', 'slave', ...mapRoot(host), '--'] : [];
  const contained = [
    ...(overlay ? overlayParameters(host, overlay) : []),
    ...(runAs ? dropTo(runAs) : []),
    ...[host.bwrap, ...fixedArguments(layout, host.furniture), '--args', `${FD.args}`],
    ...['--', '/bin/sh', '-c', `eval "\${${RUN}:?}"`],
  ];
  return (folder) => [
    ...[...unshared, 'setpriv', '--pdeathsig', 'KILL', '--', '/bin/sh', '-c', overlay ? WITH_OVERLAY : PLAIN, 'sh'],
    ...[`${process.pid}`, folder, filter, ...contained],
  ];
}

const isRoot = ({ self }: SandboxHost): boolean => self.uid === 0;
const mapRoot = (host: SandboxHost): string[] => (isRoot(host) ? [] : ['--user', '--map-root-user']);

function overlayParameters(host: SandboxHost, { source, bytes }: OverlayMount): string[] {
  const { mode, uid, gid } = statSync(source);
  return [
    ...[source, host.furniture.overlayBase, `${bytes}`, (mode & 0o777).toString(8)],
    ...(isRoot(host) ? [`${uid}:${gid}`, ''] : ['', ',userxattr']),
  ];
}

const dropTo = ({ uid, gid }: HostIdentity) => [
  ...['setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--'],
];

const RUN = 'HOPGATE_RUN';
const word = (index: number): string => `HOPGATE_${index}`;

/** In a shell's units, which POSIX gives; where we may not have as much ourselves, as much as we may. The data size binds each process. */
function limitsOf({ openFiles, fileBytes, memoryBytes, processes }: LayoutLimits, cpuSeconds: number): string {
  return [
    'at_most() { ulimit "$1" "$2" 2>/dev/null || ulimit "$1" "$(ulimit -H "$1")"; }',
    ...['ulimit -c 0', `at_most -n ${openFiles}`, `at_most -f ${Math.ceil(fileBytes / 512)}`],
    ...[`at_most -d ${Math.ceil(memoryBytes / 1024)}`, `at_most -t ${cpuSeconds}`],
    // Counted for this sandbox alone, as we are inside; the number does not bind host uid 0. Some shells know it as -u, some as -p.
    `{ at_most -u ${processes} 2>/dev/null || at_most -p ${processes}; }`,
  ].join(' && ');
}

export interface CommandOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cpuSeconds: number;
}

/** The kernel takes no longer word, variable or command line (128 KiB, and 2 MiB where nobody says otherwise); what we add has room beside it. */
const MOST = { word: 131_000, packed: 96_000, line: 1_800_000 };

/**
 * The words of a command as variables of the sandbox, and how its shell names them: short ones quoted and packed together, because bubblewrap takes
 * only so many arguments.
 */
function variablesOf(argv: readonly string[]): { readonly values: readonly string[]; readonly set: string } {
  const values: string[] = [];
  const set: string[] = [];
  let isPacked = false;
  for (const text of argv) {
    const quoted = quoteShell(text);
    const [bytes, last] = [Buffer.byteLength(text), values.at(-1)];
    if (bytes > MOST.word) throw tooLong();
    if (bytes > MOST.packed / 4) {
      set.push(`\\"\\$${word(values.push(text) - 1)}\\"`);
      isPacked = false;
    } else if (isPacked && last !== undefined && Buffer.byteLength(last) + Buffer.byteLength(quoted) < MOST.packed) {
      values[values.length - 1] = `${last} ${quoted}`;
    } else {
      set.push(`$${word(values.push(quoted) - 1)}`);
      isPacked = true;
    }
  }
  if (values.reduce((sum, value) => sum + Buffer.byteLength(value), 0) > MOST.line) throw tooLong();
  return { values, set: `eval "set -- ${set.join(' ')}"` };
}

const tooLong = () =>
  new SandboxError('the command line is too long for this machine', {
    cause: Object.assign(new Error('argument list too long'), { code: 'E2BIG' }),
  });

/**
 * What a runner is told: the rest of bubblewrap's arguments, each followed by a NUL. The command's words reach the shell in the sandbox as
 * variables, so nothing of them is parsed outside. What it is to do comes last: of a message that was cut off nothing runs. It begins by waiting for
 * us: were we killed before bubblewrap has asked to die along, the sandbox would outlive us, but the command does not start.
 *
 * @throws SandboxError if a word holds a NUL, or if there is too much of them (its cause's code is `E2BIG`)
 */
export function commandMessage(
  host: SandboxHost,
  layout: SandboxLayout,
  argv: readonly string[],
  { env, cpuSeconds }: CommandOptions,
): string {
  const { values, set } = variablesOf(argv);
  const run = [
    `read -r go <&${FD.go} && exec ${FD.go}<&- || exit 125`,
    `${limitsOf(layout.limits, cpuSeconds)} || exit 125`,
    set,
    `unset go ${[...values.keys().map(word), RUN].join(' ')}`,
    'exec "$@"',
  ].join('; ');
  const words = [
    ...layoutArguments(layout, host.furniture, env),
    ...values.flatMap((text, index) => ['--setenv', word(index), text]),
    ...['--setenv', RUN, run],
  ];
  if (words.some((text) => text.includes('\0'))) throw new SandboxError('a word of the command holds a NUL');
  return words.map((text) => `${text}\0`).join('');
}
