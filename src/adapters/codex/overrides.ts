import { randomUUID } from 'node:crypto';
import { expandBraces } from '../../base/glob.ts';
import { CODEX_EVENTS, type CodexHooks } from './codex-hook-config.ts';
import type { CodexThreadOptions } from './thread-options.ts';
import { printTomlLiteral, printTomlString, type TomlValue } from './toml.ts';

/** The command with which Codex starts hopgate's MCP server. */
export interface McpEntry {
  readonly command: string;
  readonly args: readonly string[];
  /** The server's environment: Codex does not pass its own to MCP servers. */
  readonly env: { readonly [name: string]: string };
}

/**
 * The permission profile that {@link sandboxOverrides} defines. Codex merges profiles of one name, so with a fixed name
 * a repository's configuration could add paths and the network to it.
 */
const PROFILE = `hopgate-${randomUUID()}`;

/** Depth to which Codex's sandbox on Linux searches for masked files, to hide them, when it starts. */
const MASK_DEPTH = 8;

/** Timeout in seconds for one call of a hopgate tool: the longest limit of the built-in tools, plus waiting time. */
const TOOL_TIMEOUT_SECONDS = 1200;

/**
 * Maximum number of tokens of an answer that Codex shows its model; Codex cuts the middle out of a longer answer. Its
 * default for models that it does not know is a quarter of this, too little for one part of a long answer.
 */
const OUTPUT_TOKENS = 10_000;

/** `key=value` for Codex's option `-c`, which changes none of the user's files. */
export type CodexOverride = `${string}=${string}`;

const override = (key: string, value: TomlValue): CodexOverride => `${key}=${printTomlLiteral(value)}`;

export const toOverrideArguments = (overrides: readonly CodexOverride[]): readonly string[] =>
  overrides.flatMap((one) => ['-c', one]);

/**
 * A permission profile for Codex's own sandbox, with the peripheral's limits. Commands can read the root without the
 * masked files, and the files that programs need to run. They can write only the folders of the scope. They have no
 * network.
 * @param isInteractive true if a person sits at the screen; they are asked only the questions of hopgate's MCP server
 */
export function sandboxOverrides(
  options: CodexThreadOptions,
  root: string,
  isInteractive = false,
): readonly CodexOverride[] {
  const { approvalPolicy, deniedReads, writableRoots, webSearch } = options;
  const access: { [path: string]: TomlValue } = { '.': 'read' };
  for (const path of writableRoots) access[path === root ? '.' : path.slice(root.length + 1)] = 'write';
  for (const pattern of deniedReads.flatMap(maskGlobs)) access[pattern] = 'deny';
  return [
    override('default_permissions', PROFILE),
    override(`permissions.${PROFILE}.filesystem`, {
      ':minimal': 'read',
      glob_scan_max_depth: MASK_DEPTH,
      [root]: access,
    }),
    override('approval_policy', isInteractive ? MCP_QUESTIONS_ONLY : approvalPolicy),
    override('web_search', webSearch),
  ];
}

/**
 * Approval policy under which only MCP servers can ask. Under `never`, Codex declines every question of a server
 * without showing it. The kinds with `false` are declined in the same way.
 */
const MCP_QUESTIONS_ONLY: TomlValue = {
  granular: {
    sandbox_approval: false,
    rules: false,
    request_permissions: false,
    skill_approval: false,
    mcp_elicitations: true,
  },
};

/**
 * Converts a mask to globs relative to the root. A mask without a slash applies at any depth, and hides a folder with
 * all its content. Codex supports neither exceptions nor `!(…)`, so such masks hide more in Codex.
 */
function maskGlobs(pattern: string): readonly string[] {
  if (pattern.startsWith('!')) return [];
  const bare = pattern.replace(/!\([^()]*\)/g, '*').replace(/(?<!\/)\/+$/, '');
  return expandBraces(bare)
    .flatMap((glob) => [...new Set([glob, glob.replaceAll('[', '[[]')])])
    .map((glob) => (glob.includes('/') ? glob.replace(/^\/+/, '') : `**/${glob}`));
}

/** hopgate's MCP server for Codex: a command to start, or a local address. */
export type McpServer =
  | McpEntry
  | {
      readonly url: string;
      /** Name of the variable in Codex's environment with the server's token. */
      readonly tokenVariable: string;
    };

/**
 * Configures hopgate's MCP server. Its calls need no approval by Codex, because hopgate decides each, and its list of
 * tools follows every hop.
 * @param name the name of the server, whose tools are `mcp__<name>__<tool>`; with hooks, a name that no other
 *   configuration knows
 */
export function mcpOverrides(server: McpServer, name = 'hopgate'): readonly CodexOverride[] {
  const connection: TomlValue =
    'url' in server
      ? { url: server.url, bearer_token_env_var: server.tokenVariable }
      : { command: server.command, args: server.args, env: server.env };
  return [
    override(`mcp_servers.${name}`, {
      ...(connection as { readonly [key: string]: TomlValue }),
      required: true,
      startup_timeout_sec: 30,
      tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
      default_tools_approval_mode: 'approve',
    }),
    override('tool_output_token_limit', OUTPUT_TOKENS),
    override('features.mcp_tool_list_changed', true),
    override('suppress_unstable_features_warning', true),
  ];
}

/** Removes Codex's shell, so that commands run only through hopgate. Needed where no hooks are installed. */
export const withoutShell = (): readonly CodexOverride[] => [override('features.shell_tool', false)];

/** Adds hopgate's hooks as a configuration layer of their own; the user's hooks run as well. */
export const hookOverrides = (hooks: CodexHooks): readonly CodexOverride[] => [
  override('features.hooks', true),
  ...CODEX_EVENTS.map((event) => override(`hooks.${event}`, hooks[event])),
];

/**
 * Marks hooks as trusted: Codex runs a hook only if its state contains the hash of the hook. Also enables the
 * hooks, because a profile (`codex --profile`) may have disabled them.
 * @param off keys of the hooks to disable
 */
export function trustOverride(hashes: { readonly [key: string]: string }, off: readonly string[] = []): CodexOverride {
  const states = [
    ...Object.entries(hashes).map(
      ([key, hash]) => `${printTomlString(key)} = {enabled = true, trusted_hash = ${printTomlString(hash)}}`,
    ),
    ...off.map((key) => `${printTomlString(key)} = {enabled = false}`),
  ];
  return `hooks.state={${states.join(', ')}}`;
}
