import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The name of hopgate's MCP server in tests: one that is known when a script is written. */
export const SERVER = 'hopgate_testtesttest';

/** Gives a state folder that name. */
export function nameServer(xdgStateHome: string): void {
  mkdirSync(join(xdgStateHome, 'hopgate'), { recursive: true, mode: 0o700 });
  writeFileSync(join(xdgStateHome, 'hopgate', 'mcp-server-name'), SERVER, { mode: 0o600 });
}
