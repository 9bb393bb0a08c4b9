import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The operator's token cannot be used. `code` is stable; the message says what to do. */
export class TokenError extends Error {
  readonly code: 'token-missing' | 'token-unsafe' | 'token-malformed';
  constructor(code: TokenError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TokenError';
    this.code = code;
  }
}

/** Where the operator's token of a repository lies: in its state folder, which no sandbox mounts. */
export const tokenFile = (stateDir: string): string => join(stateDir, 'operator.token');

const TOKEN = /^hopgate-operator-[0-9a-f]{64}$/;

/**
 * The operator's token of a state folder, made if it is not there yet (0600). Whoever can read it can answer for the operator.
 *
 * @throws TokenError as {@link readToken}
 */
export function ownToken(stateDir: string): string {
  const file = tokenFile(stateDir);
  try {
    return readToken(file);
  } catch (error) {
    if (!(error instanceof TokenError) || error.code !== 'token-missing') throw error;
  }
  const made = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(made, `hopgate-operator-${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(made, file); // never replaces the token that another process has made meanwhile
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
  return readToken(file);
}

/** {@link ownToken}; null where it cannot be used, so that nothing can be proved by it. */
export function usableToken(stateDir: string): string | null {
  try {
    return ownToken(stateDir);
  } catch (error) {
    if (error instanceof TokenError) return null;
    throw error;
  }
}

/**
 * Reads a token.
 *
 * @throws TokenError `token-missing`; `token-unsafe`: a link, no regular file, someone else's, or open to others; `token-malformed`.
 */
export function readToken(file: string): string {
  const fd = openToken(file);
  try {
    const stat = fstatSync(fd);
    const owner = process.getuid?.();
    if (!stat.isFile()) throw new TokenError('token-unsafe', `${file} is not a file; remove it, and a new one is made`);
    if (owner !== undefined && stat.uid !== owner)
      throw new TokenError('token-unsafe', `${file} belongs to user ${stat.uid}, not to you`);
    if ((stat.mode & 0o077) !== 0)
      throw new TokenError(
        'token-unsafe',
        `${file} can be read by others; if nobody has, run "chmod 600" on it, else remove it, and a new one is made`,
      );
    const token = stat.size > 1024 ? '' : readFileSync(fd, 'utf8').trim();
    if (TOKEN.test(token)) return token;
    throw new TokenError(
      'token-malformed',
      `${file} holds no token of the operator; name the right file, or, if it is the one in the state folder, remove it, and a new one is made`,
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
      throw new TokenError('token-missing', `there is no token of the operator in ${file}`, { cause });
    throw new TokenError('token-unsafe', `${file} cannot be opened as a token (${code})`, { cause });
  }
}
