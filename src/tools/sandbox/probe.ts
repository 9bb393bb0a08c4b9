import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { gitLayout } from '../git/layouts.ts';
import { isWithin, type Layout } from './layout.ts';
import { editLayout, readOnlyLayout, testLayout } from './layouts.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';

/** One attempt to get out of one layout. */
export interface ProbeResult {
  /** `read-only`, `edit`, `test`, `deploy`, `git-commit` or `git-push`. */
  readonly layout: string;
  readonly name: string;
  readonly stopped: boolean;
  /** What the attempt was told, or that it could not be made (which is not "stopped"). */
  readonly detail: string;
}

/** What the attempts aim at. */
interface Target {
  /** A name for what an attempt makes, of its own for each layout. */
  readonly mine: string;
  readonly root: string;
  readonly outside: string;
  readonly port: number;
  readonly socket: string;
}

interface Attempt {
  /** Ends with status 0 if it got out, as far as it can tell. */
  readonly argv: (target: Target) => readonly string[];
  /** Files of ours that tell better: it got out if one of them is there. */
  readonly makes?: (target: Target) => readonly string[];
  /** Where it means anything; default: everywhere. */
  readonly of?: readonly string[];
}

/** More than a probed layout allows. */
const PROCESSES = 64;
const BOMB = 300;

/** None of them changes anything outside if it gets out, but files in a folder of ours. */
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
    of: ['read-only', 'edit', 'test', 'deploy'],
  },
  'plant a git hook': {
    argv: ({ root, mine }) => node(`fs.writeFileSync(${JSON.stringify(join(root, '.git/hooks', mine))}, 'x')`),
    makes: ({ root, mine }) => [join(root, '.git/hooks', mine)],
  },
  'read /etc/shadow': { argv: () => node(`fs.readFileSync('/etc/shadow')`) },
  'list the home folder': {
    argv: () =>
      node(
        `if (!fs.readdirSync(${JSON.stringify(homedir())}).some((name) => name !== ${JSON.stringify(nodeUnderHome())})) throw new Error('it is empty, but for the way to Node')`,
      ),
  },
  'change a kernel setting': { argv: () => node(`fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'a'))`) },
  'connect to a port of the host': { argv: ({ port }) => connect(`{ host: '127.0.0.1', port: ${port} }`) },
  'connect to a unix socket': { argv: ({ socket }) => connect(`{ path: ${JSON.stringify(socket)} }`) },
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

/** A piece of JavaScript that got out if it ends without an error. */
function node(code: string): string[] {
  const say = '(error) => { console.error(error.message); process.exit(1); }';
  return [process.execPath, '-e', `process.on('uncaughtException', ${say}); const fs = require('node:fs'); ${code}`];
}

const connect = (to: string) =>
  node(
    `require('node:net').connect(${to}).on('connect', () => process.exit(0)).on('error', (error) => { throw error; })`,
  );

/**
 * Tries to escape from every layout in every way we know, for real. For `hopgate doctor --probe`.
 *
 * @throws SandboxError if the sandbox is not available
 */
export async function probeSandbox(sandbox: Sandbox): Promise<ProbeResult[]> {
  // Without one the attempts would be made on the host.
  if (!sandbox.availability.ok) throw new SandboxError(sandbox.availability.reason);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-probe-')));
  const target = await makeTarget(folder);
  try {
    const layouts = layoutsFor(target.root, sandbox.availability.overlay);
    return (await Promise.all(layouts.map((layout) => tryAll(sandbox, layout, target)))).flat();
  } finally {
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryAll(sandbox: Sandbox, layout: Layout, target: Omit<Target, 'mine'>): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const [name, attempt] of Object.entries(ATTEMPTS))
    if (attempt.of === undefined || attempt.of.includes(layout.name)) {
      const tried = await tryEscape(sandbox, layout, attempt, { ...target, mine: `escape-${layout.name}` });
      results.push({ layout: layout.name, name, ...tried });
    }
  return results;
}

/** Every kind of layout that a tool uses, over one repository. */
function layoutsFor(root: string, overlay: boolean): Layout[] {
  const toolchains = ownNode();
  const limits = { processes: PROCESSES };
  const request = { root, masks: ['.env'], toolchains, limits };
  const gitDir = join(root, '.git');
  const repository = { root, gitDir, commonDir: gitDir };
  const path = join(root, '..', 'remote');
  const git = [
    gitLayout(repository, { kind: 'commit' }, toolchains),
    gitLayout(repository, { kind: 'push', target: { kind: 'local', url: path, path } }, toolchains),
  ];
  return [
    readOnlyLayout(request),
    ...(overlay ? [editLayout(request), testLayout(request)] : []),
    { ...readOnlyLayout(request), name: 'deploy' },
    ...git.map((layout) => ({ ...layout, limits: { ...layout.limits, ...limits } })),
  ];
}

/** A repository, a folder beside it, and two services, for the attempts to aim at. */
async function makeTarget(folder: string): Promise<Omit<Target, 'mine'> & { close(): void }> {
  const [root, outside] = [join(folder, 'tree'), join(folder, 'outside')];
  for (const path of [join(root, '.git', 'hooks'), outside, join(folder, 'remote')])
    mkdirSync(path, { recursive: true });
  writeFileSync(join(root, '.env'), 'secret');
  writeFileSync(join(outside, 'secret'), 'secret');
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const unix = await listen({ path: join(root, 'socket') });
  return {
    root,
    outside,
    port: (tcp.address() as { port: number }).port,
    socket: join(root, 'socket'),
    close() {
      tcp.close();
      unix.close();
    },
  };
}

async function tryEscape(
  sandbox: Sandbox,
  layout: Layout,
  { argv, makes }: Attempt,
  target: Target,
): Promise<Pick<ProbeResult, 'stopped' | 'detail'>> {
  const { exit, stderr } = await sandbox.run(layout, argv(target), {
    seconds: 20,
    outputBytes: 8192,
    signal: new AbortController().signal,
  });
  const said = stderr.trim().split('\n')[0]!;
  if (makes ? makes(target).some((path) => existsSync(path)) : exit === 0)
    return { stopped: false, detail: 'it got through' };
  if (exit === null || exit === 126 || exit === 127)
    return { stopped: false, detail: `it could not be tried: ${said || 'it did not end'}` };
  return { stopped: true, detail: said || (exit === 0 ? 'nothing of it is there' : `it ended with ${exit}`) };
}

/** The entry of the home folder that our own Node lies beneath; the sandbox makes it, and nothing beside it. */
function nodeUnderHome(): string | null {
  const way = relative(homedir(), realpathSync(process.execPath));
  return way.startsWith('..') ? null : way.split(sep)[0]!;
}

/** Our own Node, where the sandbox does not see it anyway. */
function ownNode(): string[] {
  const folder = dirname(realpathSync(process.execPath));
  return isWithin('/usr', folder) ? [] : [folder];
}

function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => server.once('error', reject).listen(where, () => resolve(server)));
}
