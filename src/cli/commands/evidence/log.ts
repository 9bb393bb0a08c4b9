import { Option } from 'commander';
import { escapeInvisible, excerpt } from '../../../base/text.ts';
import type { Entry, StoredEntry } from '../../../evidence/entry.ts';
import { summariseEntryInOneLine } from '../../../view/entry-summary.ts';
import type { ParameterOrderOfTool } from '../../../view/format-call.ts';
import { readPinnedParameterOrder, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, paint, print, printJsonLine, usageError } from '../../io.ts';
import { findSession, withEvidence } from '../../open-store.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { formatTable, printTable, terminalColumns } from '../../table.ts';

interface Options extends RootOption {
  readonly full?: boolean;
  readonly operator?: boolean;
}

const MAX_SUMMARY = 100;
/** On a terminal with fewer columns, the table leaves out the mode, the claim and parts of the time. */
const WIDE_COLUMNS = 120;

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      `Prints the entries of a session in order: time, peripheral, mode, claim, event. A terminal of fewer than ${WIDE_COLUMNS} columns shows neither mode nor claim. With --json, one stored entry per line.`,
    )
    .argument('[session]', 'the id of the session, or its first characters')
    .addOption(rootOption())
    .addOption(new Option('--full', 'print whole bodies').conflicts('operator'))
    .option('--operator', 'print the operator log instead: what concerns the store, such as a refused second writer')
    .examples(
      'hopgate log s-4f1c',
      'hopgate log s-4f1c --full',
      'hopgate log s-4f1c --json | jq .body.event',
      'hopgate log --operator',
    )
    .action((session: string | undefined, options: Options) => {
      if (options.operator) return operatorLog(io, options, session);
      if (session !== undefined) return log(io, session, options);
      throw usageError('no session is named', 'Name a session that "hopgate sessions" lists, or add --operator.');
    });
}

/** Prints the operator log of the repository's store, the oldest line first. With an id, only the lines about it. */
async function operatorLog(io: Io, options: Options, id?: string): Promise<void> {
  const notes = await withEvidence(resolveRootOption(io, options), io.env, [], (store) => store.notes());
  const lines = notes.filter(({ sessionId }) => id === undefined || sessionId?.startsWith(id)).reverse();
  if (io.json) for (const line of lines) printJsonLine(io, line);
  else if (lines.length === 0) print(io, 'The operator log is empty.');
  else {
    const rows = lines.map(({ at, code, sessionId, message }) => [at, code, sessionId ?? '-', message]);
    printTable(io, ['time', 'code', 'session', 'message'], rows);
  }
}

async function log(io: Io, id: string, options: Options): Promise<void> {
  await withExistingSessions(io, resolveRootOption(io, options), async (store) => {
    const session = findSession(await store.sessions(), id);
    const order = await readPinnedParameterOrder(store, [session]);
    const stored: StoredEntry[] = [];
    for await (const entry of store.entries(session.sessionId)) {
      if (io.json) printJsonLine(io, entry.entry);
      else stored.push(entry);
    }
    if (!io.json)
      print(
        io,
        options.full ? stored.map((entry) => wholeEntry(io, entry, order)).join('\n\n') : overview(io, stored, order),
      );
  });
}

const COLUMNS = ['seq', 'time', 'peripheral', 'mode', 'claim', 'event', 'summary'];

function overview(io: Io, stored: readonly StoredEntry[], order: ParameterOrderOfTool): string {
  const isNarrow = terminalColumns(io, Number.POSITIVE_INFINITY) < WIDE_COLUMNS;
  const columns = <T>(row: readonly T[]): readonly T[] =>
    isNarrow ? row.filter((_, at) => at !== 3 && at !== 4) : row;
  const rows = stored.map(({ entry }) => {
    const [seq = '', at = '', peripheral = '', mode = '', claim = '', event = '', text = ''] = cells(entry, order);
    const time = isNarrow ? at.slice(5, 19).replace('T', ' ') : at;
    return columns([seq, time, peripheral, mode, claim, event === 'denial' ? (['red', event] as const) : event, text]);
  });
  return formatTable(io, columns(COLUMNS), rows);
}

function cells(entry: Entry, order: ParameterOrderOfTool): readonly string[] {
  const { event, text } = summariseEntryInOneLine(entry, order);
  const { seq, at, peripheral, mode, claim } = entry;
  return [String(seq), at, peripheral ?? '-', mode ?? '-', claim, event, excerpt(text, MAX_SUMMARY)];
}

/** An entry with its whole body. `escapeInvisible` escapes bidirectional and zero-width characters; JSON does not. */
function wholeEntry(io: Io, stored: StoredEntry, order: ParameterOrderOfTool): string {
  const body = stored.body === null ? '(erased)' : JSON.stringify(stored.entry.body, null, 2);
  const head = cells(stored.entry, order).slice(0, -1).map(escapeInvisible).join('  ');
  return [
    `${paint(io, 'bold', head)}  ${stored.entry.id}`,
    ...body.split('\n').map((line) => `  ${escapeInvisible(line)}`),
  ].join('\n');
}
