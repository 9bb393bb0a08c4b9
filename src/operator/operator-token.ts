import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOwnFile, writeNewFile } from '../base/files.ts';

/** The operator's token cannot be used. `code` is stable; the message contains the remedy. */
export class TokenError extends Error {
  readonly code: 'token-missing' | 'token-unsafe' | 'token-malformed';
  constructor(code: TokenError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TokenError';
    this.code = code;
  }
}

/** The file of the operator's token of a repository, in its state folder, which no sandbox mounts. */
export const operatorTokenFile = (stateDir: string): string => join(stateDir, 'operator.token');

const TOKEN = /^hopgate-(?:operator|auditor|agent)-[0-9a-f]{64}$/;

/**
 * The operator's token of a state folder; created if missing (0600). Every process that can read it can answer for the
 * operator.
 * @throws TokenError as {@link readToken}
 */
export const ensureOperatorToken = (stateDir: string): string =>
  ensureTokenFile(operatorTokenFile(stateDir), 'operator');

/** The token of a role in a file; created if missing (0600). @throws TokenError as {@link readToken} */
export function ensureTokenFile(file: string, role: 'operator' | 'auditor' | 'agent'): string {
  try {
    return readToken(file);
  } catch (error) {
    if (!(error instanceof TokenError) || error.code !== 'token-missing') throw error;
  }
  // Never replaces a token that another process has created meanwhile.
  writeNewFile(file, `hopgate-${role}-${randomBytes(32).toString('hex')}\n`);
  return readToken(file);
}

/** The token of {@link ensureOperatorToken}; null if it cannot be used. No answer can then be proved. */
export function operatorTokenOrNull(stateDir: string): string | null {
  try {
    return ensureOperatorToken(stateDir);
  } catch (error) {
    if (error instanceof TokenError) return null;
    throw error;
  }
}

/**
 * Reads a token.
 * @throws TokenError `token-missing`; `token-unsafe`: a link, not a regular file, owned by another user, or readable by
 *   others; `token-malformed`.
 */
export function readToken(file: string): string {
  const fd = openToken(file);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile())
      throw new TokenError('token-unsafe', `${file} is not a file; remove it, then hopgate creates a new one`);
    if (!isOwnFile(stat)) throw new TokenError('token-unsafe', `${file} belongs to user ${stat.uid}, not to you`);
    if ((stat.mode & 0o077) !== 0)
      throw new TokenError(
        'token-unsafe',
        `${file} can be read by other users; if none has read it, run "chmod 600" on it, else remove it, then hopgate creates a new one`,
      );
    const token = stat.size > 1024 ? '' : readFileSync(fd, 'utf8').trim();
    if (TOKEN.test(token)) return token;
    throw new TokenError(
      'token-malformed',
      `${file} does not contain a token of hopgate; name the right file, or, if it is the one in the state folder, remove it, then hopgate creates a new one`,
    );
  } finally {
    closeSync(fd);
  }
}

function openToken(file: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new TokenError('token-missing', `there is no token in ${file}`, { cause });
    throw new TokenError('token-unsafe', `${file} cannot be opened as a token (${code})`, { cause });
  }
}
