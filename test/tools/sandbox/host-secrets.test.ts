import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { splitWords } from '../../../src/base/text.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { secretMountsIn } from '../../../src/tools/sandbox/host-secrets.ts';
import { LayoutError } from '../../../src/tools/sandbox/layout-error.ts';
import { makeBaseLayout } from '../../../src/tools/sandbox/mounts/layout.ts';

const sandbox = await sandboxOfProcess();

function scratch(files: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'SECRET');
  }
  return folder;
}

const run = async (command: string, toolchains: readonly string[] = []) =>
  sandbox.run({ ...makeBaseLayout('x', { root: scratch([]), toolchains }), chdir: '/tmp' }, ['sh', '-c', command], {
    seconds: 20,
    outputBytes: 1 << 16,
    signal: new AbortController().signal,
  });

it('files that are not world-readable, private folders, keys, tokens and sockets are covered', () => {
  const folder = scratch(
    splitWords(`
    certs/a.pem certs/closed.pem certs/server.key certs/private/a.pem etc/npmrc etc/closed/a share/doc.txt
    lib/deep/server.key a/b/c/d/e.key
  `),
  );
  chmodSync(join(folder, 'certs/closed.pem'), 0o640);
  chmodSync(join(folder, 'etc/closed'), 0o750);
  symlinkSync('/etc/hostname', join(folder, 'certs/link.key'));
  const covered = (openToAll: boolean) =>
    secretMountsIn(folder, 4, openToAll)
      .map((mount) => [mount.kind, mount.target.slice(folder.length + 1)])
      .sort();
  expect(covered(true)).toEqual([
    ['empty-file', 'certs/closed.pem'],
    ['empty-file', 'certs/server.key'],
    ['empty-file', 'etc/npmrc'],
    ['empty-folder', 'certs/private'],
    ['empty-folder', 'etc/closed'],
  ]);
  expect(covered(false)).toEqual([
    ['empty-file', 'certs/server.key'],
    ['empty-file', 'etc/npmrc'],
  ]);
  for (let i = 0; i < 60; i++) writeFileSync(join(folder, `${i}.key`), '');
  expect(covered(true)).toEqual([['empty-folder', '']]);
});

it('PHP settings with a password or a token are covered', () => {
  const folder = scratch(['conf.d/agent.ini', 'conf.d/db.ini', 'conf.d/opcache.ini']);
  writeFileSync(join(folder, 'conf.d/agent.ini'), 'extension=agent.so\nagent.license = "abc"\n');
  writeFileSync(join(folder, 'conf.d/db.ini'), 'mysqli.default_pw=abc\n');
  writeFileSync(join(folder, 'conf.d/opcache.ini'), '; password = x\nmysqli.default_pw =\nopcache.key_size=1\n');
  expect(secretMountsIn(folder, 4, true).map(({ target }) => target)).toEqual([
    join(folder, 'conf.d/agent.ini'),
    join(folder, 'conf.d/db.ini'),
  ]);
});

it('certificates of authorities are shown, and no key of the host', async () => {
  const { stdout } = await run(
    `ls /etc /etc/ssl /etc/pki /etc/pki/tls 2>/dev/null; find /etc /usr/local -name private 2>/dev/null
    python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()), len(__import__("os").listdir(ssl.get_default_verify_paths().capath)))'`,
  );
  expect(stdout).not.toMatch(/^(?:private|shadow|ssh|machine-id|.*\/private)$/m);
  const count = `import ssl; print(len(ssl.create_default_context().get_ca_certs()), len(__import__("os").listdir(ssl.get_default_verify_paths().capath)))`;
  expect(stdout.trim().split('\n').at(-1)).toBe(
    execFileSync('/usr/bin/python3', ['-c', count], { encoding: 'utf8', env: {} }).trim(),
  );
});

it('credentials at the top of a toolchain are covered', async () => {
  const tools = scratch(['bin/tool', 'credentials.toml', 'etc/npmrc', 'registry/index/notes']);
  const { stdout } = await run(`cat ${tools}/credentials.toml ${tools}/etc/npmrc ${tools}/bin/tool`, [tools]);
  expect(stdout).toBe('SECRET');
});

it.each(['.ssh', '.aws', '.config'])('~/%s is refused as a toolchain', (name) => {
  const folder = join(homedir(), name);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    onTestFinished(() => void (readdirSync(folder).length === 0 && rmSync(folder, { recursive: true })));
  }
  expect(() => makeBaseLayout('x', { root: scratch([]), toolchains: [folder] })).toThrow(LayoutError);
});

it('tokens of package managers in system settings are covered', async () => {
  const { exit, stdout } = await run('cd /usr && find etc local/etc -name "*npmrc" -size +0 2>/dev/null; true');
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
});
