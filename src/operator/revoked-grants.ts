import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, pathExists, readTextOrEmpty } from '../base/files.ts';
import { fieldsOf, parseJson } from '../base/json.ts';

/** The file that revokes a grant by its existence, whatever it contains: damage to it cannot restore the grant. */
const fileOf = (stateDir: string, grant: string): string =>
  join(stateDir, 'approvals', 'revoked', `${hash('sha256', grant)}.json`);

/** Revokes a grant at once, in every process. The session records it with its next call. */
export function revokeGrant(stateDir: string, grant: string, by: string): void {
  makeFolders(join(stateDir, 'approvals', 'revoked'), 0o700);
  if (whoRevokedGrant(stateDir, grant) === null)
    writeFileSync(fileOf(stateDir, grant), `${JSON.stringify({ grant, by })}\n`, { mode: 0o600 });
}

/** The person who revoked a grant; null if nobody did. */
export function whoRevokedGrant(stateDir: string, grant: string): string | null {
  const file = fileOf(stateDir, grant);
  if (!pathExists(file)) return null;
  const { by } = fieldsOf(parseJson(readTextOrEmpty(file)));
  return typeof by === 'string' ? by : 'operator';
}
