import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { detectSandbox, sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { makeReadOnlyLayout } from '../../../src/tools/sandbox/mounts/tool-layouts.ts';
import { probeSandbox } from '../../../src/tools/sandbox/probe.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { isDeep } from '../../depth.ts';

const OPTIONS = { seconds: 20, outputBytes: 1024, signal: new AbortController().signal };

// The deep run makes all attempts in each kind of sandbox, by `hopgate doctor --probe`.
test.runIf(!isDeep)('no attempt escapes from the sandbox of explore', async () => {
  const sandbox = await sandboxOfProcess();
  const refused = await sandbox.run(makeReadOnlyLayout({ root: import.meta.dirname, masks: [] }), ['false'], OPTIONS);
  const ofExplore: Sandbox = {
    availability: sandbox.availability,
    run: async (layout, argv, options) => (layout.name === 'explore' ? sandbox.run(layout, argv, options) : refused),
  };
  const results = (await probeSandbox(ofExplore)).filter(({ layout }) => layout === 'explore');
  expect(results.length).toBeGreaterThan(14);
  expect(results.filter(({ stopped }) => !stopped)).toEqual([]);
});

test.runIf(isDeep)(
  'a sandbox may show the folders above a Node in the home folder, but not the files in them',
  async () => {
    vi.stubEnv('HOME', dirname(dirname(realpathSync(process.execPath))));
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const listed = async (sandbox: Sandbox) => {
      const refused = await sandbox.run(makeReadOnlyLayout({ root: homedir(), masks: [] }), ['false'], OPTIONS);
      const one: Sandbox = {
        availability: sandbox.availability,
        run: async (layout, argv, options) =>
          argv.some((word) => word.includes('readdirSync')) ? sandbox.run(layout, argv, options) : refused,
      };
      const results = (await probeSandbox(one)).filter(({ name }) => name === 'list the home folder');
      return [...new Set(results.map(({ stopped }) => stopped))];
    };
    const sandbox = await sandboxOfProcess();
    expect(await listed(sandbox)).toEqual([true]);
    const leaky: Sandbox = {
      availability: sandbox.availability,
      run: (layout, argv, options) => {
        const home = { kind: 'read-only', source: homedir(), target: homedir() } as const;
        return sandbox.run({ ...layout, mounts: [...layout.mounts, home] }, argv, options);
      },
    };
    expect(await listed(leaky)).toEqual([false]);
  },
);

test.runIf(isDeep)('the probe finds a sandbox that leaks', async () => {
  const sandbox = await sandboxOfProcess();
  const refused = await sandbox.run(makeReadOnlyLayout({ root: import.meta.dirname, masks: [] }), ['false'], OPTIONS);
  const leaky: Sandbox = {
    availability: sandbox.availability,
    run: async (layout, argv, options) => {
      if (layout.name !== 'explore') return refused;
      return sandbox.run(
        {
          ...layout,
          network: true,
          unixSockets: true,
          mounts: [
            ...layout.mounts.filter(({ kind }) => kind !== 'empty-file'),
            { kind: 'writable', source: layout.root, target: layout.root },
            { kind: 'read-only', source: '/etc/ssl', target: '/etc/ssh' },
          ],
        },
        argv,
        options,
      );
    },
  };
  const results = await probeSandbox(leaky);
  const through = results.filter(({ layout, stopped }) => layout === 'explore' && !stopped).map(({ name }) => name);
  expect(through).toEqual([
    'write to the tree',
    'read a masked file',
    'read a masked file in another letter case',
    'read the configuration of a bare repository',
    'plant a git hook',
    'see the keys of the host',
    'connect to a port of the host',
    'connect to a unix socket',
    'connect to an abstract unix socket',
    'send to a unix socket',
    'connect to a packet socket',
  ]);
});

test.runIf(isDeep)('an escape attempt that could not be made does not count as stopped', async () => {
  const sandbox = await sandboxOfProcess();
  const missing = await sandbox.run(
    makeReadOnlyLayout({ root: import.meta.dirname, masks: [] }),
    ['no-such-program'],
    OPTIONS,
  );
  const crippled: Sandbox = { availability: sandbox.availability, run: async () => missing };
  const results = await probeSandbox(crippled);
  expect(results.every(({ stopped }) => !stopped)).toBe(true);
});

test('no escape is attempted without a sandbox', async () => {
  const none = await detectSandbox({ bwrap: '/nowhere/bwrap', unsafe: true });
  await expect(probeSandbox(none)).rejects.toThrow(/not installed/);
});

test('a replacement of bubblewrap that does not isolate is recognised by its error', async () => {
  const { availability } = await detectSandbox({ bwrap: '/usr/bin/true' });
  expect(availability).toMatchObject({ ok: false, reason: expect.stringMatching(/^the sandbox /) });
});

test('bubblewrap prints its version in a process group that Ctrl-C does not end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-probe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bwrap = join(folder, 'bwrap');
  writeFileSync(bwrap, `#!/bin/sh\ncat /proc/self/stat > ${folder}/stat\nexit 1\n`, { mode: 0o755 });
  const groupIn = (file: string) => readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ')[2];
  expect((await detectSandbox({ bwrap })).availability).toMatchObject({
    ok: false,
    reason: `${bwrap} --version ended with status 1`,
  });
  expect(groupIn(join(folder, 'stat'))).not.toBe(groupIn('/proc/self/stat'));
});
