import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isPathWithin } from '../../base/paths.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../spec/resolve/parse-project-config.ts';
import { gitLayout } from '../git/git-layout.ts';
import { hideMaskedObjects } from '../git-objects/masked-objects.ts';
import { makeFilteringProxy } from '../proxy/filtering-proxy.ts';
import { shellBackend } from '../shell/shell-backend.ts';
import type { SandboxLayout } from './mounts/layout.ts';
import { scanTree } from './mounts/scan-tree.ts';
import { makeEditLayout, makeExploreLayout, makeReadOnlyLayout, makeTestLayout } from './mounts/tool-layouts.ts';
import {
  ESCAPE_ATTEMPTS,
  type EscapeAttempt,
  nodeCommand,
  PROBE_PROCESS_LIMIT,
  type ProbeTarget,
} from './probe-attempts.ts';
import type { ProbeResult } from './probe-result.ts';
import { probeShipping } from './probe-shipping.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';

/**
 * Really tries every known escape from every layout. For `hopgate doctor --probe`.
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
    const others = [tryHostileRepositories, tryChanges, probeShipping].map((attempt) => attempt(sandbox, folder));
    return (await Promise.all([...tried, ...others])).flat();
  } finally {
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryAll(
  sandbox: Sandbox,
  layout: SandboxLayout,
  target: Omit<ProbeTarget, 'fileName'>,
): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const [name, attempt] of Object.entries(ESCAPE_ATTEMPTS))
    if (attempt.of === undefined || attempt.of.includes(layout.name)) {
      const tried = await tryEscape(sandbox, layout, attempt, { ...target, fileName: `escape-${layout.name}` });
      results.push({ layout: layout.name, name, ...tried });
    }
  return results;
}

/** One layout of each kind that tools use, for the same repository. */
function layoutsFor(
  root: string,
  { overlay, unixSockets }: { readonly overlay: boolean; readonly unixSockets: boolean },
): SandboxLayout[] {
  const toolchains = ownNode();
  const limits = { processes: PROBE_PROCESS_LIMIT };
  const request = { root, masks: ['.env'], toolchains, limits, overlay, unixSockets };
  const gitDir = join(root, '.git');
  const repository = { root, gitDir, commonDir: gitDir };
  const path = join(root, '..', 'remote');
  const git = [
    gitLayout(repository, { kind: 'commit' }, toolchains),
    gitLayout(repository, { kind: 'push', target: { kind: 'local', url: path, path } }, toolchains),
  ];
  const deploying = overlay ? makeTestLayout : makeReadOnlyLayout;
  return [
    { ...makeExploreLayout(request), name: 'explore' },
    ...(overlay ? [makeEditLayout(request), makeTestLayout(request)] : []),
    { ...deploying(request), name: 'deploy' },
    { ...deploying(request), name: 'deploy-hosts', proxy: true },
    { ...deploying({ ...request, unixSockets: false }), name: 'deploy-online', network: true },
    ...git.map((layout) => ({ ...layout, limits: { ...layout.limits, ...limits } })),
  ];
}

/** Creates the targets of the attempts: a repository, a sibling folder and two services. */
async function makeTarget(folder: string): Promise<Omit<ProbeTarget, 'fileName'> & { close(): void }> {
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

/** Ways in which `.git` can refer to a second repository; each returns the path that would show it. */
const HOSTILE: { readonly [how: string]: (root: string, other: string) => string } = {
  'a commondir': (root, other) => {
    makeGitFolder(join(root, '.git'));
    writeFileSync(join(root, '.git/commondir'), `${other}\n`);
    return join(other, 'config');
  },
  'a .git file that names it': (root, other) => {
    writeFileSync(join(root, '.git'), `gitdir: ${other}\n`);
    return join(other, 'config');
  },
  'a forged entry of a work tree': (root, other) => {
    makeGitFolder(join(root, 'store'));
    writeFileSync(join(root, '.git'), 'gitdir: store\n');
    writeFileSync(join(root, 'store/gitdir'), '../.git\n');
    writeFileSync(join(root, 'store/commondir'), `${other}\n`);
    return join(other, 'config');
  },
  'links in its objects folder': (root, other) => {
    makeGitFolder(join(root, '.git'));
    // An unexpected file, so that the sandbox shows a copy of the objects.
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
    const { mounts: objects } = await hideMaskedObjects(sandbox, { root, masks, toolchains, scan });
    const layout = makeReadOnlyLayout({ root, masks, toolchains, scan, objects });
    const attempt = { tries: () => `fs.readFileSync(${JSON.stringify(path)})` };
    const name = `reach another repository by ${how}`;
    return { layout: 'hostile-repository', name, ...(await tryEscape(sandbox, layout, attempt, null)) };
  });
  return Promise.all(tries);
}

/** Some protected file names; the last is another spelling of a protected name. */
const PLANTED = ['.hg/hgrc', '.jj/repo', '.envrc', '.devcontainer.json', '.vscode/tasks.json', 'src/.BASHRC'];

function errorMessage(work: () => unknown): string | null {
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
    const envelope = {
      root,
      peripheral: 'edit',
      scope,
      readableFiles: null,
      config: DEFAULT_PROJECT_CONFIG,
      unsafeNoSandbox: false,
    };
    const call = { tool, args: { command }, envelope, sessionId: 'probe', signal: new AbortController().signal };
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
  const endless = errorMessage(() => readRegularFile(join(root, 'endless'), 1 << 20));
  return [
    result('fill the disk by a sparse file', blocks !== null && blocks < 1000, `64 MiB take ${blocks} blocks`),
    result(
      'plant a file that controls programs',
      wasTried && planted.length === 0,
      wasTried ? planted.join(', ') || 'none of them is there' : 'it could not be tried',
    ),
    result('make hopgate read a device', wasTried && endless !== null, endless ?? 'it read one'),
    result('break a call by deeply nested folders', isDone, isDone ? 'the call has a result' : 'the call has none'),
  ];
}

async function tryEscape<T extends ProbeTarget | null>(
  sandbox: Sandbox,
  layout: SandboxLayout,
  { tries, makes }: EscapeAttempt<T>,
  target: T,
): Promise<Pick<ProbeResult, 'stopped' | 'detail'>> {
  const tried = tries(target);
  const argv = typeof tried === 'string' ? nodeCommand(tried) : tried;
  const { exit, stderr } = await sandbox.run(layout, argv, {
    seconds: 20,
    outputBytes: 8192,
    signal: new AbortController().signal,
    onConnection: makeFilteringProxy(['listed.example']).accept,
  });
  const errorLine = stderr.trim().split('\n')[0]!;
  if (makes ? makes(target).some((path) => existsSync(path)) : exit === 0)
    return { stopped: false, detail: 'it got through' };
  if (exit === null || exit === 126 || exit === 127)
    return { stopped: false, detail: `it could not be tried: ${errorLine || 'it did not end'}` };
  return { stopped: true, detail: errorLine || (exit === 0 ? 'nothing of it is there' : `it ended with ${exit}`) };
}

/** Hopgate's own Node as a toolchain, unless the sandbox shows it already. */
function ownNode(): string[] {
  const folder = dirname(realpathSync(process.execPath));
  return isPathWithin('/usr', folder) ? [] : [folder];
}

async function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(where);
  await once(server, 'listening');
  return server;
}
