import { lstatSync, realpathSync } from 'node:fs';
import { isPathWithin } from '../../../base/paths.ts';
import type { Env } from '../../../base/user-folders.ts';
import { expandTilde } from '../../sandbox/mounts/layout.ts';
import { failedToolStop, type ToolStop } from '../../workspace/tool-stop.ts';

export interface CredentialContext {
  readonly env: Env;
  /** Folders that agents can read or write; a credential in them would not be secret. */
  readonly reach: readonly string[];
}

/** The real path of a configured file, which must lie outside of the folders that agents read or write. */
export function checkCredentialFile(
  { reach }: CredentialContext,
  key: string,
  stated: string,
): { readonly path: string } | ToolStop {
  let path: string;
  try {
    path = realpathSync(expandTilde(stated));
    if (!lstatSync(path).isFile())
      return failedToolStop('no-credential', `${key}: ${stated} is not a file; ask the operator to correct it.`);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    return failedToolStop(
      'no-credential',
      `${key}: ${stated} cannot be read (${code}); ask the operator to correct hopgate.yaml.`,
    );
  }
  const holder = reach.find((folder) => isPathWithin(folder, path));
  if (holder === undefined) return { path };
  return failedToolStop(
    'credential-in-reach',
    `${key}: ${stated} lies in ${holder}, where agents can read it; ask the operator to move it.`,
  );
}
