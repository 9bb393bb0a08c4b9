import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { GitConfig, GitCredential } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { isDeep } from '../../depth.ts';
import { agentWith, newKey, noSshd, serveSsh } from './ssh-server.ts';
import { git, noSandbox, put, repository, resultOf, runner, temporaryFolder } from './support.ts';

const sandbox = await sandboxOfProcess();
if (noSshd !== null) console.log(`ssh is not tried: ${noSshd}`);

afterEach(() => vi.unstubAllEnvs());

/** A repository whose main is one commit ahead of what the server has. */
async function ahead() {
  const repo = repository();
  put(repo.root, 'src/a.txt', 'two\n');
  git(repo.root, 'commit', '-qam', 'second');
  const server = await serveSsh(temporaryFolder());
  const url = `${server.origin}${repo.remote}`;
  const tip = git(repo.root, 'rev-parse', 'HEAD');
  const withKey: GitCredential = { kind: 'key', path: server.key, knownHosts: server.knownHosts };
  const push = (credential: GitCredential | null, box = sandbox, more: Partial<GitConfig> = {}) =>
    runner(box, repo.root, { unsafeNoSandbox: box === noSandbox })(
      { sub: 'push' },
      { config: { git: { remote: 'origin', branch: 'main', url, ...(credential && { credential }), ...more } } },
    );
  const arrived = () => git(repo.remote, 'rev-parse', 'main') === tip;
  return { ...repo, server, url, tip, withKey, push, arrived };
}

const PLACES = [
  ['in the sandbox', sandbox],
  ['without one, opened by the operator', noSandbox],
] as const;

describe.skipIf(noSshd !== null)('git push over ssh', () => {
  // The hostile repository below is pushed with the same key.
  test.runIf(isDeep).each(PLACES)('presents the configured key %s', async (_, box) => {
    const { root, server, tip, withKey, push, arrived } = await ahead();
    const report = await push(withKey, box);
    expect(resultOf(report)).toMatchObject({ pushed: true, sha: tip, network: true });
    expect(report.effects).toMatchObject([
      { path: 'localhost', op: 'connect' },
      { path: 'refs/heads/main', op: 'ref' },
    ]);
    expect(arrived()).toBe(true);
    expect(git(root, 'rev-parse', 'refs/remotes/origin/main')).toBe(tip);
    const secret = readFileSync(server.key, 'utf8').split('\n')[1]!;
    expect(JSON.stringify(report)).not.toContain(secret);
  });

  test.runIf(isDeep).each(PLACES)('uses the operator’s ssh agent %s', async (_, box) => {
    const { server, push, arrived } = await ahead();
    const agent = { kind: 'agent', knownHosts: server.knownHosts } as const;
    vi.stubEnv('SSH_AUTH_SOCK', undefined);
    expect((await push(agent, box)).outcome).toMatchObject({
      status: 'failed',
      code: 'no-credential',
      message: expect.stringContaining('SSH_AUTH_SOCK'),
    });
    vi.stubEnv('SSH_AUTH_SOCK', agentWith(temporaryFolder(), server.key));
    expect(resultOf(await push(agent, box))).toMatchObject({ pushed: true });
    expect(arrived()).toBe(true);
  });

  test.runIf(isDeep)('names the remedy for a wrong key, and prompts nobody', async () => {
    const { folder, root, url, server, withKey, push, arrived } = await ahead();
    const expectFailure = async (
      credential: GitCredential | null,
      code: string,
      message: RegExp,
      more: Partial<GitConfig> = {},
    ) => {
      const { outcome } = await push(credential, sandbox, more);
      expect(outcome).toMatchObject({ status: 'failed', code, message: expect.stringMatching(message) });
    };
    const key = (path: string) => ({ kind: 'key', path, knownHosts: server.knownHosts }) as const;
    await expectFailure(null, 'no-credential', /is reached by ssh, and no key is configured.*git\.credential: \{ key:/);
    await expectFailure(
      key(join(folder, 'gone')),
      'no-credential',
      /git\.credential\.key: .*gone cannot be read \(ENOENT\)/,
    );
    newKey(join(folder, 'other'));
    await expectFailure(
      key(join(folder, 'other')),
      'authentication-failed',
      /does not accept git\.credential \(key .*other\)/,
    );
    newKey(join(folder, 'locked'), 'a passphrase');
    await expectFailure(key(join(folder, 'locked')), 'authentication-failed', /locked/);
    put(root, 'src/key', readFileSync(server.key, 'utf8'), 0o600);
    await expectFailure(key(join(root, 'src/key')), 'credential-in-reach', /where agents can read it/);
    put(root, 'src/known_hosts', readFileSync(server.knownHosts, 'utf8'));
    await expectFailure(
      { ...withKey, knownHosts: join(root, 'src/known_hosts') } as GitCredential,
      'credential-in-reach',
      /known-hosts/,
    );
    writeFileSync(join(folder, 'empty'), '');
    await expectFailure(
      { ...withKey, knownHosts: join(folder, 'empty') } as GitCredential,
      'unknown-host-key',
      /correct that file/,
    );
    newKey(join(folder, 'impostor'));
    const [name] = readFileSync(server.knownHosts, 'utf8').split(' ');
    writeFileSync(join(folder, 'changed'), `${name} ${readFileSync(join(folder, 'impostor.pub'), 'utf8')}`);
    await expectFailure(
      { ...withKey, knownHosts: join(folder, 'changed') } as GitCredential,
      'unknown-host-key',
      /another key for localhost/,
    );
    chmodSync(server.key, 0o644);
    await expectFailure(withKey, 'authentication-failed', /key .*key\)/);
    chmodSync(server.key, 0o600);
    await expectFailure(withKey, 'remote-unreachable', /none\.git.*does not answer/, { url: `${url}/none.git` });
    expect(arrived()).toBe(false);
  });

  test('runs no program that the repository names, and connects to no other host', async () => {
    const { folder, root, withKey, push, arrived } = await ahead();
    const mark = join(folder, 'ran');
    const program = join(folder, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 1\n`, { mode: 0o755 });
    git(root, 'config', 'core.sshCommand', `ssh -o ProxyCommand=${program}`);
    git(root, 'config', 'ssh.variant', 'simple');
    git(root, 'config', 'core.gitProxy', program);
    git(root, 'config', 'url.ssh://elsewhere.invalid/.insteadOf', 'ssh://');
    put(root, '.ssh/config', `Host *\n  ProxyCommand ${program}\n`);
    put(root, '.gitattributes', '* filter=x\n');
    vi.stubEnv('GIT_SSH_COMMAND', program);
    vi.stubEnv('GIT_SSH', program);
    vi.stubEnv('SSH_ASKPASS', program);
    expect(resultOf(await push(withKey))).toMatchObject({ pushed: true });
    expect(arrived()).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });
});

test.runIf(isDeep && process.getuid?.() === 0)(
  'hopgate as root names the user that runs git, if that user cannot read the key',
  async () => {
    const { folder, root } = repository();
    const place = temporaryFolder();
    writeFileSync(join(place, 'key'), 'x', { mode: 0o600 });
    writeFileSync(join(place, 'known_hosts'), '');
    chmodSync(place, 0o700);
    chmodSync(folder, 0o755);
    execFileSync('chown', ['-R', '65534:65534', folder]);
    const credential = { kind: 'key', path: join(place, 'key'), knownHosts: join(place, 'known_hosts') } as const;
    const url = 'ssh://git@localhost:1/x';
    const { outcome } = await runner(sandbox, root)(
      { sub: 'push' },
      { config: { git: { remote: 'origin', branch: 'main', url, credential } } },
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      code: 'no-credential',
      message: expect.stringMatching(/Permission denied.*as the owner of the repository/),
    });
  },
);
