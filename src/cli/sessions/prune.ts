import { confirm } from '@clack/prompts';
import { hasLiveLease } from '../../base/process-holder.ts';
import { escapeInvisible, plural } from '../../base/text.ts';
import type { SessionSummary } from '../../ports/evidence-store.ts';
import { withExistingSessions } from '../choose-sessions.ts';
import { CliError, type Io, print, printJson, printRemark, usageError } from '../io.ts';
import { findSession } from '../open-store.ts';
import { type RootOption, resolveRootOption } from '../shared-options.ts';
import { type ErasedSession, eraseSession } from './erase-session.ts';
import { formatSessionTable } from './session-table.ts';

interface PruneOptions extends RootOption {
  readonly olderThan?: string;
  readonly yes?: boolean;
}

/** Shows a person the sessions to erase, then erases their content and archives them. */
export async function pruneSessions(io: Io, ids: readonly string[], options: PruneOptions): Promise<void> {
  const root = resolveRootOption(io, options);
  const before = Date.now() - (options.olderThan === undefined ? 0 : ageOf(options.olderThan));
  const done = await withExistingSessions(
    io,
    root,
    async (store) => {
      const all = await store.sessions();
      const named = ids.length > 0 ? ids.map((id) => findSession(all, id)) : all;
      const chosen = named.filter(
        (one) =>
          !one.erased &&
          Date.parse(one.lastAt) < before &&
          (ids.length > 0 || options.olderThan !== undefined || one.archived),
      );
      const busy = chosen.filter(hasLiveLease);
      const toErase = chosen.filter((one) => !hasLiveLease(one));
      for (const { sessionId } of busy)
        printRemark(io, `session ${escapeInvisible(sessionId)} is in use, so it is left out`);
      if (toErase.length > 0) await confirmErasing(io, toErase, options.yes === true);
      const erased: ErasedSession[] = [];
      for (const { sessionId } of toErase) {
        erased.push(await eraseSession(io, root, store, sessionId));
        await store.label(sessionId, { archived: true });
      }
      return erased;
    },
    'write',
  );
  if (io.json) return printJson(io, { pruned: done });
  if (done.length === 0) print(io, 'No session to prune.');
  for (const { sessionId, erased } of done)
    print(io, `${plural(erased, 'body', 'bodies')} of session ${escapeInvisible(sessionId)} erased`);
}

/** Prints the sessions that will be erased, and asks for a yes. */
async function confirmErasing(io: Io, sessions: readonly SessionSummary[], yes: boolean): Promise<void> {
  const entries = sessions.reduce((sum, one) => sum + one.entries, 0);
  const what = `the content of ${plural(entries, 'entry', 'entries')} of ${plural(sessions.length, 'session')}`;
  if (!io.json) print(io, formatSessionTable(io, sessions));
  if (yes) return;
  const ids = sessions.map(({ sessionId }) => sessionId);
  if (!io.isTty || io.json)
    throw usageError(
      `this would permanently erase ${what}: ${ids.map(escapeInvisible).join(', ')}`,
      'Add --yes to do it. To keep a copy, run "hopgate activity ID --entries --json" first.',
      'not-confirmed',
    );
  const message = `Erase ${what} permanently?`;
  const answer = await confirm({ message, initialValue: false, input: io.stdin, output: io.stdout });
  if (answer !== true)
    throw new CliError('not-confirmed', 'nothing was erased', 'Run the command again to change your answer.');
}

const HOURS: { readonly [unit: string]: number } = { h: 1, d: 24, w: 7 * 24 };

/** Reads an age such as `30d`, in milliseconds. */
function ageOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * HOURS[unit]! * 3_600_000;
  throw usageError(`"${escapeInvisible(text)}" is not an age`, 'Write hours, days or weeks: 12h, 30d, 8w.');
}
