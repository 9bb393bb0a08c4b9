import type { Command } from 'commander';
import { visible } from '../../../base/text.ts';
import type { SessionSummary } from '../../../ports/evidence-store.ts';
import { isGone } from '../../../stores/process-holder.ts';
import { silences } from '../../claude/silences.ts';
import { type Io, note, print, printJsonLine } from '../../io.ts';
import { withStore } from '../../open-store.ts';
import { examples, rootOf, rootOption } from '../../options.ts';
import { table } from '../../table.ts';

interface Options {
  readonly root: string;
}

export function register(command: Command, io: Io): void {
  command
    .description("Lists the repository's sessions, newest first. With --json, one session per line.")
    .addOption(rootOption())
    .addHelpText('after', examples('hopgate sessions', 'hopgate sessions --json'))
    .action((options: Options) => sessions(io, options));
}

async function sessions(io: Io, options: Options): Promise<void> {
  const all = await withStore(rootOf(io, options), io.env, [], (store) => store.sessions());
  if (io.json) {
    for (const session of all) printJsonLine(io, { ...session, inUse: isInUse(session) });
    return;
  }
  if (all.length === 0) {
    print(io, 'No sessions yet.');
    return;
  }
  const rows = all.map((session) => {
    const { sessionId, agent, openedAt, lastAt, entries, closed } = session;
    const state = closed ? 'closed' : isInUse(session) ? 'open, in use' : 'open';
    return [visible(sessionId), visible(agent), openedAt, lastAt, String(entries), state];
  });
  print(io, table(io, ['session', 'agent', 'opened', 'last entry', 'entries', 'state'], rows));
  for (const { sessionId, text } of silences(rootOf(io, options), io.env))
    note(io, `WARNING: session ${visible(sessionId)}: ${visible(text)}`);
}

/** True if a live writer holds the session with a valid lease. */
const isInUse = ({ lease }: SessionSummary): boolean =>
  lease !== null && lease.until > Date.now() && !isGone(lease.holder);
