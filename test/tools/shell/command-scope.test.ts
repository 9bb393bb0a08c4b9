import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScopeRule } from '../../../src/spec/types.ts';
import { ok, run, scratch } from './support.ts';

const scope = (command: ScopeRule['command'], write: readonly string[] = []): { readonly scope: ScopeRule } => ({
  scope: { read: 'root', write, command, url: 'none' },
});
const config = {
  test: [{ run: ['true'], report: 'none' as const }],
  deploy: { out: { run: ['true'], network: false } },
};

describe('a scope for listed commands', () => {
  it.each([
    ['bash', 'test'],
    ['bash', 'deploy'],
    ['bash-readonly', 'test'],
    ['bash-readonly', 'deploy'],
    ['bash-test', 'none'],
    ['bash-test', 'deploy'],
    ['bash-deploy', 'contained'],
    ['bash-deploy', 'test'],
  ] as const)('refuses %s if it allows only the commands %s', async (tool, command) => {
    const args: { [name: string]: string } =
      tool === 'bash-test' ? {} : tool === 'bash-deploy' ? { name: 'out' } : { command: 'true' };
    const { outcome, effects } = await run(scratch(), tool, args, { config, envelope: scope(command, ['src/']) });
    expect(outcome).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
      message: expect.stringContaining(
        command === 'none' ? 'this scope runs no commands' : `${tool} runs only where the scope`,
      ),
      remedy: expect.stringContaining('in a peripheral whose scope'),
    });
    expect(effects).toEqual([]);
  });

  it.each([
    ['bash-test', 'contained'],
    ['bash-test', 'test'],
    ['bash-deploy', 'deploy'],
  ] as const)('runs %s if it allows the commands %s', async (tool, command) => {
    const { result } = await ok(scratch(), tool, tool === 'bash-deploy' ? { name: 'out' } : {}, {
      config,
      envelope: scope(command),
    });
    expect(result.exit).toBe(0);
  });
});

it('write paths do not apply to read-only commands', async () => {
  const root = scratch({ 'src/a.txt': '' });
  const { result, effects } = await ok(
    root,
    'bash',
    { command: 'echo b > src/b.txt; cat src/b.txt' },
    { envelope: scope('read-only', ['src/']) },
  );
  expect(result.stdout).toBe('b\n');
  expect(effects).toEqual([]);
  expect(result.dropped).toMatchObject([{ path: 'src/b.txt' }]);
  expect(existsSync(join(root, 'src/b.txt'))).toBe(false);
});
