import { hash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { makePlugin } from '../../adapters/claude-code/plugin/plugin-files.ts';
import { makeFolders } from '../../base/files.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { ensurePrivateDir } from '../../daemon/daemon-folder.ts';
import { hookCommand } from '../../daemon/hook/launcher.ts';
import { mcpServerName } from '../../daemon/mcp-server-name.ts';
import { hopgateCommandLine } from '../client/client-program.ts';
import type { Io } from '../io.ts';

type PluginFiles = { readonly [path: string]: string };

export function makePluginFiles(env: Io['env']): PluginFiles {
  const [command, ...own] = hopgateCommandLine();
  return makePlugin({
    version: manifest.version,
    hookCommand: hookCommand('claude-code', env),
    server: mcpServerName(env),
    mcp: { command, args: [...own, 'mcp', '--attach', '--agent', 'claude-code'] },
  });
}

/**
 * Returns the plugin's folder, and writes it if it does not exist. The folder is outside of every repository. Its name
 * contains the version and a content hash, so that a running client keeps the plugin that it was started with.
 */
export function ensurePluginFolder(env: Io['env']): string {
  const files = makePluginFiles(env);
  const name = `${manifest.version}-${hash('sha256', JSON.stringify(files)).slice(0, 12)}`;
  const folder = join(ensurePrivateDir(join(userStateFolder(env), 'claude-code')), name, 'hopgate');
  if (!hasFiles(folder, files)) writeFolder(folder, files);
  return folder;
}

/** True if every file exists with this content. */
const hasFiles = (folder: string, files: PluginFiles): boolean =>
  Object.entries(files).every(([path, text]) => {
    const file = join(folder, path);
    return existsSync(file) && readFileSync(file, 'utf8') === text;
  });

/** Writes a folder of files, and moves it into place by a rename. */
function writeFolder(folder: string, files: PluginFiles): void {
  const temporary = `${folder}.${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    makeFolders(dirname(join(temporary, path)), 0o700);
    writeFileSync(join(temporary, path), text, { mode: 0o600 });
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}
