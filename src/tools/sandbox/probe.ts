import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { isWithin } from '../../base/paths.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../spec/load/load-project-config.ts';
import { gitLayout } from '../git/layouts.ts';
import { maskedObjects } from '../git-objects/masked-objects.ts';
import { makeProxy } from '../proxy/proxy.ts';
import { shellBackend } from '../shell/backend.ts';
import { PROXY, type SandboxLayout } from './mounts/layout.ts';
import { editLayout, exploreLayout, readOnlyLayout, testLayout } from './mounts/layouts.ts';
import { scanTree } from './mounts/tree.ts';
import type { ProbeResult } from './probe-result.ts';
import { tryShipping } from './probe-shipping.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';

/** The targets of the attempts. */
interface Target {
  /** A name for files that an attempt creates, unique for each layout. */
  readonly mine: string;
  readonly root: string;
  readonly outside: string;
  readonly port: number;
  readonly socket: string;
  /** The name of an abstract one. */
  readonly abstract: string;
}

interface AttemptAt<T> {
  /** Exits with status 0 if it escaped, as far as it can detect. */
  readonly argv: (target: T) => readonly string[];
  /** Files that prove an escape: it escaped if one of them exists. */
  readonly makes?: (target: T) => readonly string[];
}

interface Attempt extends AttemptAt<Target> {
  /** The layouts to which it applies; default: all. */
  readonly of?: readonly string[];
}

/** More than a probed layout allows. */
const PROCESSES = 64;
const BOMB = 300;

/**
 * Sends from one of a pair of sockets, which needs no `socket()`. The listener is a stream socket, so a wrong-type
 * error proves that it was reached.
 */
const PAIR = 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or die "$!\\n";';
const SEND = `${PAIR} send(A, 'x', 0, pack_sockaddr_un($ARGV[0])) or $!{EPROTOTYPE} or die "$!\\n"`;
const SEQUENCED = 'socket(S, 1, 5, 0) && (connect(S, pack_sockaddr_un($ARGV[0])) or $!{EPROTOTYPE}) or die "$!\\n"';
/** All kinds but unix, internet and routing sockets; vsock reaches the host of a virtual machine. */
const OTHER_SOCKETS =
  'for $f (0, 3 .. 9, 11 .. 15, 17 .. 46) { socket(S, $f, $_, 0) and exit 0 for 1, 2, 3, 5 } die "$!\\n"';
/** Its operations are not seen by the system-call filter. The number is the same on x86-64 and arm64. */
const URING = '$p = "\\0" x 120; syscall(425, 1, $p) >= 0 or die "$!\\n"';
const PERL = '/usr/bin/perl';

/** An attempt that escapes changes only files in a folder of this probe. */
const OFFLINE = ['explore', 'edit', 'test', 'deploy', 'deploy-hosts', 'git-commit', 'git-push'];
/** Layouts of commands that an agent writes or influences. */
const COMMANDS = ['explore', 'edit', 'test', 'deploy', 'deploy-hosts', 'deploy-online'];
const KEYS = [
  '/etc/ssl/private',
  '/etc/pki/tls/private',
  '/etc/pki/CA/private',
  '/etc/ssh',
  '/etc/letsencrypt',
  '/usr/local/ssl/private',
];

const TOKENS = ['/etc/npmrc', '/usr/etc/npmrc', '/usr/local/etc/npmrc', '/etc/pip.conf', '/etc/gitconfig'];

const ATTEMPTS: { readonly [name: string]: Attempt } = {
  'write to the tree': {
    argv: ({ root, mine }) => node(`fs.writeFileSync(${JSON.stringify(join(root, mine))}, 'x')`),
    makes: ({ root, mine }) => [join(root, mine)],
  },
  'write outside the tree': {
    argv: ({ outside, mine }) => node(`fs.writeFileSync(${JSON.stringify(join(outside, mine))}, 'x')`),
    makes: ({ outside, mine }) => [join(outside, mine)],
  },
  'read outside the tree': {
    argv: ({ outside }) => node(`fs.readFileSync(${JSON.stringify(join(outside, 'secret'))})`),
  },
  'read a masked file': {
    argv: ({ root }) =>
      node(`if (fs.readFileSync(${JSON.stringify(join(root, '.env'))}, 'utf8') === '') throw new Error('it is empty')`),
    of: COMMANDS,
  },
  'read a masked file in another letter case': {
    argv: ({ root }) =>
      node(
        `if (fs.readFileSync(${JSON.stringify(join(root, '.Env~'))}, 'utf8') === '') throw new Error('it is empty')`,
      ),
    of: COMMANDS,
  },
  'read the configuration of a bare repository': {
    argv: ({ root }) =>
      node(
        `if (!fs.readFileSync(${JSON.stringify(join(root, 'mirror.git/config'))}, 'utf8').includes('secret')) throw new Error('it holds no secret')`,
      ),
    of: COMMANDS,
  },
  'plant a hook in a bare repository': {
    argv: ({ root, mine }) => node(`fs.writeFileSync(${JSON.stringify(join(root, 'mirror.git/hooks', mine))}, 'x')`),
    // Elsewhere the overlay takes it, and is discarded.
    of: ['read-only', 'edit'],
  },
  'plant a git hook': {
    argv: ({ root, mine }) => node(`fs.writeFileSync(${JSON.stringify(join(root, '.git/hooks', mine))}, 'x')`),
    makes: ({ root, mine }) => [join(root, '.git/hooks', mine)],
  },
  'read /etc/shadow': { argv: () => node(`fs.readFileSync('/etc/shadow')`) },
  'see the keys of the host': {
    argv: () =>
      node(
        `const seen = ${JSON.stringify(KEYS)}.filter((path) => fs.existsSync(path)); if (seen.length === 0) throw new Error('no such folder is there')`,
      ),
  },
  'read the tokens of package managers': {
    argv: () =>
      node(
        `const told = ${JSON.stringify(TOKENS)}.filter((path) => fs.existsSync(path) && fs.statSync(path).size > 0); if (told.length === 0) throw new Error('no file holds one')`,
      ),
  },
  'list the home folder': {
    argv: () =>
      node(
        `if (!fs.readdirSync(${JSON.stringify(homedir())}).some((name) => name !== ${JSON.stringify(nodeUnderHome())})) throw new Error('it is empty, but for the way to Node')`,
      ),
  },
  'change a kernel setting': { argv: () => node(`fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'a'))`) },
  'connect to a port of the host': { argv: ({ port }) => connect(`{ host: '127.0.0.1', port: ${port} }`), of: OFFLINE },
  'reach this machine through the proxy': {
    argv: ({ port }) => node(tunnels(port)),
    of: ['deploy-hosts'],
  },
  'connect to a unix socket': { argv: ({ socket }) => connect(`{ path: ${JSON.stringify(socket)} }`) },
  'connect to an abstract unix socket': {
    argv: ({ abstract }) => connect(`{ path: ${JSON.stringify(`\0${abstract}`)} }`),
  },
  ...(existsSync(PERL) && {
    'send to a unix socket': { argv: ({ socket }: Target) => [PERL, '-MSocket', '-e', SEND, socket] },
    // Such a socket could send to abstract sockets.
    'have a datagram socket in the network of the host': {
      argv: () => [PERL, '-MSocket', '-e', PAIR],
      of: ['deploy-online'],
    },
    'connect to a packet socket': {
      argv: ({ socket }: Target) => [PERL, '-MSocket', '-e', SEQUENCED, socket],
    },
    'have a socket of another kind': { argv: () => [PERL, '-e', OTHER_SOCKETS] },
    'have an io_uring': { argv: () => [PERL, '-e', URING] },
  }),
  'make a setuid file': { argv: () => node(`fs.writeFileSync('/tmp/s', ''); fs.chmodSync('/tmp/s', 0o4755)`) },
  'kill the engine': { argv: () => node(`process.kill(${process.pid}, 0)`) },
  'see its environment': { argv: () => node(`fs.readFileSync('/proc/${process.pid}/environ')`) },
  'hold a capability': {
    argv: () =>
      node(`if (/^CapEff:\\s*0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))) throw new Error('it has none')`),
  },
  mount: { argv: () => ['mount', '-t', 'tmpfs', 'probe', '/tmp'] },
  'make a user namespace': { argv: () => ['unshare', '--user', '--map-root-user', 'true'] },
  'start processes without end': {
    argv: () => [
      'sh',
      '-c',
      `i=0; while [ $i -lt ${BOMB} ]; do sleep 60 & i=$((i+1)); done; [ "$(ls -d /proc/[0-9]* | wc -l)" -ge ${BOMB} ]`,
    ],
  },
};

/** A piece of JavaScript that has escaped if it ends without an error. */
function node(code: string): string[] {
  const say = '(error) => { console.error(error.message); process.exit(1); }';
  return [process.execPath, '-e', `process.on('uncaughtException', ${say}); const fs = require('node:fs'); ${code}`];
}

const connect = (to: string) =>
  node(
    `require('node:net').connect(${to}).on('connect', () => process.exit(0)).on('error', (error) => { throw error; })`,
  );

/** Names of this machine, to which a proxy could be led. */
const THIS_MACHINE = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '127.1'];

/** Asks the proxy for a tunnel to a port of this machine under each of its names; an error if none is opened. */
const tunnels = (port: number) => `
  let left = ${THIS_MACHINE.length};
  for (const host of ${JSON.stringify(THIS_MACHINE)})
    require('node:http')
      .request({ ...${JSON.stringify(PROXY)}, method: 'CONNECT', path: host + ':${port}' })
      .on('connect', ({ statusCode }) => {
        if (statusCode === 200) process.exit(0);
        if (--left === 0) throw new Error('the proxy refuses every name');
      })
      .end();`;

/**
 * Really tries every known escape from every layout. For `hopgate doctor --probe`.
 *
 * @throws SandboxError if the sandbox is not available
 */
export async function probeSandbox(sandbox: Sandbox): Promise<ProbeResult[]> {
  // Without a sandbox the attempts would run on the host.
  if (!sandbox.availability.ok) throw new SandboxError(sandbox.availability.reason);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-probe-')));
  const target = await makeTarget(folder);
  try {
    const layouts = layoutsFor(target.root, sandbox.availability);
    const tried = layouts.map((layout) => tryAll(sandbox, layout, target));
    const others = [tryHostileRepositories, tryChanges, tryShipping].map((attempt) => attempt(sandbox, folder));
    return (await Promise.all([...tried, ...others])).flat();
  } finally {
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryAll(sandbox: Sandbox, layout: SandboxLayout, target: Omit<Target, 'mine'>): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const [name, attempt] of Object.entries(ATTEMPTS))
    if (attempt.of === undefined || attempt.of.includes(layout.name)) {
      const tried = await tryEscape(sandbox, layout, attempt, { ...target, mine: `escape-${layout.name}` });
      results.push({ layout: layout.name, name, ...tried });
    }
  return results;
}

/** Every kind of layout that a tool uses, over one repository. */
function layoutsFor(
  root: string,
  { overlay, unixSockets }: { readonly overlay: boolean; readonly unixSockets: boolean },
): SandboxLayout[] {
  const toolchains = ownNode();
  const limits = { processes: PROCESSES };
  const request = { root, masks: ['.env'], toolchains, limits, overlay, unixSockets };
  const gitDir = join(root, '.git');
  const repository = { root, gitDir, commonDir: gitDir };
  const path = join(root, '..', 'remote');
  const git = [
    gitLayout(repository, { kind: 'commit' }, toolchains),
    gitLayout(repository, { kind: 'push', target: { kind: 'local', url: path, path } }, toolchains),
  ];
  const deploying = overlay ? testLayout : readOnlyLayout;
  return [
    { ...exploreLayout(request), name: 'explore' },
    ...(overlay ? [editLayout(request), testLayout(request)] : []),
    { ...deploying(request), name: 'deploy' },
    { ...deploying(request), name: 'deploy-hosts', proxy: true },
    { ...deploying({ ...request, unixSockets: false }), name: 'deploy-online', network: true },
    ...git.map((layout) => ({ ...layout, limits: { ...layout.limits, ...limits } })),
  ];
}

/** Creates the targets of the attempts: a repository, a sibling folder and two services. */
async function makeTarget(folder: string): Promise<Omit<Target, 'mine'> & { close(): void }> {
  const [root, outside] = [join(folder, 'tree'), join(folder, 'outside')];
  for (const path of [join(root, '.git', 'hooks'), outside, join(folder, 'remote')])
    mkdirSync(path, { recursive: true });
  makeGitFolder(join(root, 'mirror.git'));
  for (const name of ['.env', '.Env~']) writeFileSync(join(root, name), 'secret');
  writeFileSync(join(outside, 'secret'), 'secret');
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const unix = await listen({ path: join(root, 'socket') });
  const abstract = `hopgate-probe-${randomUUID()}`;
  const hidden = await listen({ path: `\0${abstract}` });
  return {
    root,
    outside,
    port: (tcp.address() as { port: number }).port,
    socket: join(root, 'socket'),
    abstract,
    close() {
      tcp.close();
      unix.close();
      hidden.close();
    },
  };
}

/** Makes the minimum that git accepts as a repository, with secrets in its configuration and its pack. */
function makeGitFolder(folder: string): void {
  for (const name of ['hooks', 'objects/info', 'objects/pack', 'refs/heads'])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, 'config'), '[remote "origin"]\n\turl = https://me:secret@example.com/\n');
  writeFileSync(join(folder, 'objects/pack/pack-1234.idx'), Buffer.alloc(2000));
  writeFileSync(join(folder, 'objects/pack/pack-1234.pack'), 'secret');
}

/**
 * Ways in which the git folder of a root can refer to another repository, `other`; each returns the path at which
 * `other` would then be visible.
 */
const HOSTILE: { readonly [how: string]: (root: string, other: string) => string } = {
  'a commondir': (root, other) => {
    makeGitFolder(join(root, '.git'));
    writeFileSync(join(root, '.git/commondir'), `${other}\n`);
    return join(other, 'config');
  },
  'a module of its own': (root, other) => {
    writeFileSync(join(root, '.git'), `gitdir: ${other}\n`);
    return join(other, 'config');
  },
  'an entry of a work tree': (root, other) => {
    makeGitFolder(join(root, 'store'));
    writeFileSync(join(root, '.git'), 'gitdir: store\n');
    writeFileSync(join(root, 'store/gitdir'), '../.git\n');
    writeFileSync(join(root, 'store/commondir'), `${other}\n`);
    return join(other, 'config');
  },
  'links among its objects': (root, other) => {
    makeGitFolder(join(root, '.git'));
    // A file to hide, so that the objects are shown as a copy.
    writeFileSync(join(root, '.git/objects/left-over'), '');
    const pack = join(root, '.git/objects/pack');
    rmSync(pack, { recursive: true });
    symlinkSync(join(other, 'objects/pack'), pack);
    return join(pack, 'pack-1234.pack');
  },
};

async function tryHostileRepositories(sandbox: Sandbox, folder: string): Promise<ProbeResult[]> {
  const tries = Object.entries(HOSTILE).map(async ([how, make], at): Promise<ProbeResult> => {
    const [root, other] = [join(folder, `hostile-${at}`), join(folder, `private-${at}/modules/other`)];
    mkdirSync(root);
    makeGitFolder(other);
    const path = make(root, other);
    const toolchains = ownNode();
    const masks = ['.env'];
    const scan = scanTree(root, masks);
    const { mounts: objects } = await maskedObjects(sandbox, { root, masks, toolchains, scan });
    const layout = readOnlyLayout({ root, masks, toolchains, scan, objects });
    const attempt = { argv: () => node(`fs.readFileSync(${JSON.stringify(path)})`) };
    const name = `reach another repository by ${how}`;
    return { layout: 'hostile-repository', name, ...(await tryEscape(sandbox, layout, attempt, null)) };
  });
  return Promise.all(tries);
}

/** Some of the protected names; the last is another spelling of one. */
const PLANTED = ['.hg/hgrc', '.jj/repo', '.envrc', '.devcontainer.json', '.vscode/tasks.json', 'src/.BASHRC'];

function message(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const DEEP = `i=0; while [ $i -lt 60 ]; do mkdir ${'d'.repeat(99)} && cd ${'d'.repeat(99)}; i=$((i+1)); done;`;

/** Tests the application of a command's changes, which runs in hopgate itself, outside the sandbox. */
async function tryChanges(sandbox: Sandbox, folder: string): Promise<ProbeResult[]> {
  if (!sandbox.availability.ok || !sandbox.availability.overlay) return [];
  const root = join(folder, 'changed');
  mkdirSync(root);
  const bash = async (command: string) => {
    const tool = {
      id: 'bash',
      purpose: '',
      effect: 'act',
      parameters: [],
      limits: { seconds: 60, outputBytes: 8192 },
    } as const;
    const scope = { read: 'root', write: ['.'], command: 'contained', url: 'none' } as const;
    const grant = {
      root,
      peripheral: 'edit',
      scope,
      readableFiles: null,
      config: DEFAULT_PROJECT_CONFIG,
      unsafeNoSandbox: false,
    };
    const call = { tool, args: { command }, grant, sessionId: 'probe', signal: new AbortController().signal };
    return (await shellBackend(sandbox).run(call)).outcome;
  };
  const result = (name: string, stopped: boolean, detail: string) => ({ layout: 'edit', name, stopped, detail });
  await bash('truncate -s 64M holes');
  const blocks = statSync(join(root, 'holes'), { throwIfNoEntry: false })?.blocks ?? null;
  const deep = await bash(`${DEEP} echo done`).catch(() => null);
  const isDone = JSON.stringify(deep).includes('done');
  await bash(
    `for name in ${PLANTED.join(' ')}; do mkdir -p "$(dirname $name)"; echo x > $name; done; echo x > allowed`,
  );
  const planted = PLANTED.filter((path) => existsSync(join(root, path)));
  const wasTried = existsSync(join(root, 'allowed'));
  symlinkSync('/dev/zero', join(root, 'endless'));
  const endless = message(() => readRegularFile(join(root, 'endless'), 1 << 20));
  return [
    result('fill the disk by holes', blocks !== null && blocks < 1000, `a file of 64 MiB takes ${blocks} blocks`),
    result(
      'plant a file that programs act on',
      wasTried && planted.length === 0,
      wasTried ? planted.join(', ') || 'none of them is there' : 'it could not be tried',
    ),
    result('make hopgate read a device', wasTried && endless !== null, endless ?? 'it read one'),
    result('lose a call in deep folders', isDone, isDone ? 'the call has a result' : 'the call has none'),
  ];
}

async function tryEscape<T extends Target | null>(
  sandbox: Sandbox,
  layout: SandboxLayout,
  { argv, makes }: AttemptAt<T>,
  target: T,
): Promise<Pick<ProbeResult, 'stopped' | 'detail'>> {
  const { exit, stderr } = await sandbox.run(layout, argv(target), {
    seconds: 20,
    outputBytes: 8192,
    signal: new AbortController().signal,
    onConnection: makeProxy(['listed.example']).accept,
  });
  const said = stderr.trim().split('\n')[0]!;
  if (makes ? makes(target).some((path) => existsSync(path)) : exit === 0)
    return { stopped: false, detail: 'it got through' };
  if (exit === null || exit === 126 || exit === 127)
    return { stopped: false, detail: `it could not be tried: ${said || 'it did not end'}` };
  return { stopped: true, detail: said || (exit === 0 ? 'nothing of it is there' : `it ended with ${exit}`) };
}

/** The entry of the home folder that contains our own Node. The sandbox creates this entry and no other. */
function nodeUnderHome(): string | null {
  const way = relative(homedir(), realpathSync(process.execPath));
  return way.startsWith('..') ? null : way.split(sep)[0]!;
}

/** Our own Node as a toolchain, unless the sandbox shows it already. */
function ownNode(): string[] {
  const folder = dirname(realpathSync(process.execPath));
  return isWithin('/usr', folder) ? [] : [folder];
}

function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => server.once('error', reject).listen(where, () => resolve(server)));
}
