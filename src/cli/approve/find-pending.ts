import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathExists } from '../../base/files.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { listPendingItems, type PendingItem } from '../../operator/pending-items.ts';
import { stateDir } from '../../project/state-dir.ts';
import { didYouMean } from '../../spec/names.ts';
import { CliError, type Io } from '../io.ts';
import { resolveRootOption } from '../shared-options.ts';

/** The pending requests of all repositories, the oldest first. */
export function findAllPendingRequests(io: Io): readonly PendingItem[] {
  const home = userStateFolder(io.env);
  if (!pathExists(home)) return [];
  return readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => listPendingItems(join(home, name)))
    .sort((a, b) => a.pending.askedAt - b.pending.askedAt);
}

export const findPendingRequestsOf = (io: Io, root: string): readonly PendingItem[] =>
  listPendingItems(stateDir(resolveRootOption(io, { root }), io.env));

/**
 * Finds a request by its id: in the given repository, or in all of them if `root` is undefined.
 * @throws CliError `unknown-request` with the nearest id; `ambiguous-request` if two repositories use the id.
 */
export function findPendingRequest(io: Io, id: string, root: string | undefined): PendingItem {
  const items = root === undefined ? findAllPendingRequests(io) : findPendingRequestsOf(io, root);
  const wantedId = id.toLowerCase();
  const found = items.filter(({ pending }) => pending.id === wantedId);
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw new CliError(
      'ambiguous-request',
      `a request "${id}" waits in each of ${found.map(({ pending }) => pending.root).join(' and ')}`,
      'Name the repository with --root DIR.',
    );
  throw new CliError(
    'unknown-request',
    `no request "${id}" waits for an answer; it may have been used or have expired`,
    `${didYouMean(wantedId, new Set(items.map(({ pending }) => pending.id)))}List them with "hopgate approve --all-roots".`,
  );
}
