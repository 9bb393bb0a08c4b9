import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { pathExists } from '../../../base/files.ts';
import { excerpt } from '../../../base/text.ts';
import { userStateFolder } from '../../../base/user-folders.ts';
import { approvalTitle } from '../../../gate/approvals/approval-rows.ts';
import { describeGrantLimits, grantEndReason } from '../../../gate/approvals/grant.ts';
import { openEvidenceFile } from '../../../open-evidence.ts';
import { revokeGrant, whoRevokedGrant } from '../../../operator/revoked-grants.ts';
import { evidenceFileIn, stateDir } from '../../../project/state-dir.ts';
import { readGrantsInStore, type SessionGrant } from '../../../session/grants-in.ts';
import { findSimilarName } from '../../../spec/names.ts';
import { CliError, type Io, paint, print, printJson } from '../../io.ts';
import { useAndCloseStore } from '../../open-store.ts';
import { helpExamples, type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

interface Options extends RootOption {
  readonly allRoots?: boolean;
  readonly all?: boolean;
  readonly revoke?: string;
  readonly by: string;
}

interface ListedGrant extends SessionGrant {
  readonly stateDir: string;
  /** The reason why the grant has ended; null if it has not. */
  readonly over: string | null;
}

export function configureCommand(command: Command, io: Io): void {
  command
    .description(
      'Lists the grants of the operator: approvals that also cover later requests, until a limit is reached. They are given with "hopgate approve" or in the live view. A revoked grant covers no further request, in whichever process its session runs.',
    )
    .addOption(rootOption())
    .option('--all-roots', 'list the grants of all repositories')
    .option('--all', 'also list the grants that have ended')
    .option('--revoke <id>', 'revoke this grant: its id, or the last characters of it')
    .option('--by <name>', 'the name of the person who revokes, for the evidence', 'operator')
    .addHelpText(...helpExamples('hopgate grants', 'hopgate grants --revoke 4f1c', 'hopgate grants --all --json'))
    .action((options: Options) => (options.revoke === undefined ? list(io, options) : revoke(io, options)));
}

async function list(io: Io, options: Options): Promise<void> {
  const grants = (await listedGrants(io, options)).filter(({ over }) => options.all || over === null);
  if (io.json) return printJson(io, grants.map(grantJson));
  if (grants.length === 0) return print(io, `No grant ${options.all ? 'was given' : 'is valid now'}.`);
  const rows = grants.map(({ grant, agent, over }) => [
    grant.id,
    excerpt(agent, 20),
    approvalTitle(grant),
    `${grant.used} of ${grant.limits.uses ?? 'any'}`,
    over ?? describeGrantLimits(grant.limits),
    excerpt(grant.by, 20),
  ]);
  printTable(io, ['id', 'agent', 'for', 'used', 'valid', 'by'], rows);
}

async function revoke(io: Io, options: Options): Promise<void> {
  const id = options.revoke!;
  const grants = await listedGrants(io, { ...options, allRoots: true });
  const found = grants.filter(({ grant }) => grant.id === id || (id.length >= 4 && grant.id.endsWith(id)));
  const [match] = found;
  if (!match || found.length > 1) {
    const near = findSimilarName(
      id,
      grants.map(({ grant }) => grant.id),
    );
    throw new CliError(
      match ? 'ambiguous-grant' : 'unknown-grant',
      match ? `${found.length} grants have an id that ends with "${id}"` : `there is no grant "${id}"`,
      `${near === null ? '' : `Did you mean ${near}? `}List them with "hopgate grants --all-roots --all".`,
    );
  }
  if (match.over === null) revokeGrant(match.stateDir, match.grant.id, options.by);
  if (io.json) return printJson(io, grantJson({ ...match, over: match.over ?? `${options.by} revoked it` }));
  if (match.over !== null) return print(io, `${match.grant.id} has ended already: ${match.over}.`);
  print(io, `${paint(io, 'red', 'Revoked')}: ${match.grant.id}. It covers no further request.`);
}

async function listedGrants(io: Io, options: Options): Promise<readonly ListedGrant[]> {
  const all: ListedGrant[] = [];
  for (const dir of foldersOf(io, options)) {
    const file = evidenceFileIn(dir);
    if (!pathExists(file)) continue;
    for (const item of await useAndCloseStore(openEvidenceFile(file, 'read'), readGrantsInStore)) {
      const by = whoRevokedGrant(dir, item.grant.id);
      const over = grantEndReason(item.grant, Date.now()) ?? (by === null ? null : `${by} revoked it`);
      all.push({ ...item, stateDir: dir, over });
    }
  }
  return all.sort((a, b) => b.grant.givenAt - a.grant.givenAt);
}

function foldersOf(io: Io, options: Options): readonly string[] {
  if (!options.allRoots) return [stateDir(resolveRootOption(io, options), io.env)];
  const home = userStateFolder(io.env);
  return pathExists(home) ? readdirSync(home).map((name) => join(home, name)) : [];
}

/** The `--json` form of a grant. Times are ISO 8601. */
const grantJson = ({ sessionId, agent, grant, over }: ListedGrant) => ({
  id: grant.id,
  session: sessionId,
  agent,
  by: grant.by,
  action: grant.action,
  limits: { ...grant.limits, until: new Date(grant.limits.until).toISOString() },
  givenAt: new Date(grant.givenAt).toISOString(),
  used: grant.used,
  over,
});
