import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemSecretMounts } from '../host-secrets.ts';
import type { SandboxMount } from '../mount.ts';
import { type FilterArchitecture, seccompFilter } from '../seccomp.ts';
import { makeTempFolder } from './temp-folder.ts';

/** The uid and gid of the command in the sandbox, independent of the host user. */
export const SANDBOX_UID = 1000;

/** The sandbox's own host name; it resolves to the loopback address. */
export const SANDBOX_HOST_NAME = 'peripheral';

/** The files that a sandbox needs in addition to the system's, and the folder in which overlays are mounted. */
export interface SupportFiles {
  readonly folder: string;
  readonly emptyFile: string;
  readonly overlayBase: string;
  readonly etc: readonly { readonly source: string; readonly target: string }[];
  /** Mounts that cover the host's secrets in the folders of every sandbox. */
  readonly secrets: readonly SandboxMount[];
  /** The system-call filters, as bubblewrap reads them. */
  readonly filters: { readonly plain: string; readonly unixSockets: string };
}

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');

const ETC = {
  passwd: lines(
    'root:x:0:0:root:/root:/bin/sh',
    `agent:x:${SANDBOX_UID}:${SANDBOX_UID}:agent:/home/agent:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  ),
  group: lines('root:x:0:', `agent:x:${SANDBOX_UID}:`, 'nogroup:x:65534:'),
  hostname: lines(SANDBOX_HOST_NAME),
  // An address without a route (RFC 5737), so that a lookup fails at once and the kernel counts it.
  'resolv.conf': lines('nameserver 192.0.2.1', 'options timeout:1 attempts:1'),
  hosts: lines('127.0.0.1 localhost', '::1 localhost', `127.0.0.1 ${SANDBOX_HOST_NAME}`),
  'nsswitch.conf': lines('passwd: files', 'group: files', 'hosts: files dns', 'services: files', 'protocols: files'),
};

/** Writes the support files into a fresh folder that is removed when the process exits. */
export function makeSupportFiles(): SupportFiles {
  const folder = makeTempFolder();
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
    writeFileSync(file, seccompFilter({ arch: process.arch as FilterArchitecture, unixSockets }), { mode: 0o444 });
    return file;
  };
  const filters = { plain: filter('filter', false), unixSockets: filter('filter-unix-sockets', true) };
  return { folder, emptyFile, overlayBase, etc, secrets: systemSecretMounts(), filters };
}

export const areSupportFilesComplete = ({ emptyFile, overlayBase, etc, filters }: SupportFiles): boolean =>
  [emptyFile, overlayBase, filters.plain, filters.unixSockets, ...etc.map(({ source }) => source)].every((path) =>
    existsSync(path),
  );

/** A support file with exactly this text; equal texts share one file. */
export function makeSupportTextFile({ folder }: SupportFiles, text: string | Buffer): string {
  const file = join(folder, `text-${hash('sha256', text, 'hex')}`);
  if (!existsSync(file)) {
    // The file is written under another name and then renamed, so that it is complete or absent.
    writeFileSync(`${file}.new`, text, { mode: 0o555 });
    renameSync(`${file}.new`, file);
  }
  return file;
}
