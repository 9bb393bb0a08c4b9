import { escapeInvisible, plural } from '../../../base/text.ts';
import { withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, printResult, usageError } from '../../io.ts';
import { findSession } from '../../open-store.ts';
import { eraseSession } from '../../sessions/erase-session.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly yes?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Erases the bodies of all entries of a session, the large values that only they refer to, its transcript and its pending requests. The time, author and kind of each entry, the hashes and the pinned spec remain, so the chain can still be verified. This cannot be undone, and the session cannot be resumed.',
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .addOption(rootOption())
    .option('--yes', 'erase; without this option it only says what it would erase')
    .examples('hopgate erase s-4f1c', 'hopgate erase s-4f1c --yes')
    .action((session: string, options: Options) => erase(io, session, options));
}

async function erase(io: Io, id: string, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const done = await withExistingSessions(
    io,
    root,
    async (store) => {
      const { sessionId, entries } = findSession(await store.sessions(), id);
      if (options.yes !== true) {
        throw usageError(
          `this would permanently erase the bodies of ${plural(entries, 'entry', 'entries')} of session ${sessionId}`,
          'Add --yes to do it.',
          'not-confirmed',
        );
      }
      return eraseSession(io, root, store, sessionId);
    },
    'write',
  );
  const bodies = `${plural(done.erased, 'body', 'bodies')} of session ${escapeInvisible(done.sessionId)}`;
  printResult(io, done, `${bodies} erased, ${done.blobs} unused blobs removed`);
}
