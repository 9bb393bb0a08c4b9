import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type Locked = { readonly version?: string; readonly optionalDependencies?: Record<string, string> };

const packages: Record<string, Locked> = JSON.parse(
  await readFile(new URL('../package-lock.json', import.meta.url), 'utf8'),
).packages;

const lockedFor = (from: string, name: string): boolean => {
  if (`${from === '' ? '' : `${from}/`}node_modules/${name}` in packages) return true;
  if (from === '') return false;
  const above = from.lastIndexOf('/node_modules/');
  return lockedFor(above === -1 ? '' : from.slice(0, above), name);
};

// npm omits packages from the lock file that it could not fetch for another platform; "npm ci" then fails everywhere.
test('the lock file contains the optional packages of every platform', () => {
  const missing = Object.entries(packages).flatMap(([from, locked]) =>
    Object.keys(locked.optionalDependencies ?? {}).filter((name) => !lockedFor(from, name)),
  );
  expect(missing).toEqual([]);
});

// Debian 12 brings npm 9, which reads no lock file of a package.json that puts another package's name into an override.
test('every override is a plain version', async () => {
  const { overrides } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  const versions = (rules: object): unknown[] =>
    Object.values(rules).flatMap((rule) => (typeof rule === 'object' ? versions(rule) : [rule]));
  expect(versions(overrides).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
});
