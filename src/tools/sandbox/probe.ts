import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isWithin, type Layout } from './layout.ts';
import { readOnlyLayout } from './layouts.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';

/** One attempt to get out of the read-only layout. */
export interface ProbeResult {
  readonly name: string;
  readonly stopped: boolean;
  /** What the attempt was told, or that it could not be made (which is not "stopped"). */
  readonly detail: string;
}

/** What the attempts aim at. */
interface Target {
  readonly root: string;
  readonly port: number;
  readonly socket: string;
}

/** Each ends with status 0 if it got out. None of them changes anything outside if it does, but the file `escape` in a folder of ours. */
const ATTEMPTS: { readonly [name: string]: (target: Target) => readonly string[] } = {
  'write to the tree': ({ root }) => node(`fs.writeFileSync(${JSON.stringify(join(root, 'escape'))}, 'x')`),
  'read a masked file': ({ root }) =>
    node(`if (fs.readFileSync(${JSON.stringify(join(root, '.env'))}, 'utf8') === '') throw new Error('it is empty')`),
  'read /etc/shadow': () => node(`fs.readFileSync('/etc/shadow')`),
  'list the home folder': () => node(`fs.readdirSync(${JSON.stringify(homedir())})`),
  'change a kernel setting': () => node(`fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'a'))`),
  'connect to a port of the host': ({ port }) => connect(`{ host: '127.0.0.1', port: ${port} }`),
  'connect to a unix socket': ({ socket }) => connect(`{ path: ${JSON.stringify(socket)} }`),
  'make a setuid file': () => node(`fs.writeFileSync('/tmp/s', ''); fs.chmodSync('/tmp/s', 0o4755)`),
  'signal the engine': () => node(`process.kill(${process.pid}, 0)`),
  'hold a capability': () =>
    node(`if (/^CapEff:\\s*0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))) throw new Error('it has none')`),
  mount: () => ['mount', '-t', 'tmpfs', 'probe', '/tmp'],
  'make a user namespace': () => ['unshare', '--user', '--map-root-user', 'true'],
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
 * Tries to escape from the read-only layout in every way we know, for real. For `hopgate doctor --probe`.
 *
 * @throws SandboxError if the sandbox is not available
 */
export async function probeSandbox(sandbox: Sandbox): Promise<ProbeResult[]> {
  // Without one the attempts would be made on the host.
  if (!sandbox.availability.ok) throw new SandboxError(sandbox.availability.reason);
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-probe-')));
  writeFileSync(join(root, '.env'), 'secret');
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const unix = await listen({ path: join(root, 'socket') });
  try {
    const target = { root, port: (tcp.address() as { port: number }).port, socket: join(root, 'socket') };
    const layout = readOnlyLayout({ root, masks: ['.env'], toolchains: ownNode() });
    const results: ProbeResult[] = [];
    for (const [name, attempt] of Object.entries(ATTEMPTS))
      results.push(await tryEscape(sandbox, layout, name, attempt(target)));
    return results;
  } finally {
    tcp.close();
    unix.close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function tryEscape(
  sandbox: Sandbox,
  layout: Layout,
  name: string,
  argv: readonly string[],
): Promise<ProbeResult> {
  const { exit, stderr } = await sandbox.run(layout, argv, {
    seconds: 20,
    outputBytes: 8192,
    signal: new AbortController().signal,
  });
  const said = stderr.trim().split('\n')[0]!;
  if (exit === 0) return { name, stopped: false, detail: 'it got through' };
  if (exit === null || exit === 126 || exit === 127)
    return { name, stopped: false, detail: `it could not be tried: ${said || 'it did not end'}` };
  return { name, stopped: true, detail: said };
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
