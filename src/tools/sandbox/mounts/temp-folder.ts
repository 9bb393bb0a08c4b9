import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lstatIfAny, readLinkOrNull } from '../../../base/files.ts';
import { runAtProcessExit } from '../at-exit.ts';

/** Names of these folders include the pid namespace, because a pid of another namespace means nothing here. */
const PREFIX = `hopgate-sandbox-${/\d+/.exec(readLinkOrNull('/proc/self/ns/pid') ?? '')?.[0] ?? '0'}-`;

/**
 * Options for removing a folder. A sandbox launcher that was just killed may still create named pipes in it, so the
 * removal is retried.
 */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };

/** A fresh, world-readable folder until the process exits. Its path has no comma or colon, for mount options. */
export function makeTempFolder(): string {
  const parent = /^[\w./-]+$/.test(tmpdir()) ? tmpdir() : '/tmp';
  removeStale(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  runAtProcessExit(() => rmSync(folder, REMOVAL));
  chmodSync(folder, 0o755);
  return folder;
}

let hidden: string | null = null;

/** A temporary folder at a path that no other user can find, for files that only the repository's owner may see. */
export function makeHiddenFolder(): string {
  if (hidden === null || !existsSync(hidden)) {
    hidden = makeTempFolder();
    chmodSync(hidden, 0o711);
  }
  const folder = join(hidden, randomUUID());
  mkdirSync(folder, { mode: 0o755 });
  return folder;
}

/** A text that changes when a file of the folder is removed or replaced, such as by a cleaner of temporary files. */
export function stampOfFiles(folder: string, names: Iterable<string>): string {
  const stats = [...names].map((name) => lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false }));
  return stats.map((each) => `${each?.ino} ${each?.ctimeNs}`).join();
}

/** Gives a file to another user if hopgate is root. */
export function setOwnerAsRoot(path: string, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
  if (process.getuid!() === 0) chownSync(path, uid, gid);
}

/** Removes the folders of killed processes and the sandbox launchers that still wait for them. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!(pid > 0) || existsSync(`/proc/${pid}`)) continue;
    const folder = join(parent, name);
    // Folders of other users are skipped: they may contain links and change during the removal.
    if (lstatIfAny(folder)?.uid !== process.getuid!()) continue;
    killOrphans(folder);
    try {
      rmSync(folder, REMOVAL);
    } catch {
      // Another process removed the folder first.
    }
  }
}

/** Kills launchers that wait forever, because hopgate was killed just before they set their parent-death signal. */
function killOrphans(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (command.split('\0').some((word) => word.startsWith(`${folder}/`))) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has exited, or belongs to another user.
    }
  }
}
