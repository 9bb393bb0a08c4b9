import { hasLiveLease } from '../../../base/process-holder.ts';
import { escapeInvisible, excerpt, plural } from '../../../base/text.ts';
import type { EvidenceStore } from '../../../ports/evidence-store.ts';
import { printNoSessions, withExistingSessions } from '../../choose-sessions.ts';
import { listMissingHooksOfRoot } from '../../claude/list-missing-hooks.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJson, printJsonLine, printRemark, printResult, usageError } from '../../io.ts';
import { findSession, withEvidence } from '../../open-store.ts';
import { formatSessionTable } from '../../sessions/session-table.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description("Lists the repository's sessions, newest first, without the archived ones. With --json, one per line.")
    .addOption(rootOption())
    .option('--all', 'also list the archived sessions')
    .examples('hopgate sessions', 'hopgate sessions --all --json')
    .action((options: RootOption & { readonly all?: boolean }) => list(io, options));
  command
    .command('rename')
    .summary('give a session a name')
    .description('Gives a session a name, which every command takes instead of its id. The evidence does not change.')
    .argument('<session>', 'the id or name of the session, or the first characters of the id')
    .argument('<name>', 'up to 60 characters; an empty text removes the name')
    .examples('hopgate sessions rename s-01 "discounts"', 'hopgate sessions rename discounts ""')
    .action((id: string, name: string, _: object, self: CliCommand) => rename(io, id, name, self.optsWithGlobals()));
  command
    .command('archive')
    .summary('leave sessions out of the list')
    .description('Leaves sessions out of the list. Their evidence stays.')
    .argument('<session...>', 'the ids or names of the sessions, or the first characters of ids')
    .option('--undo', 'list them again')
    .examples('hopgate sessions archive discounts', 'hopgate sessions archive --undo discounts')
    .action((ids: readonly string[], _: object, self: CliCommand) => archive(io, ids, self.optsWithGlobals()));
  command
    .command('prune')
    .summary('erase the content of archived or old sessions')
    .description(
      'Erases the content of sessions, as "hopgate erase" does, and archives them: the archived ones, those that ended long ago, or the named ones. Shows them first and asks. Leaves out sessions in use. The time, author and kind of each entry, the hashes and the pinned spec remain, so the chains can still be verified.',
    )
    .argument('[session...]', 'the ids or names of the sessions, or the first characters of ids')
    .option('--older-than <age>', 'sessions whose last entry is older: 12h, 30d, 8w')
    .option('-y, --yes', 'erase without asking')
    .examples('hopgate sessions prune', 'hopgate sessions prune --older-than 30d --yes')
    .action(async (ids: readonly string[], _: object, self: CliCommand) => {
      const { pruneSessions } = await import('../../sessions/prune.ts');
      await pruneSessions(io, ids, self.optsWithGlobals());
    });
}

async function list(io: Io, options: RootOption & { readonly all?: boolean }): Promise<void> {
  const root = resolveRootOption(io, options);
  const all = await withEvidence(root, io.env, [], (store) => store.sessions());
  const listed = options.all ? all : all.filter(({ archived }) => !archived);
  if (io.json) {
    for (const session of listed) printJsonLine(io, { ...session, inUse: hasLiveLease(session) });
    return;
  }
  const hidden = all.length - listed.length;
  if (all.length === 0) printNoSessions(io, root);
  else if (listed.length === 0) print(io, 'All sessions are archived.');
  else print(io, formatSessionTable(io, listed));
  if (hidden > 0) printRemark(io, `${plural(hidden, 'archived session')} left out; --all lists them`);
  for (const { sessionId, text } of listMissingHooksOfRoot(root, io.env))
    printRemark(io, `WARNING: session ${escapeInvisible(sessionId)}: ${escapeInvisible(text)}`);
}

const changeStore = <T>(io: Io, options: RootOption, change: (store: EvidenceStore) => Promise<T>): Promise<T> =>
  withExistingSessions(io, resolveRootOption(io, options), change, 'write');

const MAX_NAME = 60;

async function rename(io: Io, id: string, typedName: string, options: RootOption): Promise<void> {
  const name = typedName.trim() || null;
  if (name !== null && (name.length > MAX_NAME || name !== escapeInvisible(name)))
    throw usageError(`"${excerpt(name, MAX_NAME)}" cannot be a name`, `Use up to ${MAX_NAME} visible characters.`);
  const sessionId = await changeStore(io, options, async (store) => {
    const all = await store.sessions();
    const session = findSession(all, id);
    const other =
      name !== null &&
      all.find((other) => other.sessionId !== session.sessionId && [other.name, other.sessionId].includes(name));
    if (other)
      throw new CliError('name-taken', `session ${other.sessionId} has the name "${name}"`, 'Choose another name.');
    await store.label(session.sessionId, { name });
    return session.sessionId;
  });
  const now = name === null ? 'has no name now' : `is now "${name}"`;
  printResult(io, { sessionId, name }, `Session ${escapeInvisible(sessionId)} ${now}.`);
}

async function archive(
  io: Io,
  ids: readonly string[],
  options: RootOption & { readonly undo?: boolean },
): Promise<void> {
  const archived = options.undo !== true;
  const sessions = await changeStore(io, options, async (store) => {
    const all = await store.sessions();
    const found = ids.map((id) => findSession(all, id).sessionId);
    for (const sessionId of found) await store.label(sessionId, { archived });
    return found;
  });
  if (io.json) return printJson(io, { archived, sessions });
  for (const sessionId of sessions)
    print(io, `Session ${escapeInvisible(sessionId)} is ${archived ? 'archived' : 'not archived any more'}.`);
}
