import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { splitWords } from '../../base/text.ts';
import { homeFolder } from '../../base/user-folders.ts';
import { PROXY_ADDRESS } from './mounts/layout.ts';

export interface ProbeTarget {
  /** A name for files that an attempt creates, unique for each layout. */
  readonly fileName: string;
  readonly root: string;
  readonly outside: string;
  readonly port: number;
  readonly socket: string;
  /** The name of an abstract unix socket. */
  readonly abstract: string;
}

export interface EscapeAttempt<T> {
  /** The command, or JavaScript for {@link nodeCommand}. It exits with 0 if it saw that it escaped. */
  readonly tries: (target: T) => readonly string[] | string;
  /** Files that prove an escape: it escaped if one of them exists. */
  readonly makes?: (target: T) => readonly string[];
}

interface Attempt extends EscapeAttempt<ProbeTarget> {
  /** The layouts in which the attempt is made; default: all. */
  readonly of?: readonly string[];
}

export const PROBE_PROCESS_LIMIT = 64;
/** The number of processes that an attempt starts; it exceeds the limit. */
const STARTED_PROCESSES = 300;

/** Perl code that sends from a socket pair, without `socket()`. A wrong-type error also proves a reached listener. */
const PAIR = 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or die "$!\\n";';
const SEND = `${PAIR} send(A, 'x', 0, pack_sockaddr_un($ARGV[0])) or $!{EPROTOTYPE} or die "$!\\n"`;
const SEQUENCED = 'socket(S, 1, 5, 0) && (connect(S, pack_sockaddr_un($ARGV[0])) or $!{EPROTOTYPE}) or die "$!\\n"';
/** Tries all socket families but unix, internet and routing; vsock would reach the host of a virtual machine. */
const OTHER_SOCKETS =
  'for $f (0, 3 .. 9, 11 .. 15, 17 .. 46) { socket(S, $f, $_, 0) and exit 0 for 1, 2, 3, 5 } die "$!\\n"';
/** Sets up an io_uring, whose operations the filter does not see. The call has one number on x86-64 and arm64. */
const URING = '$p = "\\0" x 120; syscall(425, 1, $p) >= 0 or die "$!\\n"';
const PERL = '/usr/bin/perl';

/** Layouts without the host's network. An attempt that escapes from them changes only files in the probe's folder. */
const OFFLINE = ['explore', 'edit', 'test', 'deploy', 'deploy-hosts', 'git-commit', 'git-push'];
/** Layouts of the sandbox for commands that an agent writes or influences. */
const COMMANDS = ['explore', 'edit', 'test', 'deploy', 'deploy-hosts', 'deploy-online'];
const KEYS = splitWords(`
  /etc/ssl/private /etc/pki/tls/private /etc/pki/CA/private /etc/ssh /etc/letsencrypt /usr/local/ssl/private
`);

const TOKENS = ['/etc/npmrc', '/usr/etc/npmrc', '/usr/local/etc/npmrc', '/etc/pip.conf', '/etc/gitconfig'];

export const ESCAPE_ATTEMPTS: { readonly [name: string]: Attempt } = {
  'write to the tree': {
    tries: ({ root, fileName: mine }) => `fs.writeFileSync(${JSON.stringify(join(root, mine))}, 'x')`,
    makes: ({ root, fileName: mine }) => [join(root, mine)],
  },
  'write outside the tree': {
    tries: ({ outside, fileName: mine }) => `fs.writeFileSync(${JSON.stringify(join(outside, mine))}, 'x')`,
    makes: ({ outside, fileName: mine }) => [join(outside, mine)],
  },
  'read outside the tree': { tries: ({ outside }) => `fs.readFileSync(${JSON.stringify(join(outside, 'secret'))})` },
  'read a masked file': {
    tries: ({ root }) =>
      `if (fs.readFileSync(${JSON.stringify(join(root, '.env'))}, 'utf8') === '') throw new Error('it is empty')`,
    of: COMMANDS,
  },
  'read a masked file in another letter case': {
    tries: ({ root }) =>
      `if (fs.readFileSync(${JSON.stringify(join(root, '.Env~'))}, 'utf8') === '') throw new Error('it is empty')`,
    of: COMMANDS,
  },
  'read the configuration of a bare repository': {
    tries: ({ root }) =>
      `if (!fs.readFileSync(${JSON.stringify(join(root, 'mirror.git/config'))}, 'utf8').includes('secret')) throw new Error('it holds no secret')`,
    of: COMMANDS,
  },
  'plant a hook in a bare repository': {
    tries: ({ root, fileName: mine }) =>
      `fs.writeFileSync(${JSON.stringify(join(root, 'mirror.git/hooks', mine))}, 'x')`,
    // In other layouts the write goes to an overlay that is discarded.
    of: ['read-only', 'edit'],
  },
  'plant a git hook': {
    tries: ({ root, fileName: mine }) => `fs.writeFileSync(${JSON.stringify(join(root, '.git/hooks', mine))}, 'x')`,
    makes: ({ root, fileName: mine }) => [join(root, '.git/hooks', mine)],
  },
  'read /etc/shadow': { tries: () => `fs.readFileSync('/etc/shadow')` },
  'see the keys of the host': {
    tries: () =>
      `const seen = ${JSON.stringify(KEYS)}.filter((path) => fs.existsSync(path)); if (seen.length === 0) throw new Error('no such folder is there')`,
  },
  'read the tokens of package managers': {
    tries: () =>
      `const full = ${JSON.stringify(TOKENS)}.filter((path) => fs.existsSync(path) && fs.statSync(path).size > 0); if (full.length === 0) throw new Error('no file holds one')`,
  },
  'list the home folder': {
    tries: () =>
      `if (!fs.readdirSync(${JSON.stringify(homeFolder(process.env))}).some((name) => name !== ${JSON.stringify(nodeUnderHome())})) throw new Error('it is empty, except for the path to Node')`,
  },
  'change a kernel setting': { tries: () => `fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'a'))` },
  'connect to a port of the host': {
    tries: ({ port }) => connect(`{ host: '127.0.0.1', port: ${port} }`),
    of: OFFLINE,
  },
  'reach this machine through the proxy': { tries: ({ port }) => tunnelScript(port), of: ['deploy-hosts'] },
  'connect to a unix socket': { tries: ({ socket }) => connect(`{ path: ${JSON.stringify(socket)} }`) },
  'connect to an abstract unix socket': {
    tries: ({ abstract }) => connect(`{ path: ${JSON.stringify(`\0${abstract}`)} }`),
  },
  ...(existsSync(PERL) && {
    'send to a unix socket': { tries: ({ socket }: ProbeTarget) => [PERL, '-MSocket', '-e', SEND, socket] },
    // A datagram socket could send to abstract sockets.
    'open a datagram socket in the network of the host': {
      tries: () => [PERL, '-MSocket', '-e', PAIR],
      of: ['deploy-online'],
    },
    'connect to a packet socket': { tries: ({ socket }: ProbeTarget) => [PERL, '-MSocket', '-e', SEQUENCED, socket] },
    'open a socket of another kind': { tries: () => [PERL, '-e', OTHER_SOCKETS] },
    'set up an io_uring': { tries: () => [PERL, '-e', URING] },
  }),
  'make a setuid file': { tries: () => `fs.writeFileSync('/tmp/s', ''); fs.chmodSync('/tmp/s', 0o4755)` },
  'send a signal to hopgate': { tries: () => `process.kill(${process.pid}, 0)` },
  'read the environment of hopgate': { tries: () => `fs.readFileSync('/proc/${process.pid}/environ')` },
  'hold a capability': {
    tries: () =>
      `if (/^CapEff:\\s*0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))) throw new Error('it has none')`,
  },
  mount: { tries: () => ['mount', '-t', 'tmpfs', 'probe', '/tmp'] },
  'make a user namespace': { tries: () => ['unshare', '--user', '--map-root-user', 'true'] },
  'start processes without end': {
    tries: () => [
      'sh',
      '-c',
      `i=0; while [ $i -lt ${STARTED_PROCESSES} ]; do sleep 60 & i=$((i+1)); done; [ "$(ls -d /proc/[0-9]* | wc -l)" -ge ${STARTED_PROCESSES} ]`,
    ],
  },
};

/** The command that runs JavaScript. The attempt escaped if the code ends without an error. */
export function nodeCommand(code: string): string[] {
  const say = '(error) => { console.error(error.message); process.exit(1); }';
  return [process.execPath, '-e', `process.on('uncaughtException', ${say}); const fs = require('node:fs'); ${code}`];
}

const connect = (to: string) =>
  `require('node:net').connect(${to}).on('connect', () => process.exit(0)).on('error', (error) => { throw error; })`;

/** Names of this machine for which a command could ask the proxy. */
const THIS_MACHINE = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '127.1'];

/** Asks the proxy for a tunnel to a port of this machine under each of its names; throws if it opens none. */
const tunnelScript = (port: number) => `
  let left = ${THIS_MACHINE.length};
  for (const host of ${JSON.stringify(THIS_MACHINE)})
    require('node:http')
      .request({ ...${JSON.stringify(PROXY_ADDRESS)}, method: 'CONNECT', path: host + ':${port}' })
      .on('connect', ({ statusCode }) => {
        if (statusCode === 200) process.exit(0);
        if (--left === 0) throw new Error('the proxy refuses every name');
      })
      .end();`;

/** The entry of the home folder that contains hopgate's own Node. The sandbox creates only this entry. */
function nodeUnderHome(): string | null {
  const path = relative(homeFolder(process.env), realpathSync(process.execPath));
  return path.startsWith('..') ? null : path.split(sep)[0]!;
}
