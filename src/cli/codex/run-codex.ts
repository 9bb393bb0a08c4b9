import { resolve } from 'node:path';
import { type CodexHooks, codexHooks } from '../../adapters/codex/codex-hook-config.ts';
import type { CodexOverride } from '../../adapters/codex/overrides.ts';
import { type CodexThreadOptions, threadOptions } from '../../adapters/codex/thread-options.ts';
import { toShellWord as shown, splitWords } from '../../base/text.ts';
import { hookCommand } from '../../daemon/hook/launcher.ts';
import { mcpServerName } from '../../daemon/mcp-server-name.ts';
import { compileCacheFolder } from '../../daemon/package-files.ts';
import type { SessionHost } from '../../daemon/session-host.ts';
import type { SessionStatus } from '../../session/session-status.ts';
import { mainConversationIdOf, summariseClientRun } from '../client/client-end.ts';
import { findClientProgram, hopgateCommandLine } from '../client/client-program.ts';
import { printSessionStart } from '../client/print-place.ts';
import { runClientProgram } from '../client/run-client.ts';
import { showTerminalTitle } from '../client/terminal-title.ts';
import { type Io, printRemark } from '../io.ts';
import { resolveRootOption } from '../shared-options.ts';
import { askCodexHookTrust, makeCodexArguments } from './codex-arguments.ts';
import type { CodexCommand } from './codex-command.ts';
import { showCodexEnd } from './show-codex-end.ts';

/** Maximum number of runs of Codex with `--follow`, including the first. */
const MAX_ROUNDS = 8;

/** Runs Codex in a session until Codex ends (`hopgate codex`). */
export async function runCodex(io: Io, command: CodexCommand): Promise<void> {
  const root = resolveRootOption(io, command);
  const codex = findClientProgram(io, 'codex', command.program);
  const hooks = codexHooks(hookCommand('codex', io.env));
  const trust = askCodexHookTrust({ codex, root, env: io.env, hooks });
  trust.catch(() => {}); // A failure is thrown below, where `trust` is awaited.
  // This module is loaded while Codex answers.
  const { remoteAgentSession } = await import('../../daemon/remote-agent-session.ts');
  const { sessionId, specs, config } = await openCodexSession(io, root, command);
  // Starts the daemon, which holds the session for the hooks and the tools, before they need it.
  const remote = await remoteAgentSession({ root, agent: 'codex', env: { ...io.env, HOPGATE_SESSION: sessionId } });
  const optionsFor = ({ peripheral, mode }: SessionStatus) => threadOptions(specs, config, peripheral, root, mode);
  const begun = new Date().toISOString();
  const before = await remote.status();
  printSessionStart(io, sessionId, root, before);
  const launch = { codex, root, sessionId, hooks, trust: await trust };
  let options = optionsFor(before);
  let code = await runOnce(io, { ...launch, options, args: command.args });
  let after = await remote.status();
  for (let round = 1; command.follow && code === 0 && round < MAX_ROUNDS; round++) {
    const thread = mainConversationIdOf(summariseClientRun(io, root, sessionId, begun));
    const next = optionsFor(after);
    if (!isExec(command.args) || thread === null || after.closed || next.sandboxMode === options.sandboxMode) break;
    printRemark(io, `the session is in ${after.peripheral} now: resuming with the sandbox ${next.sandboxMode}`);
    options = next;
    const args = [...execOptions(command.args), 'resume', thread, continuePrompt(after, options)];
    code = await runOnce(io, { ...launch, options, args });
    after = await remote.status();
  }
  await remote.close();
  // If the release fails, the end of this process releases the session.
  await withHost(io, (host) => host.sessions.release(root, sessionId)).catch(() => {});
  const sandboxes = { sandbox: options.sandboxMode, allowedSandbox: optionsFor(after).sandboxMode };
  const run = summariseClientRun(io, root, sessionId, begun);
  showCodexEnd(io, { ...run, code, before, after, isScript: isExec(command.args), ...sandboxes });
}

/** Opens the session, records the operator's approvals in advance, and releases the session. */
async function openCodexSession(io: Io, root: string, command: CodexCommand) {
  const { openClientSession } = await import('../client/open-client.ts');
  return withHost(io, (host) => openClientSession(io, host, root, 'codex', command));
}

async function withHost<T>(io: Io, work: (host: SessionHost) => Promise<T>): Promise<T> {
  const { SessionHost } = await import('../../daemon/session-host.ts');
  const host = new SessionHost({ env: io.env, keepOpenMs: 0 });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

interface Run {
  readonly codex: string;
  readonly root: string;
  readonly sessionId: string;
  readonly hooks: CodexHooks;
  readonly trust: CodexOverride;
  readonly options: CodexThreadOptions;
  readonly args: readonly string[];
}

async function runOnce(io: Io, { codex, root, sessionId, hooks, trust, options, args }: Run): Promise<number> {
  const session = { HOPGATE_SESSION: sessionId, HOPGATE_ROOT: root, HOPGATE_CODEX_SANDBOX: options.sandboxMode };
  const env = { ...io.env, ...session };
  const [command, ...own] = hopgateCommandLine();
  const isInteractive = !args.some((word) => EXEC.has(word));
  const mcp = {
    command,
    args: [...own, 'mcp', '--attach', '--agent', 'codex', '--root', root, ...(isInteractive ? [] : ['--no-elicit'])],
    env: {
      ...passedVariables(io),
      ...session,
      CODEX_BIN: codex.includes('/') ? resolve(io.cwd, codex) : codex,
      NODE_COMPILE_CACHE: compileCacheFolder(io.env), // Codex waits for the start of this server.
    },
  };
  const first = makeCodexArguments({ root, options, isInteractive, mcp, server: mcpServerName(io.env), hooks, trust });
  const hideTitle = showTerminalTitle(io, root, sessionId);
  try {
    return await runClientProgram('codex', codex, [...first, ...args], { cwd: root, env });
  } finally {
    hideTitle();
  }
}

/** Environment variables from which hopgate's MCP server finds its state and its tools. */
function passedVariables(io: Io): { readonly [name: string]: string } {
  const names = splitWords(`
    HOME PATH TMPDIR LANG XDG_STATE_HOME XDG_RUNTIME_DIR SSH_AUTH_SOCK NO_COLOR CODEX_HOME HOPGATE_DAEMON
    HOPGATE_DAEMON_IDLE_MINUTES
  `);
  return Object.fromEntries(names.flatMap((name) => (io.env[name] ? [[name, io.env[name]]] : [])));
}

/** Codex's subcommands that run without a person to ask. */
const EXEC: ReadonlySet<string> = new Set(['exec', 'e']);

const isExec = ([first = '']: readonly string[]): boolean => EXEC.has(first);

/** The arguments of `codex exec` that a resumed run keeps; the prompt is not kept. */
function execOptions(args: readonly string[]): readonly string[] {
  return [
    'exec',
    ...(args.includes('--json') ? ['--json'] : []),
    ...(args.includes('--skip-git-repo-check') ? ['--skip-git-repo-check'] : []),
  ];
}

const continuePrompt = ({ peripheral, mode }: SessionStatus, { sandboxMode }: CodexThreadOptions): string =>
  `You are in ${shown(peripheral ?? 'no peripheral')}${mode ? `, mode ${mode}` : ''}; Codex's own sandbox is ${sandboxMode} now. Continue with the task.`;
