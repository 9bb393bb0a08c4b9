import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { findProgram } from '../../../src/base/process.ts';
import { isDeep } from '../../depth.ts';
import { ok, scratch } from '../shell/support.ts';

afterEach(() => void vi.unstubAllEnvs());

const has = (program: string): boolean => findProgram(program, '/usr/bin:/bin') !== null;
const outside = (command: string): string => execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });

async function inside(command: string, root = scratch()): Promise<string> {
  const { result } = await ok(root, 'bash-readonly', { command });
  expect(result.stderr).toBe('');
  return result.stdout;
}

test.runIf(isDeep)('the sandbox has its own host name, user and home folder', async () => {
  expect(await inside('hostname; cat /etc/hostname; getent hosts "$(hostname)"; getent passwd "$(id -u)"')).toMatch(
    /^peripheral\nperipheral\n127\.0\.0\.1 +peripheral\nagent:x:1000:1000:agent:\/home\/agent:\/bin\/sh\n$/,
  );
  expect(await inside('id -un; id -gn; getent passwd root | cut -d: -f1; cd; pwd; echo x > y; cat y')).toBe(
    'agent\nagent\nroot\n/home/agent\nx\n',
  );
});

test.runIf(isDeep)('services, protocols and the release file are those of the host', async () => {
  const command =
    'getent services https; getent protocols tcp; cat /etc/os-release; ls -l /etc/localtime | wc -l; date +%Z';
  expect(await inside(command)).toBe(outside(command));
});

test('/var/tmp is writable, and nothing else of /var is shown', async () => {
  expect(await inside('echo x > /var/tmp/a; cat /tmp/a; ls /var /var/lib 2>&1 | grep -v -e gems -e lib')).toContain(
    'x',
  );
  expect((await ok(scratch(), 'bash-readonly', { command: 'ls /var/log /var/lib/dpkg' })).result.stdout).toBe('');
});

test.runIf(isDeep)('commands have the operator’s language and timezone', async () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  vi.stubEnv('LC_ALL', 'C');
  expect(await inside('date +%z; echo $LC_ALL')).toBe('+0900\nC\n');
  vi.stubEnv('TZ', '$(touch x)');
  expect(await inside('date +%z')).not.toBe('+0900\n');
});

test.skipIf(!isDeep || !has('java'))('Java starts and resolves its own host name (skipped without Java)', async () => {
  const root = scratch({
    'Host.java':
      'class Host { public static void main(String[] a) throws Exception { System.out.println(java.net.InetAddress.getLocalHost().getHostName() + javax.net.ssl.SSLContext.getDefault().getProtocol() + java.security.Security.getProperty("securerandom.source")); } }',
  });
  expect(await inside('java Host.java', root)).toBe('peripheralDefaultfile:/dev/random\n');
});

test.skipIf(!has('php'))('PHP has its usual extensions and settings (skipped without PHP)', async () => {
  const command = `php -r 'echo implode(",", get_loaded_extensions()), ini_get("zend.assertions"), ini_get("memory_limit");'`;
  expect(await inside(command)).toBe(outside(command));
});

const SANITIZED =
  '#include <stdlib.h>\nint main(int c, char **v) { int *p = malloc(40); p[c * 9] = 1; free(p); return c - 1; }\n';

test.skipIf(!isDeep || !has('gcc'))(
  'programs with sanitizers end as they do outside (skipped without gcc)',
  async () => {
    const root = scratch({ 'a.c': SANITIZED });
    for (const kind of ['address', 'thread', 'undefined', 'leak'])
      try {
        execFileSync('/usr/bin/gcc', ['-g', `-fsanitize=${kind}`, 'a.c', '-o', kind], { cwd: root, stdio: 'ignore' });
      } catch {
        // this compiler has no such sanitizer
        writeFileSync(join(root, kind), '#!/bin/sh\nexit $(($# > 0))\n', { mode: 0o755 });
      }
    const config = {
      test: [{ run: ['sh', '-c', './address && ./thread && ./undefined && ./leak'], report: 'none' }],
    } as const;
    expect((await ok(root, 'bash-test', {}, { config })).result).toMatchObject({ verdict: 'pass', stderr: '' });
    const wrong = { test: [{ run: ['./address', 'x'], report: 'none' }] } as const;
    expect((await ok(root, 'bash-test', {}, { config: wrong })).result).toMatchObject({ verdict: 'fail' });
  },
);

test.runIf(isDeep)('a test command gets the memory that hopgate.yaml states for it', async () => {
  const root = scratch();
  const eat = [
    process.execPath,
    '-e',
    'const all = []; for (let i = 0; i < 30; i++) all.push(Buffer.alloc(1 << 24, 1)); setTimeout(() => {}, 3000);',
  ];
  const verdict = async (memory: number) =>
    (await ok(root, 'bash-test', {}, { config: { test: [{ run: eat, report: 'none', memory }] } })).result.verdict;
  expect([await verdict(0.3), await verdict(2)]).toEqual(['error', 'pass']);
});
