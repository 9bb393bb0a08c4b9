import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ProjectConfig } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { formsOf } from '../../attacks/attacked-machine.ts';
import { isDeep, sample } from '../../depth.ts';
import { companyProxy } from '../proxy/company-proxy.ts';
import { serveRepositories } from './https-server.ts';
import { git, noSandbox, put, repository, resultOf, runner, temporaryFolder } from './support.ts';

const sandbox = await sandboxOfProcess();
const PASSWORD = 's3cr3t+p/w==%d0t';

afterEach(() => vi.unstubAllEnvs());

type GitConfig = NonNullable<ProjectConfig['git']>;

/** A repository whose main is one commit ahead of what the server has. */
async function ahead(options: Parameters<typeof serveRepositories>[1] = { password: PASSWORD }) {
  const repo = repository();
  put(repo.root, 'src/a.txt', 'two\n');
  git(repo.root, 'commit', '-qam', 'second');
  const server = await serveRepositories(repo.folder, options);
  const url = `${server.origin}/remote.git`;
  const tip = git(repo.root, 'rev-parse', 'HEAD');
  const base: GitConfig = { remote: 'origin', branch: 'main', url, ca: server.ca };
  const push = (more: Partial<GitConfig>, box = sandbox) =>
    runner(box, repo.root, { unsafeNoSandbox: box === noSandbox })(
      { sub: 'push' },
      { config: { git: { ...base, ...more } } },
    );
  const arrived = () => git(repo.remote, 'rev-parse', 'main') === tip;
  return { ...repo, server, url, tip, push, arrived };
}

/** No part of the answer contains the secret. */
function expectHidden(report: unknown, secret = PASSWORD): void {
  const text = JSON.stringify(report);
  for (const form of [...formsOf(secret), encodeURIComponent(secret)]) expect(text).not.toContain(form);
}

const env = { kind: 'env', name: 'PUSH_TOKEN', username: 'x-access-token' } as const;

const PLACES = [
  ['in the sandbox', sandbox],
  ['without one, opened by the operator', noSandbox],
] as const;

describe.each(sample(PLACES, 2))('git push over https %s', (_, box) => {
  test.runIf(isDeep)('presents the configured token to a private remote', async () => {
    const { root, remote, tip, push, arrived, server } = await ahead();
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    const before = git(remote, 'rev-parse', 'main');
    const report = await push({ credential: env }, box);
    expect(resultOf(report)).toMatchObject({ pushed: true, sha: tip, network: true });
    expect(report.effects).toEqual([
      { path: 'localhost', op: 'connect' },
      { path: 'refs/heads/main', op: 'ref', before, after: tip },
    ]);
    expect(arrived()).toBe(true);
    expect(server.authorizations).toContain(`Basic ${Buffer.from(`x-access-token:${PASSWORD}`).toString('base64')}`);
    expect(git(root, 'rev-parse', 'refs/remotes/origin/main')).toBe(tip);
    expectHidden(report);
  });

  test.runIf(isDeep)('goes through the operator’s proxy, whose password nothing shows', async () => {
    const { server, push, arrived } = await ahead();
    const { port } = new URL(server.origin);
    const login = `Basic ${Buffer.from('me:p@ss-word').toString('base64')}`;
    const company = await companyProxy(Number(port), 200, login);
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    vi.stubEnv('NO_PROXY', '');
    vi.stubEnv('HTTPS_PROXY', 'socks5h://127.0.0.1:1');
    const socks = await push({ credential: env }, box);
    expect(socks.outcome).toMatchObject({ code: 'unusable-proxy', message: expect.stringMatching(/SOCKS.*NO_PROXY/) });
    vi.stubEnv('HTTPS_PROXY', 'http://me:p%40ss-word@127.0.0.1:1');
    const closed = await push({ credential: env }, box);
    expect(closed.outcome).toMatchObject({
      code: 'remote-unreachable',
      message: expect.stringMatching(/^The proxy 127\.0\.0\.1:1 did not connect to localhost .*HTTPS_PROXY.*NO_PROXY/),
    });
    vi.stubEnv('HTTPS_PROXY', `http://me:p%40ss-word@127.0.0.1:${company.port}`);
    const report = await push({ credential: env }, box);
    expect(resultOf(report)).toMatchObject({ pushed: true });
    expect(arrived()).toBe(true);
    expect(company.asked.at(-1)).toEqual({ line: `CONNECT localhost:${port}`, login });
    expectHidden(report);
    expectHidden(report, 'p@ss-word');
    vi.stubEnv('NO_PROXY', 'localhost');
    const before = company.asked.length;
    expect(resultOf(await push({ credential: env }, box))).toMatchObject({ upToDate: true });
    expect(company.asked).toHaveLength(before);
  });

  test.runIf(isDeep)('reads the token from a file, or from a helper of the operator', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'token');
    writeFileSync(file, `${PASSWORD}\nsecond line\n`);
    const one = await ahead();
    expect(resultOf(await one.push({ credential: { kind: 'file', path: file, username: 'me' } }, box))).toMatchObject({
      pushed: true,
    });
    const helper = join(folder, 'helper');
    const seen = join(folder, 'seen');
    writeFileSync(
      helper,
      `#!/bin/sh\necho "$*" > '${seen}'\ncat >> '${seen}'\nprintf 'username=me\\npassword=%s\\n' '${PASSWORD}'\n`,
    );
    chmodSync(helper, 0o755);
    const two = await ahead();
    const report = await two.push({ credential: { kind: 'helper', command: [helper, '--flag'] } }, box);
    expect(resultOf(report)).toMatchObject({ pushed: true });
    expectHidden(report);
    const { host } = new URL(two.url);
    expect(readFileSync(seen, 'utf8')).toBe(`--flag get\nprotocol=https\nhost=${host}\npath=remote.git\n\n`);
  });

  test.runIf(isDeep)('names the remedy for a wrong credential, and prompts nobody', async () => {
    const { folder, root, url, push, arrived } = await ahead();
    const expectFailure = async (more: Partial<GitConfig>, code: string, message: RegExp | string) => {
      const report = await push(more, box);
      expect(report.outcome).toMatchObject({ status: 'failed', code, message: expect.stringMatching(message) });
      expectHidden(report);
    };
    await expectFailure({}, 'no-credential', /localhost asks for a credential.*git\.credential/);
    await expectFailure(
      { credential: env },
      'no-credential',
      /the variable PUSH_TOKEN, and hopgate was started without it/,
    );
    vi.stubEnv('PUSH_TOKEN', 'an older one');
    await expectFailure(
      { credential: env },
      'authentication-failed',
      /does not accept git\.credential \(env PUSH_TOKEN\)/,
    );
    const file = (path: string) => ({ credential: { kind: 'file', path, username: 'me' } as const });
    await expectFailure(
      file(join(folder, 'gone')),
      'no-credential',
      /git\.credential\.file: .*gone cannot be read \(ENOENT\)/,
    );
    writeFileSync(join(folder, 'empty'), '\n');
    await expectFailure(file(join(folder, 'empty')), 'no-credential', /is empty/);
    put(root, '.git/token', PASSWORD);
    await expectFailure(file(join(root, '.git/token')), 'credential-in-reach', /where agents can read it/);
    put(root, 'src/token', PASSWORD);
    await expectFailure(file(join(root, 'src/token')), 'credential-in-reach', /where agents can read it/);
    const home = join(folder, 'home');
    put(home, 'tools/token', PASSWORD);
    vi.stubEnv('HOME', home);
    const toolchains = {
      config: { toolchains: ['~/tools'], git: { remote: 'origin', branch: 'main', url, ...file('~/tools/token') } },
    };
    expect((await runner(box, root, { unsafeNoSandbox: true })({ sub: 'push' }, toolchains)).outcome).toMatchObject({
      code: 'credential-in-reach',
    });
    const helper = (command: string[]) => ({ credential: { kind: 'helper', command } as const });
    await expectFailure(helper(['/bin/false']), 'no-credential', /false failed/);
    await expectFailure(helper(['/bin/true']), 'no-credential', /knows no user name and password for localhost/);
    await expectFailure(
      { url: 'https://localhost:1/x.git' },
      'remote-unreachable',
      /does not answer: fatal: unable to access/,
    );
    expect(arrived()).toBe(false);
  });

  test.runIf(isDeep)('trusts only the system’s certificates, or those of git.ca', async () => {
    const { root, url, server, arrived } = await ahead({});
    const run = runner(box, root, { unsafeNoSandbox: true });
    const git_ = { remote: 'origin', branch: 'main', url };
    expect((await run({ sub: 'push' }, { config: { git: git_ } })).outcome).toMatchObject({
      status: 'failed',
      code: 'untrusted-certificate',
      message: expect.stringContaining('git.ca'),
    });
    expect(arrived()).toBe(false);
    expect(resultOf(await run({ sub: 'push' }, { config: { git: { ...git_, ca: server.ca } } }))).toMatchObject({
      pushed: true,
    });
  });

  test.runIf(isDeep)('says that the remote can be read but not pushed to', async () => {
    const { push, arrived } = await ahead({ password: PASSWORD, publicToRead: true });
    expect(await push({}, box)).toMatchObject({
      outcome: { status: 'failed', code: 'no-credential' },
      effects: [{ path: 'localhost', op: 'connect' }],
    });
    vi.stubEnv('PUSH_TOKEN', 'an older one');
    expect((await push({ credential: env }, box)).outcome).toMatchObject({ code: 'authentication-failed' });
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    expect(resultOf(await push({ credential: env }, box))).toMatchObject({ pushed: true });
    expect(arrived()).toBe(true);
  });
});

describe('git push over https', () => {
  test.runIf(isDeep)('follows no redirect', async () => {
    const elsewhere = await serveRepositories(temporaryFolder(), { password: PASSWORD });
    for (const status of [301, 302, 307]) {
      const { push, server } = await ahead({
        instead: (request, response) => {
          if (request.headers.authorization === undefined)
            response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
          else response.writeHead(status, { Location: `${elsewhere.origin}${request.url}` }).end();
          return true;
        },
      });
      vi.stubEnv('PUSH_TOKEN', PASSWORD);
      const report = await push({ credential: env });
      expect(report.outcome).toMatchObject({ status: 'failed', code: 'redirected' });
      expect(server.authorizations.some((header) => header !== null)).toBe(true);
      expectHidden(report);
    }
    expect(elsewhere.authorizations).toEqual([]);
  });

  test.runIf(isDeep)('removes the password from the remote’s output', async () => {
    const { remote, push } = await ahead();
    put(
      remote,
      'hooks/pre-receive',
      `#!/bin/sh\nprintf '%s\\n' "$HTTP_AUTHORIZATION" '${PASSWORD}' 'not on Fridays' >&2\nexit 1\n`,
      0o755,
    );
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    const report = await push({ credential: env });
    const result = resultOf(report);
    expect(result).toMatchObject({ pushed: false, rejected: '[remote rejected] (pre-receive hook declined)' });
    expect(result['stderr']).toContain('not on Fridays');
    expect(result['stderr']).toContain('remote: [hidden]');
    expect(result['stderr']).toContain('remote: Basic [hidden]');
    expectHidden(report);
  });

  test('shows the password in no command line, environment or file', async () => {
    const { folder, push } = await ahead();
    const [seen, token] = [join(folder, 'seen'), join(folder, 'token')];
    // A hook of the remote runs while git still waits, and searches as any process of this machine could.
    writeFileSync(token, PASSWORD);
    put(
      join(folder, 'remote.git'),
      'hooks/pre-receive',
      `#!/bin/sh
for pid in $(cd /proc && echo [0-9]*); do
  grep -aqE 'remote-https|bwrap' /proc/$pid/cmdline || continue
  tr '\\0' ' ' < /proc/$pid/cmdline; echo
  tr '\\0' ' ' < /proc/$pid/environ; echo
done > '${seen}' 2>/dev/null
grep -rlF '${PASSWORD}' /tmp/hopgate-sandbox-* >> '${seen}' 2>/dev/null
exit 0
`,
      0o755,
    );
    const report = await push({ credential: { kind: 'file', path: token, username: 'me' } });
    expect(resultOf(report)).toMatchObject({ pushed: true });
    const around = readFileSync(seen, 'utf8');
    expect(around).toContain('remote-https');
    expect(around).not.toMatch(/^\/tmp/m);
    for (const form of formsOf(PASSWORD)) expect(around.includes(form)).toBe(false);
  });

  test.runIf(isDeep)('goes to the git.url of hopgate.yaml, whatever the repository’s configuration says', async () => {
    const { folder, root, remote, push, arrived } = await ahead();
    const elsewhere = await serveRepositories(temporaryFolder(), { password: PASSWORD });
    const mark = join(folder, 'ran');
    const program = join(folder, 'program');
    writeFileSync(program, `#!/bin/sh\ncat > '${mark}'\n`, { mode: 0o755 });
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    for (const [key, value] of [
      ['remote.origin.url', `${elsewhere.origin}/remote.git`],
      ['remote.origin.pushurl', `${elsewhere.origin}/remote.git`],
      [`url.${elsewhere.origin}/.insteadOf`, 'https://localhost'],
      [`url.${elsewhere.origin}/.pushInsteadOf`, 'https://localhost'],
      ['http.proxy', elsewhere.origin],
      ['http.https://localhost.proxy', elsewhere.origin],
      ['remote.origin.proxy', elsewhere.origin],
      ['http.sslVerify', 'false'],
      ['http.sslCAInfo', '/dev/null'],
      ['http.curloptResolve', 'localhost:1:127.0.0.1'],
      ['http.extraHeader', 'Authorization: Basic eDp5'],
      ['http.followRedirects', 'true'],
      ['http.cookieFile', program],
      ['core.askPass', program],
      ['core.sshCommand', program],
      ['core.gitProxy', program],
      ['credential.username', 'someone-else'],
    ] as const)
      git(root, 'config', '--add', key, value);
    for (const hook of ['pre-push', 'reference-transaction', 'post-update'])
      put(root, `.git/hooks/${hook}`, readFileSync(program, 'utf8'), 0o755);
    const report = await push({ credential: env });
    expect(resultOf(report)).toMatchObject({ pushed: true });
    expect(arrived()).toBe(true);
    expect(elsewhere.authorizations).toEqual([]);
    expect(existsSync(mark)).toBe(false);
    expect(git(remote, 'log', '-1', '--format=%s', 'main')).toBe('second');
  });

  test.runIf(isDeep)('without a sandbox still ignores the repository’s hostile configuration', async () => {
    const { root, push, arrived } = await ahead();
    vi.stubEnv('PUSH_TOKEN', PASSWORD);
    for (const key of [
      'http.proxy',
      'http.https://localhost.sslVerify',
      'url.https://x/.insteadOf',
      'credential.username',
    ]) {
      git(root, 'config', key, 'false');
      expect((await push({ credential: env }, noSandbox)).outcome, key).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
        message: expect.stringContaining(key.toLowerCase()),
      });
      git(root, 'config', '--unset-all', key);
    }
    expect(arrived()).toBe(false);
  });

  test.runIf(isDeep)('uses a password in the repository’s remote address without showing it', async () => {
    const { root, server, url, push, arrived } = await ahead();
    const withPassword = (password: string) => url.replace('https://', `https://me:${encodeURIComponent(password)}@`);
    const plain = { remote: 'origin', branch: 'main', ca: server.ca };
    const run = runner(sandbox, root, { config: { git: plain } });
    git(root, 'remote', 'set-url', 'origin', withPassword('an older one'));
    const refused = await run({ sub: 'push' });
    expect(refused.outcome).toMatchObject({ status: 'failed', code: 'authentication-failed' });
    expectHidden(refused, 'an older one');
    git(root, 'remote', 'set-url', 'origin', withPassword(PASSWORD));
    const report = await run({ sub: 'push' });
    expect(resultOf(report)).toMatchObject({ pushed: true });
    expectHidden(report);
    expect(arrived()).toBe(true);
    expect((await push({ url: `${server.origin}/none.git` })).outcome).toMatchObject({ status: 'failed' });
  });

  test('ends if the call is aborted while a credential helper runs', async () => {
    const { folder, root, url } = await ahead();
    const helper = join(folder, 'helper');
    writeFileSync(helper, '#!/bin/sh\nsleep 1000\n', { mode: 0o755 });
    const ending = new AbortController();
    const run = runner(sandbox, root, { signal: ending.signal });
    setTimeout(() => ending.abort(), 300);
    const credential = { kind: 'helper', command: [helper] } as const;
    expect(
      (await run({ sub: 'push' }, { config: { git: { remote: 'origin', branch: 'main', url, credential } } })).outcome,
    ).toMatchObject({ status: 'failed', code: 'aborted' });
  });
});
