import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/usr/bin/sshd'].find((path) => existsSync(path));

/** Why the tests of ssh cannot run here; null if they can. */
export const noSshd: string | null =
  SSHD === undefined
    ? 'there is no sshd (Debian: apt-get install openssh-server)'
    : /\/(?:nologin|false)$/.test(userInfo().shell ?? '')
      ? `sshd runs no command for ${userInfo().username}, an account without a login shell`
      : null;

interface SshServer {
  /** `ssh://user@localhost:PORT`. */
  readonly origin: string;
  /** A private key that it lets in. */
  readonly key: string;
  readonly knownHosts: string;
}

/** A real sshd on the loopback address, with keys of its own, in `folder`. */
export async function serveSsh(folder: string): Promise<SshServer> {
  const at = (name: string) => join(folder, name);
  newKey(at('host-key'));
  newKey(at('key'));
  writeFileSync(at('authorized'), readFileSync(at('key.pub')));
  const port = await freePort();
  // Without SHLVL, a bash that sshd starts reads ~/.bashrc of the user, which may take seconds.
  writeFileSync(
    at('sshd.conf'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host-key')}
AuthorizedKeysFile ${at('authorized')}
PidFile none
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv SHLVL=1
`,
  );
  // sshd requires this folder when root starts it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = spawn(SSHD!, ['-D', '-e', '-f', at('sshd.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void server.kill());
  await listening(server);
  writeFileSync(at('known_hosts'), `[localhost]:${port} ${readFileSync(at('host-key.pub'), 'utf8')}`);
  const origin = `ssh://${userInfo().username}@localhost:${port}`;
  return { origin, key: at('key'), knownHosts: at('known_hosts') };
}

/** A pair of files: `path` and `path.pub`. */
export function newKey(path: string, passphrase = ''): void {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'test', '-f', path]);
}

/** An ssh agent that holds the key; its socket. */
export function agentWith(folder: string, key: string): string {
  const socket = join(folder, 'agent.sock');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  onTestFinished(() => void agent.kill());
  for (let attempt = 0; attempt < 500 && !existsSync(socket); attempt++) execFileSync('sleep', ['0.02']);
  execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
  return socket;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listening(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stderr!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Server listening')) resolve();
    });
    server.once('exit', () => reject(new Error(`sshd ended: ${output}`)));
  });
}
