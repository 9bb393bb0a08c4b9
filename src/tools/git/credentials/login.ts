import { realpathSync } from 'node:fs';
import type { GitCredential } from '../../../spec/types.ts';
import type { SandboxMount } from '../../sandbox/mount.ts';

/** The credential that one push presents to the remote, and the files that it needs. */
export interface GitLogin {
  /** The setting that names the credential, for messages; null without a credential. */
  readonly source: string | null;
  /** The credential for https; null without one. Git reads it from a pipe; no command line, variable or file has it. */
  readonly password: { readonly username: string; readonly password: string } | null;
  readonly env: { readonly [name: string]: string };
  readonly mounts: readonly SandboxMount[];
  /** True if ssh must reach the operator's ssh-agent. */
  readonly unixSockets: boolean;
}

export const NO_GIT_LOGIN: GitLogin = { source: null, password: null, env: {}, mounts: [], unixSockets: false };
export const readOnlyMount = (path: string): SandboxMount => ({
  kind: 'read-only',
  source: realpathSync(path),
  target: path,
});

/** Describes where a credential is configured; never its value. */
export function describeCredential(credential: GitCredential | undefined): string {
  switch (credential?.kind) {
    case undefined:
      return 'the password in its address (.git/config)';
    case 'env':
      return `git.credential (env ${credential.name})`;
    case 'file':
      return `git.credential (file ${credential.path})`;
    case 'helper':
      return `git.credential (helper ${credential.command[0]})`;
    case 'key':
      return `git.credential (key ${credential.path})`;
    case 'agent':
      return 'git.credential (any key of the ssh agent)';
  }
}
