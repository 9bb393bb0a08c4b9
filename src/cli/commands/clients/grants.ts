import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathExists } from '../../../base/files.ts';
import { errorText, excerpt } from '../../../base/text.ts';
import { userStateFolder } from '../../../base/user-folders.ts';
import { approvalTitle } from '../../../gate/approvals/approval-rows.ts';
import { describeGrantLimits } from '../../../gate/approvals/grant.ts';
import { openEvidenceFile } from '../../../open-evidence.ts';
import { revokeGrant } from '../../../operator/revoked-grants.ts';
import { findEvidenceIn, stateDir } from '../../../project/state-dir.ts';
import { type ListedGrant, type ListedGrants, listGrants, type UnreadableGrants } from '../../../server/list-grants.ts';
import { SessionReader } from '../../../server/session-reader.ts';
import { didYouMean } from '../../../spec/names.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, paint, print, printJson, printRemark } from '../../io.ts';
import { useAndCloseStore } from '../../open-store.ts';
import { parseNameOption, type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

interface Options extends RootOption {
  readonly allRoots?: boolean;
  readonly all?: boolean;
  readonly revoke?: string;
  readonly by: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Lists the grants of the operator: approvals that also cover later requests, until a limit is reached. They are given with "hopgate approve" or in the live view. A revoked grant covers no further request, in whichever process its session runs.',
    )
    .addOption(rootOption())
    .option('--all-roots', 'list the grants of all repositories')
    .option('--all', 'also list the grants that have ended')
    .option('--revoke <id>', 'revoke this grant: its id, or the last characters of it')
    .option('--by <name>', 'the name of the person who revokes, for the evidence', parseNameOption, 'operator')
    .examples('hopgate grants', 'hopgate grants --revoke 4f1c', 'hopgate grants --all --json')
    .action((options: Options) => (options.revoke === undefined ? list(io, options) : revoke(io, options)));
}

async function list(io: Io, options: Options): Promise<void> {
  const grants = (await readGrants(io, options)).grants.filter(({ over }) => options.all || over === null);
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
  const { grants, unreadable } = await readGrants(io, { ...options, allRoots: true });
  const all = [
    ...grants.map(({ grant, session, stateDir, over }) => ({ id: grant.id, session, stateDir, over })),
    ...unreadable.flatMap(({ grants: ids, session, stateDir }) =>
      ids.map((one) => ({ id: one, session, stateDir, over: null })),
    ),
  ];
  const found = all.filter((grant) => grant.id === id || (id.length >= 4 && grant.id.endsWith(id)));
  const [match] = found;
  if (!match || found.length > 1)
    throw new CliError(
      match ? 'ambiguous-grant' : 'unknown-grant',
      match ? `${found.length} grants have an id that ends with "${id}"` : `there is no grant "${id}"`,
      `${didYouMean(id, new Set(all.map((grant) => grant.id)))}List them with "hopgate grants --all-roots --all".`,
    );
  const { stateDir: dir, over, ...named } = match;
  if (over === null) revokeGrant(dir, match.id, options.by);
  if (io.json) return printJson(io, { ...named, over: over ?? `${options.by} revoked it` });
  if (over !== null) return print(io, `${match.id} has ended already: ${over}.`);
  print(io, `${paint(io, 'red', 'Revoked')}: ${match.id}. It covers no further request.`);
}

/** Reads all grants. Reports what cannot be read, and sets the exit code to 1. */
async function readGrants(io: Io, options: Options): Promise<ListedGrants> {
  const report = (what: string, problem: string): void => {
    io.exitCode = 1;
    printRemark(io, `cannot list the grants of ${what}: ${problem}`);
  };
  const grants: ListedGrant[] = [];
  const unreadable: UnreadableGrants[] = [];
  for (const dir of foldersOf(io, options)) {
    const file = findEvidenceIn(dir);
    if (file === null) continue;
    try {
      const list = await useAndCloseStore(openEvidenceFile(file, 'read'), (store) =>
        listGrants(store, dir, (session) => SessionReader.open({ store, stateDir: dir }, session)),
      );
      grants.push(...list.grants);
      unreadable.push(...list.unreadable);
    } catch (error) {
      report(file, errorText(error));
    }
  }
  for (const { session, problem } of unreadable) report(`session ${session}`, problem);
  return { grants: grants.sort((a, b) => b.grant.givenAt - a.grant.givenAt), unreadable };
}

function foldersOf(io: Io, options: Options): readonly string[] {
  if (!options.allRoots) return [stateDir(resolveRootOption(io, options), io.env)];
  const home = userStateFolder(io.env);
  return pathExists(home) ? readdirSync(home).map((name) => join(home, name)) : [];
}

/** The `--json` form of a grant. Times are ISO 8601. */
const grantJson = ({ session, agent, grant, over }: ListedGrant) => ({
  id: grant.id,
  session,
  agent,
  by: grant.by,
  action: grant.action,
  limits: { ...grant.limits, until: new Date(grant.limits.until).toISOString() },
  givenAt: new Date(grant.givenAt).toISOString(),
  used: grant.used,
  over,
});
