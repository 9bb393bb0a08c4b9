import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { valueOr } from '../../base/value-or.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import type { ToolCall } from '../../ports/tool-backend.ts';
import { detectGitPaths } from '../git-paths.ts';
import { LayoutError } from '../sandbox/layout-error.ts';
import { runUnsandboxed } from '../sandbox/run-unsandboxed.ts';
import type { CommandResult, Sandbox } from '../sandbox/sandbox.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop, unavailableToolStop } from '../workspace/tool-stop.ts';
import {
  type GitConfigValue,
  keysThatRunPrograms,
  parseGitConfig,
  submoduleNamesIn,
  umaskOfSharedRepository,
} from './git-config-keys.ts';
import { type GitCallAccess, gitLayout } from './git-layout.ts';
import { gitEnvironment, gitSettingsForPush, hardenedArgv, PUSH_PROTOCOLS, passPasswordToGit } from './hardened-git.ts';
import type { OperandPathRules } from './operands.ts';
import { findRepository, type GitRepository } from './repository.ts';

/** Maximum size of git's answers to hopgate's own queries. */
const ANSWER_BYTES = 16 << 20;

/** One call's access to a repository whose configuration was checked. Every git process of the call runs through it. */
export interface GitSession {
  /** The call that git answers. */
  readonly call: ToolCall;
  readonly repository: GitRepository;
  readonly config: readonly GitConfigValue[];
  readonly rules: OperandPathRules;
  /** False if the operator allowed the shell tools on a machine that cannot sandbox commands. */
  readonly sandboxed: boolean;
  /** Runs git with the agent's output limit. */
  run(args: readonly string[], options?: GitRunOptions): Promise<CommandResult>;
  /** Runs a query of hopgate itself. An answer that is too long or too late stops the call. */
  ask(args: readonly string[], options?: GitRunOptions): Promise<GitAnswer | ToolStop>;
}

interface GitAnswer {
  readonly stdout: string | null;
  readonly stderr: string;
  /** The stdout of git, whatever its exit status. */
  readonly printed: string;
}

interface GitRunOptions {
  /** The write access of the call; default: none (`read`). */
  readonly access?: GitCallAccess;
  readonly stdin?: string;
  /** Runs this script, in which `"$@"` is git with `args`. */
  readonly script?: string;
  readonly env?: { readonly [name: string]: string };
  /** Settings `key=value`, in addition to the hardened ones. */
  readonly settings?: readonly string[];
}

/** Finds the repository, chooses how to run git, and checks the configuration. */
export async function openGitSession(sandbox: Sandbox, call: ToolCall): Promise<GitSession | ToolStop> {
  const { envelope, tool, signal } = call;
  const repository = findRepository(envelope.root);
  if (isStop(repository)) return repository;
  const { availability } = sandbox;
  if (!availability.ok && !envelope.unsafeNoSandbox) return unavailableToolStop(availability);

  const deadline = performance.now() + tool.limits.seconds * 1000;
  let config: readonly GitConfigValue[] = [];
  const execute = async (args: readonly string[], outputBytes: number, options: GitRunOptions = {}) => {
    const { access = { kind: 'read' }, settings = [], script } = options;
    if (access.kind !== 'read') await call.assertLease?.();
    const login = access.kind === 'push' ? (access.login ?? null) : null;
    const forPush = access.kind === 'push' ? gitSettingsForPush(access.target, login) : [];
    const git = [...hardenedArgv(repository, submoduleNamesIn(config), [...forPush, ...settings]), ...args];
    const umask = umaskOfSharedRepository(config);
    const shell = umask === null ? script : `${umask}; ${script ?? 'exec "$@"'}`;
    const plain = { argv: shell === undefined ? git : ['sh', '-c', shell, 'sh', ...git], stdin: options.stdin };
    const { argv, stdin } = login?.password ? passPasswordToGit(plain.argv, login.password) : plain;
    const runOptions = {
      seconds: Math.max(0.001, (deadline - performance.now()) / 1000),
      outputBytes,
      env: {
        ...gitEnvironment(repository, access.kind === 'push' ? PUSH_PROTOCOLS : 'none'),
        ...login?.env,
        ...options.env,
      },
      signal,
      ...(stdin === undefined ? {} : { stdin }),
    };
    const layout = gitLayout(repository, access, envelope.config.toolchains);
    const run = () =>
      availability.ok ? sandbox.run(layout, argv, runOptions) : runUnsandboxed(layout, argv, runOptions);
    return access.kind === 'commit' ? withoutStaleLock(repository, run) : run();
  };

  const [masked, git] = [compileMasks(envelope.config.mask), detectGitPaths(envelope.root)];
  const session: Omit<GitSession, 'config'> = {
    call,
    repository,
    sandboxed: availability.ok,
    rules: { root: envelope.root, masked: (path) => masked(path) || git.holdsCredential(path) },
    run: (args, options) => execute(args, tool.limits.outputBytes, options),
    ask: async (args, options) => {
      const answer = await execute(args, ANSWER_BYTES, options);
      const ended = refuseStopped(answer);
      if (ended !== null) return ended;
      if (answer.truncated || answer.flooded)
        return failedToolStop('too-many-changes', 'git lists more than can be checked here; name fewer files.');
      return { stdout: answer.exit === 0 ? answer.stdout : null, stderr: answer.stderr, printed: answer.stdout };
    },
  };
  try {
    const read = await readConfig(session);
    if (isStop(read)) return read;
    config = read.config;
  } catch (error) {
    if (error instanceof LayoutError) return failedToolStop('bad-layout', error.message);
    throw error;
  }
  const keys = [
    ...keysThatRunPrograms(config),
    ...submoduleNamesIn(config)
      .filter((name) => /[=\n]/.test(name))
      .map((name) => `submodule.${name}`),
  ];
  if (keys.length > 0)
    return outOfScopeStop(
      'sub',
      `the repository's configuration names programs that git would run: ${keys.join(', ')}`,
      'Ask the operator to remove these keys from .git/config (or to put them into their own ~/.gitconfig, which is not read here).',
    );
  return { ...session, config };
}

interface ReadConfig {
  readonly texts: string;
  readonly config: readonly GitConfigValue[];
}

/** The last configuration of each repository, by its git folder. */
const lastConfigs = new Map<string, ReadConfig>();

/** Reads the configuration with git. Reads it again only after its files have changed. */
async function readConfig(
  session: Pick<GitSession, 'ask' | 'repository'>,
): Promise<Pick<ReadConfig, 'config'> | ToolStop> {
  const { repository } = session;
  const texts = readConfigTexts(repository);
  const last = lastConfigs.get(repository.gitDir);
  if (last && last.texts === texts) return last;
  const listed = await session.ask(['config', '--list', '-z', '--show-scope', '--includes']);
  if (isStop(listed)) return listed;
  if (listed.stdout === null)
    return failedToolStop(
      'bad-repository',
      'git cannot read the repository\'s configuration; try "git config --list".',
    );
  const config = parseGitConfig(listed.stdout);
  if (texts !== null && texts === readConfigTexts(repository)) lastConfigs.set(repository.gitDir, { texts, config });
  return { config };
}

/** The texts of the configuration files; null if they are not known, or if a file may include others. */
function readConfigTexts({ gitDir, commonDir }: GitRepository): string | null {
  const texts = [join(commonDir, 'config'), join(gitDir, 'config.worktree')].map((path) =>
    lstatIfAny(path) ? valueOr(() => readRegularFile(path, ANSWER_BYTES).toString('latin1'), null) : '',
  );
  return texts.some((text) => text === null || /include/i.test(text)) ? null : texts.join('\0');
}

/** The refusal for a command that did not end by itself; null if it did. */
function refuseStopped(result: CommandResult): ToolStop | null {
  if (result.aborted) return { stop: ABORTED_OUTCOME };
  if (result.timedOut) return failedToolStop('timed-out', 'git took too long; name fewer files, or ask for less.');
  return null;
}

/** Runs a command that may write the index. A killed command's own lock is removed, so that later commits work. */
async function withoutStaleLock({ gitDir }: GitRepository, run: () => Promise<CommandResult>): Promise<CommandResult> {
  const lock = join(gitDir, 'index.lock');
  const madeAt = () => statSync(lock, { throwIfNoEntry: false })?.birthtimeMs;
  const before = madeAt();
  const result = await run();
  const ended = Date.now();
  const killed = result.timedOut || result.aborted || result.flooded;
  const made = killed && before === undefined ? madeAt() : undefined;
  if (made !== undefined && made <= ended) rmSync(lock, { force: true });
  return result;
}

/** The ids of the commits that the names refer to; null for a name of no commit. */
export async function findCommits<const Names extends readonly string[]>(
  session: GitSession,
  names: Names,
): Promise<{ readonly shas: { readonly [At in keyof Names]: string | null } } | ToolStop> {
  const stdin = names.map((name) => `${name}^{commit}\n`).join('');
  const found = await session.ask(['cat-file', '--batch-check=%(objectname)'], { stdin });
  if (isStop(found)) return found;
  const lines = found.printed.split('\n');
  const shas = names.map((_, at) => (/^[0-9a-f]{40,64}$/.test(lines[at] ?? '') ? lines[at]! : null));
  return { shas: shas as { [At in keyof Names]: string | null } };
}
