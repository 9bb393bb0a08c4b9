import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject } from '../../base/json.ts';
import { SessionHost } from '../../daemon/session-host.ts';
import { openSession } from '../../open-session.ts';
import { evidenceFile } from '../../project/state-dir.ts';
import type { Session } from '../../session/session.ts';
import { effectsOfMode } from '../../spec/mode-way.ts';
import type { Mode, SpecSet } from '../../spec/types.ts';
import { findSessionIn } from '../choose-sessions.ts';
import { summariseClientRun } from '../client/client-end.ts';
import { findClientProgram } from '../client/client-program.ts';
import { openClientSession } from '../client/open-client.ts';
import { printSessionStart } from '../client/print-place.ts';
import { runClientProgram } from '../client/run-client.ts';
import { type Io, usageError } from '../io.ts';
import { resolveRootOption } from '../shared-options.ts';
import type { ClaudeCommand } from './claude-command.ts';
import { claudeEnvironment, pinnedClaudeVariables } from './client-environment.ts';
import { ensurePluginFolder } from './plugin-folder.ts';
import { allowRunCommand } from './run-command-rules.ts';
import { showClaudeEnd } from './show-claude-end.ts';
import { addHopgateStatusLine, readUserStatusLine } from './status-line-setting.ts';

/** Runs Claude Code in a session until Claude Code ends (`hopgate claude`). */
export async function runClaude(io: Io, command: ClaudeCommand): Promise<void> {
  const root = resolveRootOption(io, command);
  const program = findClientProgram(io, 'claude', command.program);
  const stated = userSettings(io, command.settings);
  const host = new SessionHost({ env: io.env, keepOpenMs: 0 });
  try {
    const { sessionId } = await openClientSession(io, host, root, 'claude-code', command);
    if (isPlanMode(command.args)) await host.sessions.join(root, sessionId, allowReading);
    const { before, types } = await inSession(io, root, sessionId, (session) => ({
      before: session.state,
      types: subAgentTypes(session.specs, command.args),
    }));
    printSessionStart(io, sessionId, root, before);
    const begun = new Date().toISOString();
    const rules = stated.permissions !== undefined || command.args.some((word) => /^--disallowed-?tools\b/i.test(word));
    const env = claudeEnvironment(io.env, sessionId, root, rules);
    const variables = { ...stated.env, ...pinnedClaudeVariables(env) };
    const permissions = allowRunCommand(stated.permissions, io.env);
    const statusLine = addHopgateStatusLine(stated.statusLine ?? readUserStatusLine(io.env), io.env);
    const enabledPlugins = { ...stated.enabledPlugins, 'hopgate@inline': true };
    const own = { ...KEEPS_HOOKS_ON, enabledPlugins, permissions, statusLine, env: variables };
    const settings = JSON.stringify({ ...stated, ...own });
    const args = ['--plugin-dir', ensurePluginFolder(io.env), '--settings', settings, ...types, ...command.args];
    const code = await runClientProgram('claude', program, args, { cwd: root, env });
    // If the release fails, the end of this process releases the session.
    await host.sessions.release(root, sessionId).catch(() => {});
    const run = summariseClientRun(io, root, sessionId, begun);
    const isScript = command.args.some((word) => word === '-p' || word === '--print');
    const after = await inSession(io, root, sessionId, ({ state }) => state);
    showClaudeEnd(io, { ...run, code, before, after, isScript });
  } finally {
    await host.close();
  }
}

const isPlanMode = (args: readonly string[]): boolean =>
  args.some(
    (word, at) => word === '--permission-mode=plan' || (word === '--permission-mode' && args[at + 1] === 'plan'),
  );

/**
 * Enters a mode in which the agent may read, if that needs no approval. In plan mode, Claude Code refuses the agent's
 * own calls of `mode` and `hop`, so the agent could never leave a mode that forbids reading.
 */
async function allowReading(session: Session): Promise<void> {
  const { modeGate } = session.specs;
  const { mode } = session.state;
  const observes = (of: Mode): boolean => modeGate === null || effectsOfMode(modeGate, of).includes('observe');
  if (mode === null || observes(mode)) return;
  const open = session.available().modes.find(({ to, needs }) => needs.length === 0 && observes(to));
  if (open) await session.setMode({ to: open.to, by: 'operator', reason: 'Claude Code was started in plan mode' });
}

/** Reads a session's state without its lease, because the daemon may still hold the session. */
async function inSession<T>(io: Io, root: string, sessionId: string, read: (session: Session) => T): Promise<T> {
  const { agent } = await findSessionIn(io, root, sessionId);
  const session = await openSession({ root, agent, session: sessionId, store: evidenceFile(root, io.env) });
  try {
    return read(session);
  } finally {
    await session.detach();
  }
}

/** Settings that keep hooks on. On the command line they override all settings files, also a cloned repository's. */
const KEEPS_HOOKS_ON = { disableAllHooks: false, disableSkillShellExecution: true };

/** Parses the user's own `--settings`: JSON, or the path of a JSON file. */
function userSettings(
  io: Io,
  setting: string | null,
): { readonly [name in 'env' | 'permissions' | 'enabledPlugins']?: object } & { readonly statusLine?: unknown } {
  if (setting === null) return {};
  const file = resolve(io.cwd, setting);
  try {
    const parsed: unknown = JSON.parse(
      setting.trim().startsWith('{') || !existsSync(file) ? setting : readFileSync(file, 'utf8'),
    );
    if (isObject(parsed)) return parsed;
    throw new Error('it is not an object');
  } catch (cause) {
    throw usageError(
      `--settings cannot be read: ${(cause as Error).message}`,
      'Give JSON, or the path of a JSON file.',
      'bad-settings',
      cause,
    );
  }
}

/** The option `--agents` with a type for each peripheral that is delegated to; empty if the user gives one. */
function subAgentTypes({ peripherals }: SpecSet, args: readonly string[]): readonly string[] {
  const named = Object.values(peripherals).flatMap(({ delegates = [] }) => delegates.map(({ to }) => to));
  if (named.length === 0 || args.some((word) => word === '--agents' || word.startsWith('--agents='))) return [];
  const types = [...new Set(named)].map((id) => {
    const purpose = peripherals[id]?.purpose ?? '';
    const prompt = `You work in the peripheral ${id}. ${purpose} Do the task that you are given, then report the outcome.`;
    return [id, { description: `Works in the peripheral ${id}: ${purpose}`, prompt }];
  });
  return ['--agents', JSON.stringify(Object.fromEntries(types))];
}
