import type { Grant } from '../ports/tool-backend.ts';
import type { Json } from '../spec/types.ts';
import { type Finding, runsLater } from './runs-later.ts';

/** A file as it stands after a tool has put it in place. */
export interface PutFile {
  /** Root-relative. */
  readonly path: string;
  readonly mode: number;
}

/** The part of a result that names the files which will run outside the sandbox; nothing where none does. */
export function findingsPart(grant: Grant, files: readonly PutFile[]): { readonly findings?: Json } {
  const found = files.flatMap(({ path, mode }): Finding[] => {
    const finding = runsLater(path, { executable: (mode & 0o111) !== 0, deploy: grant.config.deploy });
    return finding === null ? [] : [finding];
  });
  return found.length === 0 ? {} : { findings: found.map(({ path, why }): Json => ({ path, why })) };
}
