import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ok, run, scratch } from './support.ts';

const config = { deploy: { staging: ['./deploy.sh', 'staging'], 'two words': ['echo', 'a b'] } };

function repository(): string {
  const root = scratch({ 'deploy.sh': '#!/bin/sh\necho "deploying $1"; echo x > mark || exit 5\n' });
  chmodSync(join(root, 'deploy.sh'), 0o755);
  return root;
}

test.each([['staging'], ['./deploy.sh staging'], [`./deploy.sh 'staging'`]])('it runs %j', async (name) => {
  const root = repository();
  const { result } = await ok(root, 'bash-deploy', { name }, { config });
  expect(result).toMatchObject({ deploy: 'staging', stdout: 'deploying staging\n', exit: 5 });
  expect(existsSync(join(root, 'mark'))).toBe(false);
});

test.each([
  ['production'],
  ['./deploy.sh'],
  ['./deploy.sh staging x'],
  ['./deploy.sh staging; id'],
  ['constructor'],
  [''],
])('it refuses %j and lists what is configured', async (name) => {
  const { outcome } = await run(repository(), 'bash-deploy', { name }, { config });
  expect(outcome).toMatchObject({ status: 'refused', code: 'out-of-scope', argument: 'name' });
  expect(outcome).toHaveProperty('remedy', expect.stringContaining('staging (./deploy.sh staging)'));
});

test('it has no network and sees no secrets', async () => {
  const root = scratch({ '.env': 'SECRET' });
  const deploy = { leak: ['bash', '-c', 'cat .env; (: < /dev/tcp/1.1.1.1/53) 2>&1; true'] };
  const { result } = await ok(root, 'bash-deploy', { name: 'leak' }, { config: { deploy } });
  expect(result.stdout).not.toContain('SECRET');
  expect(result.stdout).toMatch(/unreachable/);
});
