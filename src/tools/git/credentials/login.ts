import { realpathSync } from 'node:fs';
import type { GitCredential } from '../../../spec/types.ts';
import type { Mount } from '../../sandbox/mount.ts';

/** What one push shows the remote, and the files that this takes. */
export interface Login {
  /** Where that stands, for messages; null if there is nothing. */
  readonly shown: string | null;
  /** For https; git is given it over a pipe, so that it stands in no command line, no environment and no file. */
  readonly password: { readonly username: string; readonly password: string } | null;
  readonly env: { readonly [name: string]: string };
  readonly mounts: readonly Mount[];
  /** ssh has to reach the operator's agent. */
  readonly unixSockets: boolean;
}

export const NO_LOGIN: Login = { shown: null, password: null, env: {}, mounts: [], unixSockets: false };
export const readOnly = (path: string): Mount => ({ kind: 'read-only', source: realpathSync(path), target: path });

/** Where a credential stands; never what it is. */
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
