import { askCodex, type CodexAnswer } from '../../adapters/codex/ask-codex.ts';
import { CODEX_EVENTS, type CodexHooks, isHopgateCodexHook } from '../../adapters/codex/codex-hook-config.ts';
import {
  type CodexOverride,
  hookOverrides,
  type McpEntry,
  mcpOverrides,
  sandboxOverrides,
  toOverrideArguments,
  trustOverride,
} from '../../adapters/codex/overrides.ts';
import type { CodexThreadOptions } from '../../adapters/codex/thread-options.ts';
import type { Env } from '../../base/user-folders.ts';
import { CliError } from '../io.ts';

/** The first version of Codex whose permission profiles, hooks and hook trust work as hopgate needs them. */
const OLDEST_VERSION = [0, 169, 0] as const;

/** The user's Codex program and the hooks to run it with. */
interface HookedCodex {
  readonly codex: string;
  readonly root: string;
  readonly env: Env;
  readonly hooks: CodexHooks;
}

interface CodexLaunch extends Pick<HookedCodex, 'root' | 'hooks'> {
  readonly options: CodexThreadOptions;
  readonly mcp: McpEntry;
  /** The name of hopgate's MCP server. */
  readonly server: string;
  /** True if a person is at Codex's screen. */
  readonly isInteractive: boolean;
  /** The setting by which Codex trusts hopgate's hooks, see {@link askCodexHookTrust}. */
  readonly trust: CodexOverride;
}

/**
 * The arguments that put Codex into a session; they come before the user's. No file of the user is written: everything
 * is passed on the command line, and the trust in hopgate's hooks is valid for this run only.
 */
export const makeCodexArguments = ({
  root,
  options,
  mcp,
  server,
  hooks,
  isInteractive,
  trust,
}: CodexLaunch): readonly string[] =>
  toOverrideArguments([
    ...sandboxOverrides(options, root, isInteractive),
    ...mcpOverrides(mcp, server),
    ...hookOverrides(hooks),
    trust,
  ]);

/**
 * Asks Codex for the hashes of hopgate's hooks, and returns the setting by which Codex trusts them. The answer takes
 * several hundred milliseconds and depends on no session, so the caller can open the session meanwhile.
 * @throws CliError `codex-failed`, `codex-too-old`, `hooks-off`
 */
export async function askCodexHookTrust({ codex, root, env, hooks }: HookedCodex): Promise<CodexOverride> {
  const answer = await listHooks(codex, root, env, hookOverrides(hooks));
  if (!isNewEnough(answer.version))
    throw new CliError(
      'codex-too-old',
      `${codex} is Codex ${answer.version || 'of an unknown version'}, and hopgate needs ${OLDEST_VERSION.join('.')} or newer`,
      'Update Codex (codex update), or name another program with --codex PROGRAM.',
    );
  return trustOverride(hashesOfHopgateHooks(answer, hooks), installedHookKeys(answer));
}

/** The keys of hopgate's installed hooks: this run disables them, so that only one hook answers each event. */
const installedHookKeys = ({ hooks }: CodexAnswer): readonly string[] =>
  hooks.flatMap(({ source, command, key }) =>
    source !== 'sessionFlags' && isHopgateCodexHook(command ?? '') ? [key] : [],
  );

async function listHooks(
  codex: string,
  cwd: string,
  env: Env,
  overrides: readonly CodexOverride[],
): Promise<CodexAnswer> {
  try {
    return await askCodex({ codex, cwd, env, overrides });
  } catch (cause) {
    throw new CliError(
      'codex-failed',
      (cause as Error).message,
      'Start codex without hopgate to check its own configuration, then try again.',
      { cause },
    );
  }
}

/** The hash of each of hopgate's hooks, by the key under which Codex stores its trust. */
export function hashesOfHopgateHooks(
  { hooks: listed, problems }: CodexAnswer,
  hopgateHooks: CodexHooks,
): { readonly [key: string]: string } {
  const commands = new Set(
    CODEX_EVENTS.flatMap((event) => hopgateHooks[event].flatMap(({ hooks }) => hooks.map(({ command }) => command))),
  );
  const found = listed.filter(
    ({ source, command }) => source === 'sessionFlags' && command !== null && commands.has(command),
  );
  if (found.length < CODEX_EVENTS.length || found.some(({ enabled }) => !enabled))
    throw new CliError(
      'hooks-off',
      `Codex accepts ${found.filter(({ enabled }) => enabled).length} of hopgate's ${CODEX_EVENTS.length} hooks${problems.length > 0 ? `: ${problems.join('; ')}` : ''}`,
      'Switch its hooks on (features.hooks), or ask the administrator of this machine: a policy may allow managed hooks only.',
    );
  return Object.fromEntries(found.map(({ key, currentHash }) => [key, currentHash]));
}

function isNewEnough(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of OLDEST_VERSION.entries()) {
    const part = parts[index] ?? -1;
    if (part !== least) return part > least;
  }
  return true;
}
