import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fieldsOf } from '../../base/json.ts';
import { isPathWithin } from '../../base/paths.ts';
import { findProgram } from '../../base/process.ts';
import { splitWords } from '../../base/text.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { gitRootOf } from '../../project/repository-root.ts';
import { commonGitDirOf } from '../../project/work-trees.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import { CliError, type Io } from '../io.ts';

/** The ACP agent that `hopgate acp` starts for an editor, and how to start it. */
interface InnerAgent {
  readonly root: string;
  /** The agent's program and its arguments. */
  readonly command: readonly string[];
  readonly unsafeNoSandbox: boolean;
}

/**
 * Starts the ACP agent in a mount namespace. The repository, its git folder and hopgate's state are empty there, so
 * that the agent's own tools cannot reach them. The agent keeps the rest of the machine and the network, because it
 * must log in and reach its model.
 * @throws CliError `no-agent`, `no-sandbox`
 */
export async function startInnerAgent(io: Io, { root, command, unsafeNoSandbox }: InnerAgent): Promise<ChildProcess> {
  const [program, ...args] = command;
  const found = program?.includes('/') ? program : findProgram(program ?? '', io.env['PATH']);
  if (!found || (found.includes('/') && !existsSync(found)))
    throw new CliError(
      'no-agent',
      `there is no program ${program}`,
      'Name an ACP agent after "--", such as claude-agent-acp (npm install -g @agentclientprotocol/claude-agent-acp).',
    );
  const options = {
    cwd: root,
    env: innerEnv(io.env),
    stdio: ['pipe', 'pipe', 'inherit'] as ['pipe', 'pipe', 'inherit'],
  };
  const { availability } = await sandboxOfProcess();
  if (!availability.ok && !unsafeNoSandbox)
    throw new CliError(
      'no-sandbox',
      `the sandbox cannot keep the ACP agent out of the repository: ${availability.reason}`,
      `${availability.remedy}; or start with --unsafe-no-sandbox: hopgate then checks only its MCP calls.`,
    );
  if (!availability.ok) return spawn(found, args, options);
  const bwrap = findProgram('bwrap', `/usr/bin:${io.env['PATH'] ?? ''}`) ?? 'bwrap';
  return spawn(bwrap, [...emptyMounts(io, root), '--', found, ...args], options);
}

/**
 * The environment of the ACP agent. codex-acp reads `CODEX_CONFIG`: it makes Codex run without its own shell and show
 * its model the tools of a new peripheral at once. Other fields of the user's value stay. Other agents ignore the
 * variable.
 */
function innerEnv(env: Io['env']): NodeJS.ProcessEnv {
  const { CODEX_CONFIG: own = '{}' } = env;
  try {
    const config = fieldsOf(JSON.parse(own));
    const features = { ...fieldsOf(config['features']), mcp_tool_list_changed: true, shell_tool: false };
    const merged = { ...config, features, suppress_unstable_features_warning: true };
    return { ...env, CODEX_CONFIG: JSON.stringify(merged) };
  } catch {
    // codex-acp reports a malformed variable itself.
    return { ...env };
  }
}

/** The arguments that mount empty folders over the repository, its git folder and hopgate's state. */
function emptyMounts(io: Io, root: string): readonly string[] {
  const top = gitRootOf(root);
  const common = top === null ? null : commonGitDirOf(top);
  const outside = [common, userStateFolder(io.env)].filter(
    (path) => path !== null && existsSync(path) && !isPathWithin(root, path),
  );
  const folders = [root, ...(outside as string[])];
  return [
    ...splitWords('--dev-bind / / --unshare-pid --proc /proc --die-with-parent'),
    ...folders.flatMap((path) => ['--tmpfs', path]),
    ...folders.flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    root,
  ];
}
