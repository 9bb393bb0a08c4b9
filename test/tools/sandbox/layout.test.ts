import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { detectSandbox } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { LayoutError } from '../../../src/tools/sandbox/layout-error.ts';
import type { SandboxMount } from '../../../src/tools/sandbox/mount.ts';
import { addMountsToLayout, makeBaseLayout, type SandboxLayout } from '../../../src/tools/sandbox/mounts/layout.ts';
import { scanTree } from '../../../src/tools/sandbox/mounts/scan-tree.ts';
import { makeReadOnlyLayout, makeTestLayout } from '../../../src/tools/sandbox/mounts/tool-layouts.ts';
import type { CommandOptions, Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { isDeep } from '../../depth.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await detectSandbox();
});

function scratch(files: { readonly [path: string]: string } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Only the system. */
const bare = (request: Parameters<typeof makeBaseLayout>[1]): SandboxLayout => ({
  ...makeBaseLayout('x', request),
  chdir: '/tmp',
});

const run = (layout: SandboxLayout, command: string, options: Partial<CommandOptions> = {}) =>
  sandbox.run(layout, ['bash', '-c', command], {
    seconds: 20,
    outputBytes: 1 << 16,
    signal: new AbortController().signal,
    ...options,
  });

describe('a sandbox layout', () => {
  test.each(['/', '/etc', '/home', '/usr', '/tmp', homedir()])('is refused for the root %s', (root) => {
    expect(() => makeBaseLayout('x', { root })).toThrow(LayoutError);
  });

  test('is refused for a root that is a link, relative or missing', () => {
    const root = scratch();
    symlinkSync('.', join(root, 'link'));
    for (const wrong of [join(root, 'link'), 'src', join(root, 'missing'), `${root}/.`])
      expect(() => makeBaseLayout('x', { root: wrong }), wrong).toThrow(LayoutError);
  });

  test.each(['/', '/etc', '/root/', '/home', '/var/', homedir(), 'relative', '/no/such/folder'])(
    'is refused with the toolchain %s',
    (folder) => {
      expect(() => makeBaseLayout('x', { root: scratch(), toolchains: [folder] })).toThrow(LayoutError);
    },
  );

  test('may have a toolchain in the home folder, written with ~', () => {
    const home = scratch({ 'tools/bin/node': '' });
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const layout = makeBaseLayout('x', { root: scratch(), toolchains: ['~/tools'] });
    expect(layout.env['PATH']).toMatch(`${home}/tools/bin:`);
    expect(layout.mounts).toEqual([{ kind: 'read-only', source: `${home}/tools`, target: `${home}/tools` }]);
  });

  test('is refused for a tree that is too large to search for masked files', () => {
    const root = scratch({ a: '', b: '', 'node_modules/c': '', 'node_modules/d': '' });
    expect(() => scanTree(root, [], 2)).toThrow(/smaller folder/);
    expect(() => scanTree(root, [], 3)).not.toThrow();
  });
});

describe('a command in the sandbox', () => {
  test('sees only the system and the mounted paths', async () => {
    const root = scratch({ a: 'x' });
    const { stdout } = await run(bare({ root, toolchains: [] }), 'ls -A / | tr "\\n" " "; ls -A /home /tmp');
    expect(stdout).toMatch(/^bin dev etc home lib (lib32 )?(lib64 )?(libx32 )?proc sbin (sys )?tmp usr /);
    expect(stdout).toContain('agent');
  });

  test('can read the data of the processors, and cannot change them', async () => {
    const file = '/sys/devices/system/cpu/possible';
    const command = `cat ${file}; ls /sys /sys/devices/system; grep -c ' /sys/devices/system/cpu sysfs ro,' /proc/self/mounts`;
    const { stdout } = await run(bare({ root: scratch(), toolchains: [] }), command);
    expect(stdout).toBe(`${readFileSync(file, 'utf8')}/sys:\ndevices\n\n/sys/devices/system:\ncpu\n1\n`);
  });

  test('has a configured toolchain outside /usr, read-only and first on PATH', async () => {
    const root = scratch();
    const tools = scratch({ 'bin/node': '#!/bin/sh\necho toolchain' });
    chmodSync(join(tools, 'bin/node'), 0o755);
    const with_ = await run(
      makeReadOnlyLayout({ root, masks: [], toolchains: [tools] }),
      `node; echo x > ${tools}/bin/y`,
    );
    expect(with_).toMatchObject({ stdout: 'toolchain\n', exit: 1 });
    const without = await run(makeReadOnlyLayout({ root, masks: [] }), `ls ${tools}`);
    expect(without.exit).toBe(2);
  });

  test('sees the mounts in their order, and optional ones only if they exist', async () => {
    const root = scratch({ 'git/config': 'c', 'git/objects/x': '', 'w/x': '' });
    const at = (path: string) => join(root, path);
    const mounts: SandboxMount[] = [
      { kind: 'read-only', source: root, target: root },
      { kind: 'writable', source: at('git'), target: at('git') },
      { kind: 'read-only', source: at('git/config'), target: at('git/config') },
      { kind: 'read-only', source: at('git/hooks'), target: at('git/hooks'), optional: true },
      { kind: 'scratch', target: at('w'), bytes: 1 << 20 },
    ];
    const { stdout } = await run(
      addMountsToLayout(makeBaseLayout('x', { root }), mounts),
      `for f in git/objects/y git/config new w/y; do (echo x > $f) 2>/dev/null && echo $f; done; head -c 2000000 /dev/zero 2>/dev/null > w/big || echo full`,
    );
    expect(stdout).toBe('git/objects/y\nw/y\nfull\n');
  });

  test('works in roots with odd names', async () => {
    const root = join(scratch(), `a b,c:d'"\\ü`);
    mkdirSync(root);
    writeFileSync(join(root, 'f'), 'x');
    let seen = '';
    const { exit } = await run(makeTestLayout({ root, masks: [] }), 'cat f && echo y > g', {
      inspect: async ({ upper }) => {
        seen = upper;
      },
    });
    expect(exit).toBe(0);
    expect(seen).toMatch(/^\/proc\/\d+\/root\//);
  });

  test('has none of hopgate’s descriptors', async () => {
    const root = scratch({ other: 'other' });
    const fd = openSync(join(root, 'other'), 'r');
    onTestFinished(() => closeSync(fd));
    const { stdout } = await run(bare({ root }), 'ls -l /proc/self/fd | grep -c other');
    expect(stdout).toBe('0\n');
  });

  test('gets the given stdin', async () => {
    const { stdout } = await run(bare({ root: scratch() }), 'wc -c', { stdin: 'ä'.repeat(100_000) });
    expect(stdout).toBe('200000\n');
  });

  test('gets only the variables that were passed to it', async () => {
    const layout = bare({ root: scratch(), env: { A: '1' } });
    const { stdout } = await run(layout, 'env | cut -d= -f1 | sort | tr "\\n" " "', { env: { B: '2' } });
    expect(stdout).toBe('A B HOME LANG LOGNAME OLDPWD PATH PWD SHELL SHLVL TERM TMPDIR USER _ '.replace('OLDPWD ', ''));
  });

  test('has the host’s network only if the layout says so', async () => {
    const layout = bare({ root: scratch() });
    const interfaces = 'tail -n +3 /proc/net/dev | wc -l';
    expect((await run(layout, interfaces)).stdout).toBe('1\n');
    expect(Number((await run({ ...layout, network: true }, interfaces)).stdout)).toBeGreaterThan(1);
  });
});

describe('the limits of the sandbox', () => {
  test('bound the memory in /tmp and in an overlay', async () => {
    const root = scratch();
    const layout = addMountsToLayout(makeBaseLayout('x', { root, limits: { tmpBytes: 1 << 20 } }), [
      { kind: 'overlay', source: root, target: root, bytes: 1 << 20 },
    ]);
    const { stdout } = await run(
      layout,
      'for f in /tmp/x ./x; do head -c 3000000 /dev/zero 2>/dev/null > $f || echo full; done',
    );
    expect(stdout).toBe('full\nfull\n');
  });

  test.runIf(isDeep)('bound the number of processes', async () => {
    const toolchains = [dirname(realpathSync(process.execPath))];
    const spawnMany = `let up = 0, left = 80;
      const done = () => { if (--left === 0) { console.log(up); process.exit(); } };
      for (let i = 80; i > 0; i--) require('child_process').spawn('sleep', ['60'], { stdio: 'ignore' }).on('spawn', () => { up++; done(); }).on('error', done);`;
    const count = async (processes: number) => {
      const layout = bare({ root: scratch(), toolchains, limits: { processes } });
      return Number((await run(layout, `node -e "${spawnMany}"`)).stdout);
    };
    expect(await count(500)).toBe(80);
    expect(await count(40)).toBeLessThan(40);
  });

  test('bound the size of a file', async () => {
    const layout = bare({ root: scratch(), limits: { fileBytes: 1000 } });
    const { exit } = await run(layout, 'head -c 5000 /dev/zero > /tmp/x');
    expect(exit).not.toBe(0);
  });
});

describe('an unusable sandbox', () => {
  test('is reported with the reason and the remedy', async () => {
    const none = await detectSandbox({ bwrap: '/nowhere/bwrap' });
    expect(none.availability).toMatchObject({ ok: false, reason: expect.stringMatching(/not installed/) });
    await expect(none.run(bare({ root: scratch() }), ['true'], {} as CommandOptions)).rejects.toThrow(/apt-get/);
  });

  test('is reported with the file that hopgate may not execute', async () => {
    const fake = join(scratch(), 'bwrap');
    writeFileSync(fake, '#!/bin/sh\n', { mode: 0o644 });
    const { availability } = await detectSandbox({ bwrap: fake });
    expect(availability).toMatchObject({
      ok: false,
      reason: `${fake} cannot be executed`,
      remedy: expect.stringContaining(`chmod +x ${fake}`),
    });
  });

  test('is reported with the name of an unusable temporary folder', async () => {
    const file = join(scratch(), 'file');
    writeFileSync(file, '');
    vi.stubEnv('TMPDIR', file);
    const { availability } = await detectSandbox();
    vi.unstubAllEnvs();
    expect(availability).toMatchObject({
      reason: expect.stringContaining(`cannot write its files in ${file}`),
      remedy: expect.stringContaining('set TMPDIR to another folder'),
    });
  });

  test('is reported if bubblewrap does not isolate', async () => {
    const fake = join(scratch(), 'bwrap');
    // Replaces bubblewrap: prints bubblewrap's reports, and runs the command without isolation.
    writeFileSync(
      fake,
      '#!/bin/bash\n[ "$1" = --version ] && echo bubblewrap 9.9 && exit\nwhile [ "$1" != -- ]; do shift; done; shift\n"$@"; code=$?\necho "{ \\"exit-code\\": $code }" >&4\n',
    );
    chmodSync(fake, 0o755);
    const { availability } = await detectSandbox({ bwrap: fake });
    expect(availability).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/a command can leave the sandbox on this machine/),
    });
  });

  test('is reported with its output if bubblewrap fails to start', async () => {
    const fake = join(scratch(), 'bwrap');
    writeFileSync(
      fake,
      '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 9.9 && exit\necho no permission to unshare >&2; exit 1\n',
    );
    chmodSync(fake, 0o755);
    const { availability } = await detectSandbox({ bwrap: fake });
    expect(availability).toMatchObject({ ok: false, reason: expect.stringMatching(/no permission to unshare/) });
  });

  test('is not reported if Ctrl-C ended the first try', async () => {
    const fake = join(scratch(), 'bwrap');
    const first = `${fake}-first`;
    writeFileSync(
      fake,
      `#!/bin/bash\n[ -e ${first} ] || { touch ${first}; kill -INT $$; }\nexec /usr/bin/bwrap "$@"\n`,
      { mode: 0o755 },
    );
    expect((await detectSandbox({ bwrap: fake })).availability).toMatchObject({ ok: true });
  });

  test('with a failed mount does not run the command', async () => {
    const root = scratch();
    const layout = addMountsToLayout(makeBaseLayout('x', { root }), [
      { kind: 'read-only', source: join(root, 'no'), target: '/no' },
    ]);
    await expect(run(layout, 'echo ran')).rejects.toThrow(/could not be set up.*no/);
  });
});
