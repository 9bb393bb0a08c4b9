import { constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, pathExists, withOpenFile, writeAtomically, writeNewFile } from '../base/files.ts';
import { isLeaseHolderGone } from '../base/process-holder.ts';
import { valueOr } from '../base/value-or.ts';
import { type PendingRequest, parsePendingRequest, REQUEST_LIFETIME_MS } from './pending-request.ts';
import { isSha256Hex, parseAnswer, type SignedAnswer } from './signed-answer.ts';

/** Maximum size of a request, in bytes: no person could read a larger one. Larger files are ignored. */
const MAX_REQUEST = 1 << 20;

/**
 * The requests and answers of a state folder: `approvals/pending/HASH.json`, `approvals/answers/HASH.json`, and for
 * each answer that was used an empty `approvals/used/NONCE`. Several processes use it at once; files that cannot be
 * parsed are treated as missing.
 */
export interface ApprovalsFolder {
  /** The folder of answers; created, so that it can be watched. */
  readonly answersFolder: string;
  /** The pending requests, the oldest first, without those whose process has ended. */
  pending(): readonly PendingRequest[];
  pendingOf(hash: string): PendingRequest | null;
  /** Stores a request and returns it, or the same request that another process stored. Null if it is too large. */
  keepPending(request: PendingRequest): PendingRequest | null;
  dropPending(hash: string): void;
  answer(hash: string): SignedAnswer | null;
  keepAnswer(answer: SignedAnswer): void;
  /** Stores an answer if there is none; false if another process has stored one. */
  keepFirstAnswer(answer: SignedAnswer): boolean;
  dropAnswer(hash: string): void;
  /** Marks an answer as used. True only for the first caller among all processes. */
  claim(answer: SignedAnswer): boolean;
  isUsed(answer: SignedAnswer): boolean;
  /** Removes expired answers, and requests that are expired or whose process has ended. */
  sweep(now: number): void;
}

export function approvalsFolder(stateDir: string): ApprovalsFolder {
  const folder = (name: string): string => {
    const path = join(stateDir, 'approvals', name);
    makeFolders(path, 0o700);
    return path;
  };
  const [pendingFolder, answersFolder, usedFolder] = [folder('pending'), folder('answers'), folder('used')];
  const pendingFile = (hash: string): string => join(pendingFolder, `${checkHash(hash)}.json`);
  const answerFile = (hash: string): string => join(answersFolder, `${checkHash(hash)}.json`);
  const pendingOf = (hash: string): PendingRequest | null => {
    const found = parsePendingRequest(readJson(pendingFile(hash)));
    return found?.request.hash === hash && !isLeaseHolderGone(found.holder ?? '') ? found : null;
  };
  const answer = (hash: string): SignedAnswer | null => parseAnswer(readJson(answerFile(hash)));
  const hashes = (path: string): readonly string[] =>
    readdirSync(path)
      .filter(isHashFile)
      .map((name) => name.slice(0, 64));
  return {
    answersFolder,
    pendingOf,
    answer,
    pending: () =>
      hashes(pendingFolder)
        .flatMap((hash) => pendingOf(hash) ?? [])
        .sort((a, b) => a.askedAt - b.askedAt),
    keepPending(request) {
      const { hash } = request.request;
      const text = toJsonText(request);
      if (Buffer.byteLength(text) > MAX_REQUEST) return null;
      const file = pendingFile(hash);
      if (writeNewFile(file, text)) return request;
      const stored = pendingOf(hash);
      if (stored) return stored;
      remove(file); // The existing file is not a valid request, so it is replaced.
      writeAtomically(file, text);
      return request;
    },
    dropPending: (hash) => remove(pendingFile(hash)),
    keepAnswer(signed) {
      const file = answerFile(signed.requestHash);
      if (answer(signed.requestHash) === null) remove(file); // A folder of this name would make the write fail.
      writeAtomically(file, toJsonText(signed));
    },
    keepFirstAnswer: (signed) => writeNewFile(answerFile(signed.requestHash), toJsonText(signed)),
    dropAnswer: (hash) => remove(answerFile(hash)),
    claim(signed) {
      if (!writeNewFile(join(usedFolder, signed.nonce), '')) return false;
      remove(answerFile(signed.requestHash));
      return true;
    },
    isUsed: ({ nonce }) => pathExists(join(usedFolder, nonce)),
    sweep(now) {
      const folders = [[pendingFolder, pendingOf] as const, [answersFolder, answer] as const];
      for (const [path, read] of folders) {
        for (const hash of hashes(path)) if (now >= (read(hash)?.expiresAt ?? 0)) remove(join(path, `${hash}.json`));
        for (const name of readdirSync(path)) if (!isHashFile(name)) removeOld(join(path, name), REQUEST_LIFETIME_MS);
      }
      // An answer is valid for at most a day, so its use need not be stored for more than two days.
      for (const name of readdirSync(usedFolder)) removeOld(join(usedFolder, name), 2 * REQUEST_LIFETIME_MS);
    },
  };
}

const isHashFile = (name: string): boolean => isSha256Hex(name.slice(0, 64)) && name.slice(64) === '.json';

const remove = (path: string): void => rmSync(path, { force: true, recursive: true });

/** Removes a file that is older than `age`, in milliseconds. */
function removeOld(file: string, age: number): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() && Date.now() - stat.mtimeMs > age) rmSync(file, { force: true });
}

/** Returns the text if it is a hash; throws otherwise. Names of files are made only of hashes. */
function checkHash(hash: string): string {
  if (!isSha256Hex(hash)) throw new Error(`"${hash}" is not the hash of a request`);
  return hash;
}

const toJsonText = (value: PendingRequest | SignedAnswer): string => `${JSON.stringify(value, null, 2)}\n`;

/** A small regular file's JSON; undefined if it is anything else. */
function readJson(file: string): unknown {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const read = (fd: number): unknown => {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= 2 * MAX_REQUEST ? JSON.parse(readFileSync(fd, 'utf8')) : undefined;
  };
  return valueOr(() => withOpenFile(openSync(file, flags), read), undefined);
}
