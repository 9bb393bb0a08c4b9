import { randomInt } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Env, stateHome } from '../base/user-folders.ts';

const SHAPE = /^hopgate_[a-z0-9]{12}$/;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * The name under which client programs start hopgate's MCP server: generated once for this user and stored in the state
 * folder, which no sandbox mounts. Client programs distinguish servers only by name, and any repository can define a
 * server; no repository can guess this name. It has no two underscores in a row, because these separate a server from
 * its tool.
 *
 * @throws Error if the file contains anything else
 */
export function serverName(env: Env): string {
  const folder = stateHome(env);
  const file = join(folder, 'mcp-server-name');
  try {
    return checked(file, readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const drawn = Array.from({ length: 12 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const made = `${file}.${process.pid}.${drawn}`;
  writeFileSync(made, `hopgate_${drawn}`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(made, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was first
  } finally {
    rmSync(made, { force: true });
  }
  return checked(file, readFileSync(file, 'utf8'));
}

function checked(file: string, name: string): string {
  if (SHAPE.test(name)) return name;
  throw new Error(`${file} does not contain a valid server name; remove it`);
}
