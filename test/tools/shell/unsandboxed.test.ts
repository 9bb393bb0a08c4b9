import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { detectSandbox } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { scratch, toolCall } from './support.ts';

const backend = async () => shellBackend(await detectSandbox({ bwrap: '/nowhere/bwrap' }));
const CALLS = [
  ['bash-readonly', { command: 'echo x > mark' }],
  ['bash', { command: 'echo x > mark' }],
  ['bash-test', {}],
  ['bash-deploy', { name: 'd' }],
] as const;
const config = {
  test: [{ run: ['touch', 'mark'], report: 'none' as const }],
  deploy: { d: { run: ['touch', 'mark'], network: false } },
};

describe('a command without a sandbox', () => {
  test.each(CALLS)('is refused with a remedy: %s', async (tool, args) => {
    const root = scratch();
    const { outcome, effects } = await (await backend()).run(toolCall(root, tool, args, { config }));
    expect(outcome).toMatchObject({ status: 'refused', code: 'sandbox-unavailable' });
    expect(outcome).toHaveProperty('remedy', expect.stringContaining('install bubblewrap'));
    expect(effects).toEqual([]);
    expect(existsSync(join(root, 'mark'))).toBe(false);
  });

  test.each(CALLS)('runs directly if the operator allowed it, and says so: %s', async (tool, args) => {
    const root = scratch();
    const call = toolCall(root, tool, args, { config, envelope: { unsafeNoSandbox: true } });
    const { outcome, effects } = await (await backend()).run(call);
    expect(outcome).toMatchObject({ status: 'ok', result: { exit: 0, unsandboxed: true } });
    expect(effects).toBe('unobserved');
    expect(existsSync(join(root, 'mark'))).toBe(true);
  });

  test('still has its limits of time and output', async () => {
    const call = toolCall(
      scratch(),
      'bash',
      { command: 'head -c 100000 /dev/zero | tr "\\0" x; sleep 60 & sleep 60' },
      { seconds: 1, outputBytes: 1000, envelope: { unsafeNoSandbox: true } },
    );
    const { outcome } = await (await backend()).run(call);
    expect(outcome).toMatchObject({ status: 'ok', result: { timedOut: true, truncated: true } });
  });
});

test('the operator’s flag does not disable a working sandbox', async () => {
  const root = scratch();
  const shell = shellBackend(await detectSandbox());
  const call = toolCall(root, 'bash-readonly', { command: 'echo x > mark' }, { envelope: { unsafeNoSandbox: true } });
  const { outcome } = await shell.run(call);
  expect(outcome).toMatchObject({ status: 'ok', result: { dropped: [{ path: 'mark' }] } });
  expect(outcome).not.toHaveProperty('result.unsandboxed');
  expect(existsSync(join(root, 'mark'))).toBe(false);
});
