import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, writeNewFile } from '../base/files.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';

const SHAPE = /^hopgate_[a-z0-9]{12}$/;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * The name of hopgate's MCP server in client programs. It is random, because client programs distinguish servers only
 * by name, and any repository can define a server. It is generated once for this user and stored in the state folder,
 * which no sandbox mounts. It has no two underscores in a row, because these separate a server from its tool.
 * @throws Error if the file contains no such name
 */
export function mcpServerName(env: Env): string {
  const folder = userStateFolder(env);
  const file = join(folder, 'mcp-server-name');
  const known = valueOr(() => readFileSync(file, 'utf8'), null, ['ENOENT']);
  if (known !== null) return checkedName(file, known);
  makeFolders(folder, 0o700);
  const drawn = Array.from({ length: 12 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  writeNewFile(file, `hopgate_${drawn}`); // Another process may be first.
  return checkedName(file, readFileSync(file, 'utf8'));
}

function checkedName(file: string, name: string): string {
  if (SHAPE.test(name)) return name;
  throw new Error(`${file} does not contain a valid server name; remove it`);
}
