import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ensureOperatorToken,
  operatorTokenFile,
  operatorTokenOrNull,
  readToken,
  TokenError,
} from '../../src/operator/operator-token.ts';
import { stateFolder } from './support.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof TokenError) return error.code;
    throw error;
  }
  return 'none';
};

describe('the operator’s token', () => {
  it('is made on first use, readable only by its owner, and stays the same', () => {
    const folder = stateFolder();
    const token = ensureOperatorToken(folder);
    expect(token).toMatch(/^hopgate-operator-[0-9a-f]{64}$/);
    expect(statSync(operatorTokenFile(folder)).mode & 0o777).toBe(0o600);
    expect(ensureOperatorToken(folder)).toBe(token);
    expect(readToken(operatorTokenFile(folder))).toBe(token);
    expect(ensureOperatorToken(stateFolder())).not.toBe(token);
  });

  it('has no second link, such as that of a temporary file', () => {
    const folder = stateFolder();
    ensureOperatorToken(folder);
    expect(readFileSync(operatorTokenFile(folder), 'utf8').trim()).toBe(ensureOperatorToken(folder));
    expect(statSync(operatorTokenFile(folder)).nlink).toBe(1);
  });

  it.each([
    ['is open to the group', 'token-unsafe', (file: string) => chmodSync(file, 0o640)],
    ['is open to all', 'token-unsafe', (file: string) => chmodSync(file, 0o604)],
    ['is empty', 'token-malformed', (file: string) => writeFileSync(file, '')],
    ['is some other text', 'token-malformed', (file: string) => writeFileSync(file, 'hopgate-operator-')],
    ['is huge', 'token-malformed', (file: string) => writeFileSync(file, 'a'.repeat(1 << 20))],
    [
      'is a folder',
      'token-unsafe',
      (file: string) => {
        rmSync(file);
        mkdirSync(file, { mode: 0o700 });
      },
    ],
    [
      'is a link',
      'token-unsafe',
      (file: string) => {
        linkSync(file, `${file}.other`);
        rmSync(file);
        symlinkSync(`${file}.other`, file);
      },
    ],
  ])('is refused if it %s', (_what, code, spoil) => {
    const folder = stateFolder();
    ensureOperatorToken(folder);
    spoil(operatorTokenFile(folder));
    expect(codeOf(() => ensureOperatorToken(folder))).toBe(code);
    expect(operatorTokenOrNull(folder)).toBeNull();
  });

  it('is reported as missing if the named file does not exist', () => {
    expect(codeOf(() => readToken(join(stateFolder(), 'none')))).toBe('token-missing');
  });
});
