import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './at-exit.ts';
import { type FilterArch, seccompFilter } from './seccomp.ts';

/** Who the command is inside, whoever we are outside. */
export const SANDBOX_ID = 1000;

/** The few files that a sandbox needs beside the system's own, and the folder where overlays are mounted (each run in its own mount namespace). */
export interface Furniture {
  readonly folder: string;
  readonly emptyFile: string;
  readonly overlayBase: string;
  /** What lies at which path of `/etc`. */
  readonly etc: readonly { readonly source: string; readonly target: string }[];
  /** The system-call filters, as bubblewrap reads them. */
  readonly filters: { readonly plain: string; readonly unixSockets: string };
}

/** Names the pid namespace as well: in another one a pid means nothing to us. */
const PREFIX = `hopgate-sandbox-${/\d+/.exec(readlinkIfAny('/proc/self/ns/pid'))?.[0] ?? '0'}-`;

const ETC = {
  passwd: `agent:x:${SANDBOX_ID}:${SANDBOX_ID}:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: `agent:x:${SANDBOX_ID}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Puts the furniture into a fresh folder that is removed when the process exits. */
export function makeFurniture(): Furniture {
  // Its path ends up in mount options, where a comma or colon would mean something.
  const parent = /^[\w./-]+$/.test(tmpdir()) ? tmpdir() : '/tmp';
  removeStale(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const emptyFile = join(folder, 'empty');
  const overlayBase = join(folder, 'overlay');
  mkdirSync(overlayBase, { mode: 0o755 });
  writeFileSync(emptyFile, '', { mode: 0o444 });
  const etc = Object.entries(ETC).map(([name, text]) => {
    const source = join(folder, name);
    writeFileSync(source, text, { mode: 0o444 });
    return { source, target: `/etc/${name}` };
  });
  const filter = (name: string, unixSockets: boolean) => {
    const file = join(folder, name);
    writeFileSync(file, seccompFilter({ arch: process.arch as FilterArch, unixSockets }), { mode: 0o444 });
    return file;
  };
  const filters = { plain: filter('filter', false), unixSockets: filter('filter-unix-sockets', true) };
  return { folder, emptyFile, overlayBase, etc, filters };
}

/** A file of the furniture that holds exactly this text; the same text is written once. */
export function textFile({ folder }: Furniture, text: string): string {
  const file = join(folder, `text-${hash('sha256', text, 'hex')}`);
  if (!existsSync(file)) writeFileSync(file, text, { mode: 0o444 });
  return file;
}

/** Folders of processes that were killed before they could remove them, and what of their sandboxes still waits for them. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!(pid > 0) || existsSync(`/proc/${pid}`)) continue;
    const folder = join(parent, name);
    killOrphans(folder);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // another user's
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
