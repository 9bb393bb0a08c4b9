import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { askCodex, type CodexAnswer } from '../../adapters/codex/ask-codex.ts';
import { CODEX_EVENTS, codexHooks } from '../../adapters/codex/codex-hook-config.ts';
import { hookOverrides } from '../../adapters/codex/overrides.ts';
import { splitWords } from '../../base/text.ts';
import { codexFolder } from '../../base/user-folders.ts';
import { hookCommand } from '../../daemon/hook/launcher.ts';
import { mcpServerName } from '../../daemon/mcp-server-name.ts';
import { findClientProgram, hopgateCommandLine } from '../client/client-program.ts';
import { hashesOfHopgateHooks } from '../codex/codex-arguments.ts';
import { makeFileChange, readTextOrNull } from './apply-install.ts';
import { addToCodexConfig, type CodexConfigAdditions, removeFromCodexConfig } from './codex-config-toml.ts';
import { addHopgateHooks, removeHopgateHooks } from './codex-hooks-json.ts';
import type { FileChange, Installer, InstallPlan, InstallTarget } from './installer.ts';
import { changesThatRestoreCopies, changeThatStoresCopies, readOriginalCopies } from './original-copies.ts';

/** Features that Codex needs. Without `mcp_tool_list_changed`, Codex keeps its first list of tools after a hop. */
const FEATURES = ['mcp_tool_list_changed'];

/** The variables that Codex must pass to hopgate's MCP server; it passes no others. */
const PASSED_VARIABLES = splitWords(`
  CODEX_HOME CODEX_BIN XDG_STATE_HOME XDG_RUNTIME_DIR HOPGATE_SESSION HOPGATE_ROOT HOPGATE_PERIPHERAL HOPGATE_DAEMON
`);

const SERVER_BLOCK = 'hopgate';

export const codexInstaller: Installer = { install: planInstall, uninstall: planUninstall };

/**
 * Plans the changes of `hopgate install codex`: hooks.json and config.toml of the user or of the repository. The trust
 * that Codex requires for hooks is always in the user's config.toml, because Codex reads it only there.
 * @throws CliError `malformed` or `taken` if no change is possible without a loss
 */
async function planInstall(target: InstallTarget): Promise<InstallPlan> {
  const { io } = target;
  const { folder, home } = foldersOf(target);
  const hooksFile = join(folder, 'hooks.json');
  const hopgateHooks = codexHooks(hookCommand('codex', io.env));
  const hooks = addHopgateHooks(hooksFile, readTextOrNull(hooksFile), hopgateHooks);
  const notes = ['Codex reads its hooks when it starts: restart it. "hopgate doctor" shows if they run.'];
  const trust = await trustOf(target, hooksFile, hooks.positions, notes);
  const configs = new Map<string, CodexConfigAdditions[]>([[join(folder, 'config.toml'), [serverAdditions(target)]]]);
  if (trust) configs.set(join(home, 'config.toml'), [...(configs.get(join(home, 'config.toml')) ?? []), trust]);
  const changes = [makeFileChange(hooksFile, hooks.text)];
  for (const [path, additions] of configs) {
    let text = readTextOrNull(path);
    // Starts from the text without hopgate's additions, which are removed in the reverse order of adding.
    for (const { block, features } of additions.toReversed())
      if (text !== null) text = removeFromCodexConfig(path, text, block, features);
    for (const addition of additions) text = addToCodexConfig(path, text, addition);
    changes.push(makeFileChange(path, text));
  }
  const removals = partsRemoved(target);
  const isPlain = (path: string) => removals.every((each) => each.path !== path || each.after === each.before);
  const copies = changeThatStoresCopies(readOriginalCopies(target, folder), changes, isPlain);
  return { changes: [...changes, copies], notes, keep: keptFolder(target) };
}

/** Plans the changes of `hopgate uninstall codex`: removes everything that hopgate wrote, and changes nothing else. */
async function planUninstall(target: InstallTarget): Promise<InstallPlan> {
  const changes = changesThatRestoreCopies(readOriginalCopies(target, foldersOf(target).folder), partsRemoved(target));
  const notes = ['The evidence is kept. A running Codex keeps the hooks until it ends.'];
  return { changes, notes, keep: keptFolder(target) };
}

/** The changes that remove hopgate's additions, also from files that were changed after the installation. */
function partsRemoved(target: InstallTarget): readonly FileChange[] {
  const { folder, home } = foldersOf(target);
  const hooksFile = join(folder, 'hooks.json');
  const hooks = readTextOrNull(hooksFile);
  const changes = [makeFileChange(hooksFile, hooks === null ? null : removeHopgateHooks(hooksFile, hooks))];
  for (const path of new Set([join(folder, 'config.toml'), join(home, 'config.toml')])) {
    let text = readTextOrNull(path);
    // Removes in the reverse order of installing, so that the file gets its earlier text back.
    for (const [block, features] of [
      [trustBlock(hooksFile), []],
      [SERVER_BLOCK, FEATURES],
    ] as const)
      if (text !== null && (block !== SERVER_BLOCK || path === join(folder, 'config.toml')))
        text = removeFromCodexConfig(path, text, block, features);
    changes.push(makeFileChange(path, text));
  }
  return changes;
}

/** Codex uses the real path of a folder that CODEX_HOME names, and the unresolved path of the default folder. */
function foldersOf({ io, scope, root }: InstallTarget): { readonly folder: string; readonly home: string } {
  const stated = resolve(io.cwd, codexFolder(io.env));
  const home = io.env['CODEX_HOME'] && existsSync(stated) ? realpathSync(stated) : stated;
  return { folder: scope === 'user' ? home : join(root, '.codex'), home };
}

/** The folder to keep on removal, because Codex does not start if CODEX_HOME names a missing folder. */
function keptFolder(target: InstallTarget): string {
  const { folder } = foldersOf(target);
  return target.scope === 'user' && target.io.env['CODEX_HOME'] ? folder : dirname(folder);
}

function serverAdditions({ io }: InstallTarget): CodexConfigAdditions {
  const [command, ...own] = hopgateCommandLine();
  return {
    block: SERVER_BLOCK,
    features: FEATURES,
    tables: [
      {
        path: ['mcp_servers', mcpServerName(io.env)],
        values: {
          command,
          args: [...own, 'mcp', '--attach', '--agent', 'codex'],
          env_vars: PASSED_VARIABLES,
          startup_timeout_sec: 30,
          tool_timeout_sec: 1200,
          default_tools_approval_mode: 'approve',
        },
      },
    ],
  };
}

const trustBlock = (hooksFile: string): string => `hopgate trust ${hooksFile}`;

/**
 * Asks Codex for the hashes to trust. Codex runs only hooks whose hash is stored, and only Codex can compute the hash.
 */
async function trustOf(
  { io, root, scope }: InstallTarget,
  hooksFile: string,
  indexes: { readonly [event: string]: number },
  notes: string[],
): Promise<CodexConfigAdditions | null> {
  const hopgateHooks = codexHooks(hookCommand('codex', io.env));
  let answer: CodexAnswer;
  let hashes: { readonly [key: string]: string };
  try {
    answer = await askCodex({
      codex: findClientProgram(io, 'codex', null),
      cwd: root,
      env: io.env,
      overrides: hookOverrides(hopgateHooks),
    });
    hashes = hashesOfHopgateHooks(answer, hopgateHooks);
  } catch (error) {
    notes.push(
      `The hooks are not trusted yet (${(error as Error).message}), so Codex ignores them: start codex, type /hooks, and trust those of hopgate.`,
    );
    return null;
  }
  if (scope === 'project')
    notes.push(
      'Codex uses the hooks of a repository only if it trusts the repository. It asks you when you start Codex there.',
    );
  const tables = Object.entries(hashes).map(([key, hash]) => {
    const event = key.split(':').at(-3) ?? '';
    return {
      path: ['hooks', 'state', `${hooksFile}:${event}:${indexes[eventName(event)]}:0`],
      values: { trusted_hash: hash },
    };
  });
  return { block: trustBlock(hooksFile), features: [], tables };
}

/** Converts the name of an event in a key (`pre_tool_use`) to the event's own name (`PreToolUse`). */
const eventName = (event: string): string =>
  CODEX_EVENTS.find((name) => name.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase() === event) ??
  event;
