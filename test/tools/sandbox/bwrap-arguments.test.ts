import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bwrapArgumentsOfLayout, fixedBwrapArguments } from '../../../src/tools/sandbox/mounts/bwrap-arguments.ts';
import { makeBaseLayout, type SandboxLayout } from '../../../src/tools/sandbox/mounts/layout.ts';

const supportFiles = {
  folder: '/f',
  emptyFile: '/f/empty',
  overlayBase: '/f/overlay',
  etc: [],
  secrets: [],
  filters: { plain: '/f/filter', unixSockets: '/f/filter-unix-sockets' },
};

const argumentsOf = (layout: SandboxLayout): readonly string[] => [
  ...fixedBwrapArguments(layout, supportFiles),
  ...bwrapArgumentsOfLayout(layout, supportFiles, {}),
];

/** Several layers stop the same escape, so an escape attempt would not notice that one layer is missing. */
test('every layout gives bubblewrap the fixed arguments', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const wide = { ...makeBaseLayout('x', { root }), network: true, unixSockets: true };
  const line = ` ${argumentsOf(wide).join(' ')} `;
  for (const part of [
    '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup',
    '--disable-userns',
    '--cap-drop ALL',
    '--uid 1000 --gid 1000',
    '--die-with-parent --new-session',
    '--clearenv',
    '--seccomp 3',
    '--ro-bind /usr /usr',
    '--proc /proc --ro-bind /proc/sys /proc/sys',
    '--remount-ro /dev',
    '--remount-ro / ',
  ])
    expect(line).toContain(` ${part.trim()} `);
  expect(line).not.toMatch(/--(dev-)?bind\S* \/ /);
  expect(argumentsOf(makeBaseLayout('x', { root }))).toContain('--unshare-net');
});
