import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  GUARD_SCRIPT,
  GUARD_SCRIPT_PATH,
  makeGuardHooks,
} from '../../adapters/claude-code/plugin/claude-hook-config.ts';
import { isObject } from '../../base/json.ts';
import { quoteShell } from '../../base/text.ts';
import { claudeFolder } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';
import { makePluginFiles } from '../claude/plugin-folder.ts';
import { allowRunCommand, removeRunCommand } from '../claude/run-command-rules.ts';
import { addHopgateStatusLine, isHopgateStatusLine, readUserStatusLine } from '../claude/status-line-setting.ts';
import { CliError } from '../io.ts';
import { makeOwnFileChange, readTextOrNull } from './apply-install.ts';
import type { FileChange, Installer, InstallTarget } from './installer.ts';
import { parseJsonObject, setJsonKey } from './json-settings.ts';
import { replaceHopgateHooks } from './replace-hopgate-hooks.ts';

/**
 * Installs the plugin in the folder where Claude Code looks for skills that are plugins, so that no settings have to
 * name it. The written settings keep hooks on and allow hopgate's run command, so that the user is asked only about the
 * agent's own command. In a repository they also block every call if Claude Code would not find the plugin.
 */
export const claudeInstaller: Installer = {
  async install(target) {
    const folder = pluginFolder(target);
    assertOurs(folder);
    const plugin = Object.entries(makePluginFiles(target.io.env)).map(
      ([path, text]) => [join(folder, path), text] as const,
    );
    const guard = target.scope === 'project' ? [[join(target.root, GUARD_SCRIPT_PATH), GUARD_SCRIPT] as const] : [];
    const files = [...plugin, ...guard, [originalFile(target), textToKeep(target)] as const].map(([path, text]) =>
      makeOwnFileChange(path, text),
    );
    const outdated = filesIn(folder).filter((path) => !files.some((file) => file.path === path));
    return {
      keep: keptFolder(target),
      changes: [...files, ...outdated.map((path) => makeOwnFileChange(path, null)), settingsChange(target, true)],
      notes: target.scope === 'project' ? projectNotes(target) : userNotes,
    };
  },
  async uninstall(target) {
    return {
      keep: keptFolder(target),
      changes: [...ourFiles(target).map((path) => makeOwnFileChange(path, null)), settingsChange(target, false)],
      notes: ['The evidence is kept. Running conversations keep the hooks until they end.'],
    };
  },
};

/** Refuses a folder that already contains something else, such as a skill of the user with the same name. */
function assertOurs(folder: string): void {
  if (filesIn(folder).length === 0 || isOurPlugin(readTextOrNull(join(folder, PLUGIN_FILE)))) return;
  throw new CliError(
    'folder-taken',
    `${folder} contains files that hopgate did not write`,
    'Move them to another folder, then run this again. Nothing was changed.',
  );
}

const isOurPlugin = (manifest: string | null): boolean =>
  valueOr(() => JSON.parse(manifest ?? '').author.name === 'hopgate', false);

const userNotes = [
  'From its next start on, Claude Code runs in a session in every folder of this account.',
  'A repository whose own .claude settings switch hooks (disableAllHooks) or plugins (enabledPlugins) off also disables hopgate; "hopgate claude" and --scope project still work there.',
];

const projectNotes = ({ root }: InstallTarget): readonly string[] => [
  `Every conversation of Claude Code in ${root} is in a session from its next start on. If it starts in a folder below, all its calls are refused (outside of git, it does not find this installation there). The written files name programs of this machine: keep them out of git (.claude/skills/hopgate/ and .claude/settings.local.json).`,
];

/** The files of the installed plugin; none if hopgate did not write the folder. */
const ourFiles = (target: InstallTarget): readonly string[] =>
  isOurPlugin(readTextOrNull(join(pluginFolder(target), PLUGIN_FILE))) ? filesIn(pluginFolder(target)) : [];

const PLUGIN_FILE = join('.claude-plugin', 'plugin.json');

const configFolder = ({ io, root, scope }: InstallTarget): string =>
  scope === 'project' ? join(root, '.claude') : claudeFolder(io.env);

/** The folder to keep on removal: the one that CLAUDE_CONFIG_DIR names. The default folder may be removed. */
const keptFolder = (target: InstallTarget): string => {
  const folder = configFolder(target);
  return target.scope === 'user' && target.io.env['CLAUDE_CONFIG_DIR'] ? folder : dirname(folder);
};

const pluginFolder = (target: InstallTarget): string => join(configFolder(target), 'skills', 'hopgate');

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
    : [];

/** The settings file to write. In a repository this is the local one, because it overrides the shared one. */
const settingsFile = (target: InstallTarget): string =>
  join(configFolder(target), target.scope === 'project' ? 'settings.local.json' : 'settings.json');

function settingsChange(target: InstallTarget, installs: boolean): FileChange {
  const path = settingsFile(target);
  const before = readTextOrNull(path);
  const originalText = readTextOrNull(originalFile(target));
  if (installs) return { path, before, after: withOurs(target, path, before) };
  if (originalText !== null && withOurs(target, path, originalText) === before)
    return { path, before, after: originalText };
  const after = withoutOurs(target, path, before, originalText);
  const isNonEmpty =
    originalText !== null || after === null || after === before || Object.keys(parseJsonObject(after, path)).length > 0;
  return { path, before, after: isNonEmpty ? after : null };
}

/** A copy of the settings before the installation. It is restored only if nobody changed the written settings. */
const originalFile = (target: InstallTarget): string => join(pluginFolder(target), 'settings.before');

/** The text for {@link originalFile}. If hopgate's settings are already installed, the existing copy is kept. */
function textToKeep(target: InstallTarget): string | null {
  const [path, originalText] = [settingsFile(target), readTextOrNull(originalFile(target))];
  const before = readTextOrNull(path);
  return before === withOurs(target, path, before) ? originalText : before;
}

function withOurs(target: InstallTarget, path: string, text: string | null): string | null {
  const switched = setJsonKey(text, path, 'disableAllHooks', false);
  const own =
    settingIn(text, path, 'statusLine') ?? (target.scope === 'project' ? readUserStatusLine(target.io.env) : undefined);
  const shown = setJsonKey(switched, path, 'statusLine', addHopgateStatusLine(own, target.io.env) as never);
  const allowed = changeObject(shown, path, 'permissions', (stated) => allowRunCommand(stated, target.io.env));
  const enabled = changeObject(allowed, path, 'enabledPlugins', (stated) => ({ ...stated, [PLUGIN_ID]: true }));
  return replaceHopgateHooks(enabled, path, guardOf(target));
}

const settingIn = (text: string | null, path: string, key: string): unknown =>
  text?.trim() ? parseJsonObject(text, path)[key] : undefined;

/** @param originalText the settings before the installation, whose `disableAllHooks` and `statusLine` are restored */
function withoutOurs(
  { io }: InstallTarget,
  path: string,
  text: string | null,
  originalText: string | null,
): string | null {
  const original = settingIn(originalText, path, 'disableAllHooks') as boolean | undefined;
  const isSetByHopgate = settingIn(text, path, 'disableAllHooks') === false;
  const switched = isSetByHopgate ? setJsonKey(text, path, 'disableAllHooks', original) : text;
  const shown = isHopgateStatusLine(settingIn(text, path, 'statusLine'), io.env)
    ? setJsonKey(switched, path, 'statusLine', settingIn(originalText, path, 'statusLine') as never)
    : switched;
  const asked = changeObject(shown, path, 'permissions', (stated) => removeRunCommand(stated, io.env));
  const others = changeObject(asked, path, 'enabledPlugins', ({ [PLUGIN_ID]: _, ...others }) => others);
  return replaceHopgateHooks(others, path, {});
}

/** Claude Code's id of the installed plugin. */
const PLUGIN_ID = 'hopgate@skills-dir';

type Members = { readonly [key: string]: unknown };

/**
 * Changes an object among the settings, and removes the object if it becomes empty. A value of another type stays
 * unchanged.
 */
function changeObject(text: string | null, path: string, key: string, change: (stated: Members) => Members) {
  const stated = settingIn(text, path, key) ?? {};
  if (!isObject(stated)) return text;
  const changed = change(stated);
  if (isDeepStrictEqual(changed, stated)) return text;
  return setJsonKey(text, path, key, Object.keys(changed).length > 0 ? (changed as never) : undefined);
}

const guardOf = ({ root, scope }: InstallTarget) =>
  scope === 'project' ? makeGuardHooks(quoteShell(join(root, GUARD_SCRIPT_PATH))) : {};
