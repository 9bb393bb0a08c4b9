import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownPluginFiles } from '../claude/plugin-folder.ts';
import { textOf } from './apply.ts';
import type { FileChange, Installer, Place } from './installer.ts';
import { objectIn, withKey } from './json-settings.ts';

/**
 * The plugin goes where Claude Code looks for skills that are plugins, so that no settings have to name it; the only setting that is written is the
 * one that keeps hooks on.
 */
export const claudeInstaller: Installer = {
  client: 'claude',
  async install(place) {
    const folder = pluginFolder(place);
    const files = Object.entries(ownPluginFiles(place.io.env)).map(([path, text]) => change(join(folder, path), text));
    const left = filesIn(folder).filter((path) => !files.some((file) => file.path === path));
    const plugin = [...files, ...left.map((path) => change(path, null))];
    return {
      changes: [...plugin, settingsChange(place, false)],
      notes: place.scope === 'project' ? projectNotes(place) : userNotes,
    };
  },
  async uninstall(place) {
    return {
      changes: [...filesIn(pluginFolder(place)).map((path) => change(path, null)), settingsChange(place, undefined)],
      notes: ['The evidence stays where it is. Conversations that run keep the hooks until they end.'],
    };
  },
};

const userNotes = [
  'Every conversation of Claude Code on this account is in a session from its next start on, in whatever folder it works.',
  'A repository that switches hooks off for itself (disableAllHooks in its own .claude settings) switches hopgate off with them; "hopgate claude" and --scope project hold against that.',
];

const projectNotes = ({ root }: Place): readonly string[] => [
  `Every conversation of Claude Code in ${root} is in a session from its next start on. What was written names programs of this machine: keep it out of git (.claude/skills/hopgate/ and .claude/settings.local.json).`,
];

const change = (path: string, after: string | null): FileChange => ({
  path,
  before: textOf(path),
  after,
  isOurs: true,
});

const configFolder = ({ io, root, scope }: Place): string =>
  scope === 'project'
    ? join(root, '.claude')
    : io.env['CLAUDE_CONFIG_DIR'] || join(io.env['HOME'] || homedir(), '.claude');

const pluginFolder = (place: Place): string => join(configFolder(place), 'skills', 'hopgate');

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
    : [];

/** In a repository the local settings, because they stand above those that the repository shares. */
const settingsFile = (place: Place): string =>
  join(configFolder(place), place.scope === 'project' ? 'settings.local.json' : 'settings.json');

/** @param value what disableAllHooks is to be; undefined: it goes, where it says what we wrote */
function settingsChange(place: Place, value: false | undefined): FileChange {
  const path = settingsFile(place);
  const before = textOf(path);
  if (value === undefined && (before === null || objectIn(before, path)['disableAllHooks'] !== false))
    return { path, before, after: before };
  const after = withKey(before, path, 'disableAllHooks', value);
  const isLeft = after === null || Object.keys(objectIn(after, path)).length > 0;
  return { path, before, after: isLeft ? after : null };
}
