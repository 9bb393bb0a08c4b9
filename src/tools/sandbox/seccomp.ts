/**
 * The system-call filter, as classic BPF for `bwrap --seccomp`. It closes gaps that namespaces and capabilities leave
 * open: sockets to the host's services, setuid bits, new namespaces, mounting, tracing, terminal injection, and the
 * kernel interfaces with the largest attack surface.
 */

export type FilterArchitecture = 'x64' | 'arm64';

interface FilterOptions {
  readonly arch: FilterArchitecture;
  /** Allow unix sockets. A connected `socketpair` is always allowed: Node's child processes need it. */
  readonly unixSockets: boolean;
}

/** Syscall numbers [x86-64, arm64]; null if there is none. The tests compare them with libseccomp. */
export const SYSCALLS: { readonly [name: string]: readonly [x64: number, arm64: number | null] } = {
  // Calls that change mounts and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  open_tree: [428, 428],
  move_mount: [429, 429],
  mount_setattr: [442, 442],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  open_by_handle_at: [304, 265],
  lookup_dcookie: [212, 18],
  // Calls that access other processes.
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Kernel interfaces with the largest attack surface.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  fanotify_init: [300, 262],
  // Calls that change the whole machine.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  acct: [163, 89],
  vhangup: [153, 58],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  nfsservctl: [180, 42],
  iopl: [172, null],
  ioperm: [173, null],
  uselib: [134, null],
  modify_ldt: [154, null],
  // Calls that the filter allows or refuses by their arguments.
  ptrace: [101, 117],
  personality: [135, 92],
  clone: [56, 220],
  clone3: [435, 435],
  openat2: [437, 437],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  creat: [85, null],
  mknod: [133, null],
  mknodat: [259, 33],
  open: [2, null],
  openat: [257, 56],
};

/** Calls whose mode argument (0-based index) may set the setuid or setgid bit. */
const MODE_ARGUMENT: { readonly [name: string]: number } = {
  chmod: 1,
  fchmod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  creat: 1,
  mknod: 1,
  mknodat: 2,
  open: 2,
  openat: 3,
};

/**
 * Calls that are allowed with these values of the first argument only. LeakSanitizer stops the threads of its own
 * process and reads their registers; no value writes memory or registers. ThreadSanitizer turns off the randomization
 * of its own addresses.
 */
const ALLOWED_REQUESTS: { readonly [name: string]: readonly number[] } = {
  // The requests CONT, KILL, GETREGS, GETFPREGS, ATTACH, DETACH and GETREGSET.
  ptrace: [7, 8, 12, 14, 16, 17, 0x4204],
  // The default personality, ADDR_NO_RANDOMIZE, and 0xffffffff, which queries the present one.
  personality: [0, 0x0040000, 0xffffffff],
};

/** Calls that pass arguments by pointer, which a filter cannot read; programs fall back to the older call. */
const NOT_IMPLEMENTED = ['clone3', 'openat2'];

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const X32_BIT = 0x40000000;
/** The flags of clone that make a namespace: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW_ANY = 0x7e020000;
const SETUID_OR_SETGID = 0o6000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const NETLINK_ROUTE = 0;
/**
 * A bit in the types of sockets that send to any address (datagram and raw); the types of connected sockets lack it.
 */
const SENDS_ANYWHERE = 2;

const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;

// Instruction codes of linux/filter.h: BPF_LD | BPF_W | BPF_ABS; BPF_JMP | BPF_JEQ, BPF_JGE or BPF_JSET; BPF_RET.
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

// Results of a filter, as in linux/seccomp.h.
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;

// Offsets in the kernel's struct seccomp_data; `argument` returns the offset of the lower 32 bits of an argument.
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** Number of instructions to skip if the comparison holds, and if not. */
  readonly yes: number;
  readonly no: number;
}

const load = (offset: number): Instruction => ({ code: LOAD, value: offset, yes: 0, no: 0 });
const result = (value: number): Instruction => ({ code: RETURN, value, yes: 0, no: 0 });
const test = (code: number, value: number, yes: number, no: number): Instruction => ({ code, value, yes, no });

/** The instructions that run `body` if the call is `number`. Each path through `body` must end with a result. */
const whenCall = (number: number, body: readonly Instruction[]): Instruction[] => [
  test(JUMP_EQUAL, number, 0, body.length),
  ...body,
];

/** The instructions that allow the call with one of these first arguments and else fail it. */
const onlyRequests = (values: readonly number[]): Instruction[] => [
  load(argument(0)),
  ...values.flatMap((value) => [test(JUMP_EQUAL, value, 0, 1), result(ALLOW)]),
  result(fail(EPERM)),
];

/** The instructions that fail the call with `errno` if the argument matches the test, and else allow it. */
const refuseIf = (index: number, code: number, value: number, errno: number): Instruction[] => [
  load(argument(index)),
  test(code, value, 0, 1),
  result(fail(errno)),
  result(ALLOW),
];

const ioctlBody = [
  load(argument(1)),
  test(JUMP_EQUAL, TIOCSTI, 1, 0),
  test(JUMP_EQUAL, TIOCLINUX, 0, 1),
  result(fail(EPERM)),
  result(ALLOW),
];

/** Allows only internet sockets (the network namespace limits them), routing queries and allowed unix sockets. */
function socketBody(unixSockets: boolean): Instruction[] {
  const families = [FAMILY.inet, FAMILY.inet6, ...(unixSockets ? [FAMILY.unix] : [])];
  return [
    load(argument(0)),
    ...families.flatMap((family) => [test(JUMP_EQUAL, family, 0, 1), result(ALLOW)]),
    test(JUMP_EQUAL, FAMILY.netlink, 0, 2),
    load(argument(2)),
    test(JUMP_EQUAL, NETLINK_ROUTE, 1, 0),
    result(fail(EACCES)),
    result(ALLOW),
  ];
}

/** Allows pairs of unix sockets. If unix sockets are forbidden, only pairs that stay connected to each other. */
const socketpairBody = (unixSockets: boolean): Instruction[] => [
  load(argument(0)),
  test(JUMP_EQUAL, FAMILY.unix, 1, 0),
  result(fail(EACCES)),
  ...(unixSockets ? [result(ALLOW)] : refuseIf(1, JUMP_ANY_BIT, SENDS_ANYWHERE, EACCES)),
];

/** The filter for `bwrap --seccomp`: an array of `struct sock_filter`, little-endian. */
export function seccompFilter({ arch, unixSockets }: FilterOptions): Buffer {
  const numberOf = (name: string): number | null => SYSCALLS[name]![arch === 'x64' ? 0 : 1];
  const call = (name: string, body: readonly Instruction[]): Instruction[] => {
    const number = numberOf(name);
    return number === null ? [] : whenCall(number, body);
  };
  const special = new Set([
    'clone',
    'ioctl',
    'socket',
    'socketpair',
    ...NOT_IMPLEMENTED,
    ...Object.keys(MODE_ARGUMENT),
    ...Object.keys(ALLOWED_REQUESTS),
  ]);
  const refused = Object.keys(SYSCALLS).filter((name) => !special.has(name));

  return encode([
    load(ARCHITECTURE),
    test(JUMP_EQUAL, AUDIT_ARCH[arch], 1, 0),
    result(KILL_PROCESS),
    load(NUMBER),
    ...(arch === 'x64' ? [test(JUMP_AT_LEAST, X32_BIT, 0, 1), result(KILL_PROCESS)] : []),
    ...refused.flatMap((name) => call(name, [result(fail(EPERM))])),
    ...NOT_IMPLEMENTED.flatMap((name) => call(name, [result(fail(ENOSYS))])),
    ...call('clone', refuseIf(0, JUMP_ANY_BIT, CLONE_NEW_ANY, EPERM)),
    ...Object.entries(MODE_ARGUMENT).flatMap(([name, index]) =>
      call(name, refuseIf(index, JUMP_ANY_BIT, SETUID_OR_SETGID, EPERM)),
    ),
    ...Object.entries(ALLOWED_REQUESTS).flatMap(([name, values]) => call(name, onlyRequests(values))),
    ...call('ioctl', ioctlBody),
    ...call('socket', socketBody(unixSockets)),
    ...call('socketpair', socketpairBody(unixSockets)),
    result(ALLOW),
  ]);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, value, yes, no }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
