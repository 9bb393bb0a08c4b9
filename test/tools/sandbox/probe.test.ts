import { expect, test } from 'vitest';
import { detectSandbox } from '../../../src/tools/sandbox/detect.ts';
import { probeSandbox } from '../../../src/tools/sandbox/probe.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';

test('every attempt to get out is stopped', async () => {
  const results = await probeSandbox(await detectSandbox());
  expect(results.length).toBeGreaterThan(10);
  expect(results.filter(({ stopped }) => !stopped)).toEqual([]);
});

test('the probe notices a sandbox that leaks', async () => {
  const sandbox = await detectSandbox();
  const leaky: Sandbox = {
    availability: sandbox.availability,
    run: (layout, argv, options) =>
      sandbox.run(
        {
          ...layout,
          network: true,
          unixSockets: true,
          mounts: [
            ...layout.mounts.filter(({ kind }) => kind !== 'empty-file'),
            { kind: 'writable', source: layout.root, target: layout.root },
          ],
        },
        argv,
        options,
      ),
  };
  const results = await probeSandbox(leaky);
  const through = results.filter(({ stopped }) => !stopped).map(({ name }) => name);
  expect(through).toEqual([
    'write to the tree',
    'read a masked file',
    'connect to a port of the host',
    'connect to a unix socket',
  ]);
});

test('an attempt that could not be made does not count as stopped', async () => {
  const sandbox = await detectSandbox();
  const crippled: Sandbox = {
    availability: sandbox.availability,
    run: (layout, argv, options) => sandbox.run(layout, ['no-such-program', ...argv], options),
  };
  const results = await probeSandbox(crippled);
  expect(results.every(({ stopped }) => !stopped)).toBe(true);
});

test('without a sandbox nothing is attempted', async () => {
  const none = await detectSandbox({ bwrap: '/nowhere/bwrap', unsafe: true });
  await expect(probeSandbox(none)).rejects.toThrow(/not installed/);
});
