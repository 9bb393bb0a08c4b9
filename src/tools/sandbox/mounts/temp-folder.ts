import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../at-exit.ts';

/** Names the pid namespace as well: in another one a pid means nothing to us. */
const PREFIX = `hopgate-sandbox-${/\d+/.exec(readlinkIfAny('/proc/self/ns/pid'))?.[0] ?? '0'}-`;

/**
 * A fresh folder that everybody can look into, removed when the process exits, or by the next one if it was killed. Its path may stand in mount
 * options: it has neither a comma nor a colon.
 */
export function makeTempFolder(): string {
  const parent = /^[\w./-]+$/.test(tmpdir()) ? tmpdir() : '/tmp';
  removeStale(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

let hidden: string | null = null;

/** The same, at a path that no other user can find: for what only the owner of a repository may see, whoever reads it in the sandbox. */
export function hiddenFolder(): string {
  if (hidden === null || !existsSync(hidden)) {
    hidden = makeTempFolder();
    chmodSync(hidden, 0o711);
  }
  const folder = join(hidden, randomUUID());
  mkdirSync(folder, { mode: 0o755 });
  return folder;
}

/** Folders of processes that were killed before they could remove them, and what of their sandboxes still waits for them. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!(pid > 0) || existsSync(`/proc/${pid}`)) continue;
    const folder = join(parent, name);
    // Another user's may hold links, and change while we walk it.
    if (lstatSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid!()) continue;
    killOrphans(folder);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // somebody else was faster
    }
  }
}

/**
 * A launcher whose engine is killed in the milliseconds before it has asked to die along waits for it for good. Its command line names the
 * engine's folder; nothing else does.
 */
function killOrphans(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (command.split('\0').some((word) => word.startsWith(`${folder}/`))) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // it has ended meanwhile, or is another user's
    }
  }
}

function readlinkIfAny(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
