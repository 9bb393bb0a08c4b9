import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SYSCALLS, seccompFilter } from '../../../src/tools/sandbox/seccomp.ts';

const ALLOW = 'allow';

/** `name x86-64 arm64` as libseccomp 2.5.4 resolves them; negative: no such call. */
const resolved = readFileSync(join(import.meta.dirname, 'libseccomp.txt'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [string, string, string]);

test('the numbers of system calls are those of libseccomp', () => {
  expect(resolved.map(([name]) => name)).toEqual(Object.keys(SYSCALLS));
  for (const [name, x64, arm64] of resolved)
    expect(SYSCALLS[name], name).toEqual([Number(x64), Number(arm64) < 0 ? null : Number(arm64)]);
});

/** Runs a filter as the kernel does. */
function judge(filter: Buffer, arch: number, number: number, args: readonly number[]): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [at, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * at);
  let accumulator = 0;
  for (let pc = 0; ; pc += 1) {
    expect(pc * 8).toBeLessThan(filter.length);
    const code = filter.readUInt16LE(pc * 8);
    const value = filter.readUInt32LE(pc * 8 + 4);
    const jump = (holds: boolean) => {
      pc += filter.readUInt8(pc * 8 + (holds ? 2 : 3));
    };
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x06)
      return value === 0x7fff0000 ? ALLOW : value === 0x80000000 ? 'kill' : `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
}

describe.each([
  ['x64', 0xc000003e, 0],
  ['arm64', 0xc00000b7, 1],
] as const)('the system-call filter on %s', (arch, audit, column) => {
  const filter = seccompFilter({ arch, unixSockets: false });
  const call = (name: string, ...args: number[]) => judge(filter, audit, SYSCALLS[name]![column]!, args);

  test.each([
    ['mount', [], 'errno 1'],
    ['unshare', [0], 'errno 1'],
    ['setns', [], 'errno 1'],
    // TRACEME, PEEKTEXT, POKEDATA, SETREGS, SYSCALL, SETREGSET, SEIZE; then what LeakSanitizer needs
    ['ptrace', [0], 'errno 1'],
    ['ptrace', [1], 'errno 1'],
    ['ptrace', [5], 'errno 1'],
    ['ptrace', [13], 'errno 1'],
    ['ptrace', [24], 'errno 1'],
    ['ptrace', [0x4205], 'errno 1'],
    ['ptrace', [0x4206], 'errno 1'],
    ['ptrace', [7], ALLOW],
    ['ptrace', [16], ALLOW],
    ['ptrace', [17], ALLOW],
    ['ptrace', [0x4204], ALLOW],
    // READ_IMPLIES_EXEC alone and with others; then ADDR_NO_RANDOMIZE
    ['personality', [0x0400000], 'errno 1'],
    ['personality', [0x0440000], 'errno 1'],
    ['personality', [0x0040000], ALLOW],
    ['bpf', [], 'errno 1'],
    ['io_uring_setup', [], 'errno 1'],
    ['keyctl', [], 'errno 1'],
    ['clone3', [], 'errno 38'],
    ['openat2', [], 'errno 38'],
    ['clone', [0x10000000], 'errno 1'],
    ['clone', [0x003d0f00], ALLOW],
    ['clone', [17], ALLOW],
    ['fchmodat', [0, 0, 0o4755], 'errno 1'],
    ['fchmodat', [0, 0, 0o2755], 'errno 1'],
    ['fchmodat', [0, 0, 0o1777], ALLOW],
    ['openat', [0, 0, 0o101, 0o4755], 'errno 1'],
    ['openat', [0, 0, 0o101, 0o644], ALLOW],
    ['ioctl', [0, 0x5412], 'errno 1'],
    ['ioctl', [0, 0x541c], 'errno 1'],
    ['ioctl', [0, 0x5413], ALLOW],
    ['socket', [1, 1, 0], 'errno 13'],
    ['socket', [2, 1, 0], ALLOW],
    ['socket', [10, 2, 0], ALLOW],
    ['socket', [16, 3, 0], ALLOW],
    ['socket', [16, 3, 9], 'errno 13'],
    ['socket', [17, 3, 0], 'errno 13'],
    ['socket', [40, 1, 0], 'errno 13'],
    ['socketpair', [1, 1, 0], ALLOW],
    ['socketpair', [1, 5, 0], ALLOW],
    ['socketpair', [1, 0x80801, 0], ALLOW],
    ['socketpair', [1, 2, 0], 'errno 13'],
    ['socketpair', [1, 0x80802, 0], 'errno 13'],
    ['socketpair', [1, 3, 0], 'errno 13'],
    ['socketpair', [30, 1, 0], 'errno 13'],
  ])('answers the call %s with the arguments %j by: %s', (name, args, verdict) => {
    expect(call(name, ...args)).toBe(verdict);
  });

  test('allows the calls that programs need', () => {
    const read = arch === 'x64' ? 0 : 63;
    expect(judge(filter, audit, read, [])).toBe(ALLOW);
  });

  test('can allow unix sockets and nothing else', () => {
    const open = seccompFilter({ arch, unixSockets: true });
    expect(judge(open, audit, SYSCALLS['socket']![column]!, [1, 1, 0])).toBe(ALLOW);
    expect(judge(open, audit, SYSCALLS['socketpair']![column]!, [1, 2, 0])).toBe(ALLOW);
    expect(judge(open, audit, SYSCALLS['socket']![column]!, [17, 1, 0])).toBe('errno 13');
    expect(judge(open, audit, SYSCALLS['socketpair']![column]!, [30, 1, 0])).toBe('errno 13');
  });

  test('kills calls of another architecture', () => {
    expect(judge(filter, 0x40000003, 1, [])).toBe('kill');
    if (arch === 'x64') expect(judge(filter, audit, 0x40000001, [])).toBe('kill');
  });
});
