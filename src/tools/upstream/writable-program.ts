import { statSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { splitWords } from '../../base/text.ts';
import { writePathReason } from '../../gate/scope/write-paths.ts';
import type { ProjectConfig, UpstreamServer } from '../../spec/types.ts';

const PROGRAMS = new Set(splitWords('.js .mjs .cjs .ts .mts .cts .py .rb .pl .php .sh .jar .lua'));

/**
 * Returns the root-relative file of a server's command line that some scope lets agents write; null if there is none.
 * An agent that writes this file could run any code outside the sandbox.
 * @param scopes writable paths of each peripheral
 */
export function findWritableProgram(
  server: UpstreamServer,
  root: string,
  scopes: ProjectConfig['scopes'],
): string | null {
  if ('url' in server) return null;
  const folder = resolve(root, server.cwd ?? '.');
  for (const [index, word] of server.command.entries()) {
    const file = resolve(folder, word);
    const path = relative(root, file);
    if (path === '' || path.startsWith('..') || Object.values(scopes).every((write) => writePathReason(path, write)))
      continue;
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && (index === 0 || PROGRAMS.has(extname(file)) || (stat.mode & 0o111) !== 0)) return path;
  }
  return null;
}
