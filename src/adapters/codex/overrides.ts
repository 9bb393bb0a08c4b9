import { expandBraces } from '../../base/glob.ts';
import { CODEX_EVENTS, type CodexHooks } from './hook-config.ts';
import type { CodexThreadOptions } from './thread-options.ts';
import { type TomlValue, tomlLiteral, tomlString } from './toml.ts';

/** How Codex starts hopgate's MCP server. */
export interface McpEntry {
  readonly command: string;
  readonly args: readonly string[];
  /** Codex hands its own environment to no MCP server. */
  readonly env: { readonly [name: string]: string };
}

/** The permission profile that {@link sandboxOverrides} defines. */
const PROFILE = 'hopgate';

/** How deep Codex looks for masked files on Linux, where its sandbox hides the files that it finds at the start. */
const MASK_DEPTH = 8;

/** Seconds for one call of a hopgate tool: the longest of the shipped ones, and waiting. */
const TOOL_TIMEOUT_SECONDS = 1200;

/** `key=value` for Codex's `-c`, which touches no file of the user's. */
export type Override = `${string}=${string}`;

const override = (key: string, value: TomlValue): Override => `${key}=${tomlLiteral(value)}`;

/** The overrides as arguments of the command line. */
export const asArguments = (overrides: readonly Override[]): readonly string[] =>
  overrides.flatMap((one) => ['-c', one]);

/**
 * Codex's own sandbox as the peripheral grants it, as a permission profile: only what a program needs to run and the root can be read, without
 * the masks; only the scope's folders can be written; no network.
 *
 * @param asked somebody sits at the screen: they may be asked what hopgate's MCP server has to ask, and nothing else
 */
export function sandboxOverrides(options: CodexThreadOptions, root: string, asked = false): readonly Override[] {
  const { approvalPolicy, deniedReads, writableRoots, webSearch } = options;
  const beneath: { [path: string]: TomlValue } = { '.': 'read' };
  for (const path of writableRoots) beneath[path === root ? '.' : path.slice(root.length + 1)] = 'write';
  for (const pattern of deniedReads.flatMap(maskGlobs)) beneath[pattern] = 'deny';
  return [
    override('default_permissions', PROFILE),
    override(`permissions.${PROFILE}.filesystem`, {
      ':minimal': 'read',
      glob_scan_max_depth: MASK_DEPTH,
      [root]: beneath,
    }),
    override('approval_policy', asked ? ONLY_OURS : approvalPolicy),
    override('web_search', webSearch),
  ];
}

/** Under the policy `never` Codex declines whatever a server asks, and nobody sees it. What is false here is declined likewise. */
const ONLY_OURS: TomlValue = {
  granular: {
    sandbox_approval: false,
    rules: false,
    request_permissions: false,
    skill_approval: false,
    mcp_elicitations: true,
  },
};

/**
 * A mask as globs beneath the root: without a slash it holds at any depth. What it hides, it hides with all that lies beneath. Codex knows no
 * exceptions and no `!(…)`: there it hides more.
 */
function maskGlobs(pattern: string): readonly string[] {
  if (pattern.startsWith('!')) return [];
  const bare = pattern.replace(/!\([^()]*\)/g, '*').replace(/\/+$/, '');
  return expandBraces(bare)
    .flatMap((glob) => [...new Set([glob, glob.replaceAll('[', '[[]')])])
    .map((glob) => (glob.includes('/') ? glob.replace(/^\/+/, '') : `**/${glob}`));
}

/** How Codex reaches hopgate's MCP server: by starting it, or at an address of this machine. */
export type McpServer =
  | McpEntry
  | {
      readonly url: string;
      /** The variable of Codex's environment that holds the server's token. */
      readonly tokenVariable: string;
    };

/**
 * hopgate's MCP server: its calls need no approval of Codex's (hopgate decides each), and its list of tools follows every hop.
 *
 * @param name the server's: its tools are `mcp__<name>__<tool>`. Where hooks decide, one that no other configuration knows.
 */
export function mcpOverrides(server: McpServer, name = 'hopgate'): readonly Override[] {
  const where: TomlValue =
    'url' in server
      ? { url: server.url, bearer_token_env_var: server.tokenVariable }
      : { command: server.command, args: server.args, env: server.env };
  return [
    override(`mcp_servers.${name}`, {
      ...(where as { readonly [key: string]: TomlValue }),
      required: true,
      startup_timeout_sec: 30,
      tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
      default_tools_approval_mode: 'approve',
    }),
    override('features.mcp_tool_list_changed', true),
    override('suppress_unstable_features_warning', true),
  ];
}

/** Takes Codex's own shell away: for programs whose session no hook can ask, so that commands run through hopgate or not at all. */
export const withoutShell = (): readonly Override[] => [override('features.shell_tool', false)];

/** hopgate's hooks. They are a layer of their own: the user's own hooks run beside them. */
export function hookOverrides(hooks: CodexHooks): readonly Override[] {
  return [override('features.hooks', true), ...CODEX_EVENTS.map((event) => override(`hooks.${event}`, hooks[event]))];
}

/**
 * Codex runs a hook only if its state names the hash of what it runs.
 *
 * @param off keys of hooks that are not to run
 */
export function trustOverride(hashes: { readonly [key: string]: string }, off: readonly string[] = []): Override {
  const states = [
    ...Object.entries(hashes).map(([key, hash]) => `${tomlString(key)} = {trusted_hash = ${tomlString(hash)}}`),
    ...off.map((key) => `${tomlString(key)} = {enabled = false}`),
  ];
  return `hooks.state={${states.join(', ')}}`;
}
