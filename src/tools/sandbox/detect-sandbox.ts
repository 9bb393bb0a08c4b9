import { once } from 'node:events';
import { constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isAccessible } from '../../base/files.ts';
import { installHint } from '../../base/install-hint.ts';
import { explainSystemError } from '../../base/system-error.ts';
import { startProcess, waitForExit } from './child-process.ts';
import type { HostUser, SandboxHostFacts } from './command-message.ts';
import { type CommandShells, makeCommandShells } from './command-shell-pool.ts';
import { type Cgroups, probeCgroups } from './limits/cgroup.ts';
import { addMountsToLayout, makeBaseLayout, type SandboxLayout } from './mounts/layout.ts';
import { areSupportFilesComplete, makeSupportFiles } from './mounts/support-files.ts';
import { runSandboxed } from './run-sandboxed.ts';
import { runUnsandboxed } from './run-unsandboxed.ts';
import { type CommandOptions, type Sandbox, type SandboxAvailability, SandboxError } from './sandbox.ts';

const PROBE_SECONDS = 20;
const adviseInstall = () => `install bubblewrap ${installHint('bubblewrap')} and start again`;

export interface DetectSandboxOptions {
  /** Path of bubblewrap; default `/usr/bin/bwrap`, which security profiles know, else the one on PATH. */
  readonly bwrap?: string;
  /** `run` runs commands unconfined if there is no sandbox. `availability` still reports that there is none. */
  readonly unsafe?: boolean;
}

/**
 * Finds bubblewrap and tests it with a real command, whose attempts to write, to change a kernel setting and to connect
 * must all fail. Never throws: on a machine that cannot sandbox commands, `availability` of the returned sandbox holds
 * the reason and the remedy.
 */
export async function detectSandbox(options: DetectSandboxOptions = {}): Promise<Sandbox> {
  const bwrap = options.bwrap ?? findBwrap();
  const unavailable = (reason: string, remedy: string): Sandbox => ({
    availability: { ok: false, reason, remedy },
    run: options.unsafe
      ? runUnsandboxed
      : async () => {
          throw new SandboxError(`${reason}; ${remedy}`);
        },
  });
  if (process.platform !== 'linux') return unavailable('the sandbox needs Linux', 'use Linux or WSL 2');
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return unavailable(`hopgate has no system-call filter for ${process.arch}`, 'use an x86-64 or arm64 machine');
  if (bwrap === null || !existsSync(bwrap)) return unavailable('bubblewrap is not installed', adviseInstall());
  if (!isAccessible(bwrap, constants.X_OK))
    return unavailable(`${bwrap} cannot be executed`, `make it executable (chmod +x ${bwrap}) or ${adviseInstall()}`);
  try {
    // Tried twice: Ctrl-C ends a program that is being started and has no process group of its own yet.
    return await tryOut(bwrap).catch(() => tryOut(bwrap));
  } catch (error) {
    const system = explainSystemError(error);
    if (system)
      return unavailable(
        `hopgate cannot write its files in ${tmpdir()} (${system.message})`,
        `make room for hopgate in ${tmpdir()}, or set TMPDIR to another folder, and start again`,
      );
    return unavailable(
      (error as Error).message.replace(/^\[tools\/sandbox\] /, ''),
      'allow user namespaces for bubblewrap (sysctl kernel.unprivileged_userns_clone, AppArmor profile for bwrap) and start again',
    );
  }
}

const shared = new Map<boolean, Promise<Sandbox>>();

/** The sandbox of this process, for all sessions. If it was unavailable, it is tested again. */
export async function sandboxOfProcess(unsafe = false): Promise<Sandbox> {
  const earlier = shared.get(unsafe);
  if (earlier && (await earlier).availability.ok) return earlier;
  const found = detectSandbox({ unsafe });
  shared.set(unsafe, found);
  return found;
}

async function tryOut(bwrap: string): Promise<Sandbox> {
  const version = await versionOf(bwrap);
  const self = { uid: process.getuid!(), gid: process.getgid!() };
  const cgroups = self.uid === 0 ? probeCgroups() : null;
  const limitsMemory = cgroups?.memory === true;
  let host: SandboxHostFacts = { bwrap, supportFiles: makeSupportFiles(), self, limitsMemory };
  const folder = join(host.supportFiles.folder, 'probe');
  mkdirSync(folder);
  let shells = makeCommandShells(host, cgroups);
  await probeContainment(host, shells, folder);
  const { overlay, unixSockets } = await probeOverlay(host, shells, folder);
  // A cleaner of temporary files may have removed the support files while the process was idle.
  const recreateSupportFiles = () => {
    if (areSupportFilesComplete(host.supportFiles)) return;
    host = { ...host, supportFiles: makeSupportFiles() };
    shells = makeCommandShells(host, cgroups);
  };
  const identities = new Map<string, Promise<HostUser | null>>();
  const identityFor = (root: string) => {
    if (!identities.has(root)) identities.set(root, ownerIfUsable(host, shells, root));
    return identities.get(root)!;
  };
  const availability: SandboxAvailability = {
    ok: true,
    version,
    overlay,
    unixSockets,
    limits: { ...describeLimits(self, cgroups), 'unix sockets': unixSockets ? 'of the command' : 'none' },
  };
  return {
    availability,
    run: async (layout, argv, options) => {
      recreateSupportFiles();
      return runSandboxed(host, shells, await identityFor(layout.root), layout, argv, options);
    },
  };
}

/** Runs `bwrap --version` in its own process group, because Ctrl-C ends every program of hopgate's group. */
async function versionOf(bwrap: string): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const child = startProcess([bwrap, '--version'], { cwd: '/', env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [stdout, { code }] = await Promise.all([text(child.stdout!), waitForExit(child)]);
  if (code !== 0) throw new SandboxError(`${bwrap} --version ended with status ${code}`);
  return stdout.replace(/^bubblewrap\s*/, '').trim();
}

function findBwrap(): string | null {
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, 'bwrap')).find((path) => existsSync(path)) ?? null;
}

/** Each printed line is a successful escape. Opening the kernel setting for writing changes nothing. */
const ATTEMPTS = `
( : > "$1/escape" ) 2>/dev/null && echo 'it can write a read-only folder'
( : >> /proc/sys/kernel/core_pattern ) 2>/dev/null && echo 'it can change kernel settings'
( : < "/dev/tcp/127.0.0.1/$2" ) 2>/dev/null && echo 'it can reach the network of the host'
echo done
`;

async function probeContainment(host: SandboxHostFacts, shells: CommandShells, folder: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = server.address() as { port: number };
    const layout = readOnly(folder);
    const argv = ['bash', '-c', ATTEMPTS, 'probe', folder, `${port}`];
    const { stdout, stderr } = await runSandboxed(host, shells, null, layout, argv, probeOptions());
    if (stdout !== 'done\n')
      throw new SandboxError(
        `a command can leave the sandbox on this machine: ${stdout.trim()} ${stderr.trim()}`.trim(),
      );
  } finally {
    server.close();
  }
}

async function probeOverlay(
  host: SandboxHostFacts,
  shells: CommandShells,
  folder: string,
): Promise<{ readonly overlay: boolean; readonly unixSockets: boolean }> {
  const layout = addMountsToLayout(makeBaseLayout('probe', { root: folder }), [
    { kind: 'overlay', source: folder, target: folder, bytes: 1 << 20 },
  ]);
  let [wasWritten, unixSockets] = [false, false];
  const inspect: CommandOptions['inspect'] = async ({ upper, merged }) => {
    wasWritten = existsSync(join(upper, 'made')) && !existsSync(join(folder, 'made'));
    unixSockets = (await connectError(join(merged, 'socket'))) === 'ECONNREFUSED';
  };
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen(join(folder, 'socket')), 'listening');
    const argv = ['bash', '-c', ': > made'];
    const { exit } = await runSandboxed(host, shells, null, layout, argv, { ...probeOptions(), inspect });
    const overlay = exit === 0 && wasWritten;
    return { overlay, unixSockets: overlay && unixSockets };
  } catch {
    return { overlay: false, unixSockets: false };
  } finally {
    server.close();
  }
}

/** The kernel's error for a connection to the socket at a path; null if a socket listens there. */
function connectError(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(null);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
  });
}

/**
 * The repository's owner, if hopgate is root and commands can run as that owner; else null. Uid 0 without capabilities
 * cannot write another owner's files, and some limits do not apply to it.
 */
async function ownerIfUsable(host: SandboxHostFacts, shells: CommandShells, root: string): Promise<HostUser | null> {
  if (host.self.uid !== 0) return null;
  const { uid, gid } = statSync(root);
  if (uid === 0) return null;
  try {
    const argv = ['test', '-r', root];
    const { exit } = await runSandboxed(host, shells, { uid, gid }, readOnly(root), argv, probeOptions());
    return exit === 0 ? { uid, gid } : null;
  } catch {
    return null;
  }
}

const readOnly = (root: string): SandboxLayout =>
  addMountsToLayout(makeBaseLayout('probe', { root }), [{ kind: 'read-only', source: root, target: root }]);

const probeOptions = (): CommandOptions => ({
  seconds: PROBE_SECONDS,
  outputBytes: 4096,
  signal: new AbortController().signal,
});

function describeLimits(self: HostUser, cgroups: Cgroups | null): { [limit: string]: string } {
  const ofUser = self.uid === 0 ? 'none for a repository of root (no writable cgroup), else per user' : 'per user';
  return {
    time: 'wall clock; the whole process tree is killed',
    output: 'the head and tail are kept; a command that prints too much is killed',
    files: 'size and number per process',
    processes: cgroups?.processes ? 'cgroup' : ofUser,
    memory: cgroups?.memory ? 'cgroup' : 'watched by hopgate (no writable cgroup)',
  };
}
