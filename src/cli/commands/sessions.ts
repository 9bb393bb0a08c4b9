import type { Command } from 'commander';
import { silences } from '../claude/silences.ts';
import { type Io, note, print, printJsonLine } from '../io.ts';
import { withStore } from '../open-store.ts';
import { examples, rootOf, rootOption } from '../options.ts';
import { table } from '../table.ts';
import { visible } from '../visible.ts';

interface Options {
  readonly root: string;
}

export function register(program: Command, io: Io): void {
  program
    .command('sessions')
    .summary("list this repository's sessions")
    .description("Lists the repository's sessions, newest first. With --json, one line for each.")
    .addOption(rootOption())
    .addHelpText('after', examples('hopgate sessions', 'hopgate sessions --json'))
    .action((options: Options) => sessions(io, options));
}

async function sessions(io: Io, options: Options): Promise<void> {
  const all = await withStore(rootOf(io, options), io.env, [], (store) => store.sessions());
  if (io.json) {
    for (const session of all) printJsonLine(io, session);
    return;
  }
  if (all.length === 0) {
    print(io, 'No sessions yet.');
    return;
  }
  const rows = all.map(({ sessionId, agent, openedAt, lastAt, entries, closed, lease }) => [
    visible(sessionId),
    visible(agent),
    openedAt,
    lastAt,
    String(entries),
    closed ? 'closed' : lease !== null && lease.until > Date.now() ? 'open, in use' : 'open',
  ]);
  print(io, table(io, ['session', 'agent', 'opened', 'last entry', 'entries', 'state'], rows));
  for (const { sessionId, text } of silences(rootOf(io, options), io.env))
    note(io, `WARNING: session ${visible(sessionId)}: ${visible(text)}`);
}
