import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rejectOnAbort } from '../../base/limited-wait.ts';
import { commandLineProblem } from '../../gate/commands/judge-command.ts';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { Fields, ProjectConfig } from '../../spec/types.ts';
import { operatorGitConfig } from '../git/git-persons.ts';
import { findRepository } from '../git/repository.ts';
import { hideMaskedObjects } from '../git-objects/masked-objects.ts';
import { readCacheMounts } from '../programs/cache-mounts.ts';
import { findOperatorPrograms } from '../programs/operator-programs.ts';
import type { FoundPrograms } from '../programs/program-finder.ts';
import { overlaysOfLayout } from '../sandbox/mounts/bwrap-arguments.ts';
import { findCoversThatWereRead } from '../sandbox/mounts/covers.ts';
import {
  DEFAULT_LIMITS,
  expandTilde,
  findStateFolders,
  type LayoutLimits,
  SANDBOX_HOME,
  type SandboxLayout,
} from '../sandbox/mounts/layout.ts';
import { scanTree, type TreeScan } from '../sandbox/mounts/scan-tree.ts';
import type { TreeLayoutRequest } from '../sandbox/mounts/tool-layouts.ts';
import { runUnsandboxed } from '../sandbox/run-unsandboxed.ts';
import type { CommandOptions, CommandResult, OverlayWrites, Sandbox } from '../sandbox/sandbox.ts';
import { isStop, refusalStop, sandboxFailedStop, type ToolStop, unavailableToolStop } from '../workspace/tool-stop.ts';
import { type CoveredFiles, watchCoveredFiles } from './late-masked-files.ts';

/** One call of a shell tool, with its limits and the function that runs commands. */
export interface ShellContext {
  readonly call: ToolCall;
  readonly sandbox: Sandbox;
  readonly env: NodeJS.ProcessEnv;
  /** False if the operator allowed the shell tools on a machine that cannot sandbox commands. */
  readonly sandboxed: boolean;
  /** True if layouts with an overlay work on this machine. */
  readonly overlay: boolean;
  /** Masked files that a command read as empty, or that its words or the output of a failed command name. */
  readonly emptyFiles: Set<string>;
  /** Runs a command within the call's limits: in the layout if the machine can sandbox it, else without a sandbox. */
  run(
    tree: ScannedCallTree,
    layout: SandboxLayout,
    argv: readonly string[],
    options?: Partial<CommandOptions>,
  ): Promise<CommandResult>;
}

/** The context of a call; a refusal if this machine cannot sandbox commands and the operator did not allow it. */
export function makeShellContext(sandbox: Sandbox, call: ToolCall, env: NodeJS.ProcessEnv): ShellContext | ToolStop {
  const { availability } = sandbox;
  if (!availability.ok && !call.envelope.unsafeNoSandbox) return unavailableToolStop(availability);
  const run = availability.ok ? sandbox.run.bind(sandbox) : runUnsandboxed;
  const limits = call.tool.limits;
  const emptyFiles = new Set<string>();
  return {
    emptyFiles,
    call,
    sandbox,
    env,
    sandboxed: availability.ok,
    overlay: availability.ok && availability.overlay,
    run: async (tree, layout, argv, options = {}) => {
      let check = availability.ok ? watchCoveredFiles(tree, layout) : () => {};
      const [overlay] = overlaysOfLayout(layout);
      let isRead: ReadonlyMap<string, boolean> = new Map();
      const inspect = async (view: OverlayWrites, exit: number) => {
        if (overlay) isRead = findCoversThatWereRead(overlay, view.upper);
        check();
        // The command has ended. The remaining work is hopgate's own and has no time limit.
        check = () => {};
        await call.assertLease?.();
        await options.inspect?.(view, exit);
      };
      const { seconds, outputBytes } = limits;
      const { env, mounts } = layout.network || layout.proxy ? layout : layoutPartsWithoutNetwork(layout);
      const limited = { seconds, outputBytes, signal: call.signal, ...options, inspect };
      const result = await run({ ...layout, env, mounts }, argv, limited);
      check();
      const { exit, stdout, stderr } = result;
      const read = [...isRead].flatMap(([path, was]) => (was ? [path] : []));
      // A file name in a failed command's output counts, unless the access times show that the file was not read.
      const [texts, paths] =
        exit === 0
          ? [argv, tree.scan.maskedFiles.filter((path) => !isRead.has(path))]
          : [[...argv, stdout, stderr], tree.scan.maskedFiles];
      const named = availability.ok ? namedFiles(paths, texts) : [];
      for (const path of [...read, ...named]) emptyFiles.add(path);
      return result;
    },
  };
}

/** The files whose names are words of the texts; an ordinary word (`config`) only counts with its folder. */
function namedFiles(paths: readonly string[], texts: readonly string[]): readonly string[] {
  const words = texts.flatMap((text) => text.slice(0, 1 << 20).split(/[\s"'`()<>=,;:]+/));
  const names = new Set(words.flatMap((word) => [lastNames(word, 1), lastNames(word, 2)]));
  return paths
    .filter((path) => names.has(lastNames(path, /[._-]/.test(lastNames(path, 1)) ? 1 : 2)))
    .slice(0, MAX_NAMED);
}

const lastNames = (path: string, count: number): string => path.split('/').slice(-count).join('/');

/** Maximum number of masked files in a result. */
const MAX_NAMED = 10;

/** Without a network, package managers fail at once instead of after minutes, and pnpm fetches no other version. */
export const layoutPartsWithoutNetwork = ({ env, mounts }: SandboxLayout): Pick<SandboxLayout, 'env' | 'mounts'> => ({
  env: { ...NO_RETRIES, ...env },
  mounts: [...mounts, PNPM_SETTINGS],
});

/** pnpm 10 also reads this setting from a variable, but npm would print a warning about that variable. */
const PNPM_SETTINGS = {
  kind: 'text-file',
  target: join(SANDBOX_HOME, '.config/pnpm/rc'),
  text: 'manage-package-manager-versions=false\n',
  isOpen: true,
} as const;

const NO_RETRIES = {
  npm_config_fetch_retries: '0',
  // "pnpm run" replaces 0 by an empty value, for which npm retries without delay.
  npm_config_fetch_retry_mintimeout: '1',
  npm_config_fetch_retry_maxtimeout: '1',
  npm_config_update_notifier: 'false',
  pnpm_config_fetch_retries: '0',
  pnpm_config_pm_on_fail: 'ignore',
  YARN_HTTP_RETRY: '0',
  PIP_RETRIES: '0',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  BUNDLE_RETRY: '0',
  // Composer has no setting for retries, and would request each package twice.
  COMPOSER_DISABLE_NETWORK: '1',
};

/** The state of the repository and the machine that the layouts of a call depend on. */
export interface ScannedCallTree extends TreeLayoutRequest, CoveredFiles {
  readonly unixSockets: boolean;
  readonly scan: TreeScan;
  /** Fields for the result: the repositories whose objects the command does not see, with reasons; empty if none. */
  readonly remarks: Fields;
}

/**
 * Finds what the layouts of a call depend on; searches its repositories for masked objects.
 * @throws the call's reason if it is aborted meanwhile
 */
export async function inspectCallTree({ call, sandbox, env, overlay }: ShellContext): Promise<ScannedCallTree> {
  const { root, config } = call.envelope;
  const { mask: masks, toolchains } = config;
  const found = findCommandPrograms(root, config, env);
  const programs = { ...found, mounts: [...found.mounts, ...readCacheMounts(root, config)] };
  const scan = scanTree(root, masks);
  const { availability } = sandbox;
  const unixSockets = availability.ok && availability.unixSockets;
  const objects = availability.ok
    ? await rejectOnAbort(hideMaskedObjects(sandbox, { root, masks, toolchains, scan }), call.signal)
    : { mounts: [], withoutObjects: [], problems: [] };
  const { withoutObjects, problems } = objects;
  const remarks: ScannedCallTree['remarks'] =
    withoutObjects.length > 0 ? { withoutObjects: [...withoutObjects], objectProblems: [...problems] } : {};
  const repository = findRepository(root);
  const gitConfig = isStop(repository) ? '' : operatorGitConfig(repository, env);
  const more = { objects: objects.mounts, gitConfig, remarks };
  return { root, masks, toolchains, programs, overlay, unixSockets, scan, limits: homeLimit(config), ...more };
}

/** A larger home folder also raises the limits of `/tmp`, of a file, and of memory, which holds both folders. */
function homeLimit({ home }: ProjectConfig): Partial<LayoutLimits> {
  if (home === undefined) return {};
  const homeBytes = Math.ceil(home * 2 ** 30);
  const { homeBytes: usual, memoryBytes } = DEFAULT_LIMITS;
  const tmpBytes = Math.max(usual, homeBytes);
  return { homeBytes, tmpBytes, fileBytes: tmpBytes, memoryBytes: memoryBytes + 2 * (tmpBytes - usual) };
}

export function findCommandPrograms(
  root: string,
  config: Pick<ProjectConfig, 'mask' | 'programs' | 'test' | 'deploy' | 'install' | 'toolchains'>,
  env: NodeJS.ProcessEnv,
): FoundPrograms {
  const { mask: masks, programs = [], test, deploy, install = [] } = config;
  // The second word may be a subcommand that is a separate program, such as cargo-nextest.
  const commands = [...test, ...install, ...Object.values(deploy)].flatMap(({ run: [program = '', sub] }) =>
    /^[a-z][\w-]*$/.test(sub ?? '') && !program.includes('/') ? [program, `${program}-${sub}`] : [program],
  );
  const toolchains = config.toolchains.map(expandTilde);
  return findOperatorPrograms({
    root,
    names: [...programs, ...commands],
    toolchains,
    masks,
    env,
    state: findStateFolders(),
  });
}

/** A refusal if commands can be sandboxed but overlays cannot be mounted; for tools that need one. */
export function overlayRefusal(context: ShellContext): ToolStop | null {
  if (!context.sandboxed || context.overlay) return null;
  const message = 'This machine cannot sandbox commands that write: overlayfs cannot be mounted.';
  const remedy =
    'Ask the operator for Linux 5.11 or later with user namespaces; until then use bash-readonly, edit and write.';
  return sandboxFailedStop(message, remedy);
}

/** The argv that runs a shell tool's `command`. The text is not interpreted: the kernel decides. */
export function argvOfShellCall({ args: { command } }: ToolCall): readonly string[] | ToolStop {
  const problem = commandLineProblem('command', command);
  return problem ? refusalStop(problem) : [existsSync('/usr/bin/bash') ? 'bash' : 'sh', '-c', String(command)];
}
