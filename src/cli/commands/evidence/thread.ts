import { escapeInvisible, plural } from '../../../base/text.ts';
import { type Entry, SUBJECT_TYPES, type Subject } from '../../../evidence/entry.ts';
import { checkInvariants } from '../../../evidence/invariants.ts';
import { buildThread, isEntryAbout, type Thread } from '../../../evidence/threads.ts';
import type { EvidenceStore } from '../../../ports/evidence-store.ts';
import type { ParameterOrderOfTool } from '../../../view/format-call.ts';
import { outlineVisits } from '../../../view/outline-thread.ts';
import { chooseSessions, readPinnedParameterOrder, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, formatHeading, type Io, paint, print, printJson } from '../../io.ts';
import { numberParser, type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable, terminalColumns } from '../../table.ts';
import { printFindings } from '../../thread/print-findings.ts';
import { renderThread } from '../../thread/render-thread.ts';

interface Options extends RootOption {
  readonly staleAfter: number;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Shows the entries about a subject as a tree: the claims, the participants, whether the thread is open, closed, stalled or forked, and the outcome of its conjectures and patterns. Checks the seven invariants of the tree. Exit code 1 if one is broken.',
    )
    .argument('<subject>', 'the id of a session, or its first characters; or <type>/<id>, such as mission/m-1')
    .addOption(rootOption())
    .option('--stale-after <hours>', 'hours without an entry until an open thread stalls', numberParser(100_000), 24)
    .examples('hopgate thread s-4f1c', 'hopgate thread mission/m-1 --stale-after 2')
    .action((subject: string, options: Options) => showThread(io, subject, options));
}

async function showThread(io: Io, name: string, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const { subject, thread, order } = await withExistingSessions(io, root, async (store) => {
    const subject = subjectOf(name) ?? {
      type: 'session' as const,
      id: (await chooseSessions(store, [name]))[0]!.sessionId,
    };
    const entries = await entriesAbout(store, subject);
    const thread = buildThread(entries, subject, { now: Date.now(), staleAfter: options.staleAfter * 3_600_000 });
    const ids = new Set(entries.map(({ sessionId }) => sessionId));
    const involved = (await store.sessions()).filter(({ sessionId }) => ids.has(sessionId));
    return { subject, thread, order: await readPinnedParameterOrder(store, involved) };
  });
  if (thread === null)
    throw new CliError(
      'no-thread',
      `there is no thread about ${subject.type}/${escapeInvisible(subject.id)}`,
      'List the sessions with "hopgate sessions".',
    );
  const violations = checkInvariants(withRoots(thread.entries), {
    count: thread.count,
    participants: thread.participants,
  });
  if (violations.length > 0) io.exitCode = 1;
  if (io.json) printJson(io, { ...thread, violations });
  else {
    show(io, thread, order);
    for (const { rule, entryId, message } of violations)
      print(io, `${paint(io, 'red', rule)}  ${escapeInvisible(entryId)}  ${escapeInvisible(message)}`);
  }
}

/**
 * Makes each entry that replies to an entry outside of this thread a root, or a reply to the thread's goal. The entries
 * of another program need not reply to anything.
 */
function withRoots(entries: readonly Entry[]): Entry[] {
  const here = new Set(entries.map(({ id }) => id));
  const goal = entries[0]?.id;
  const isImported = entries[0]?.tags.includes('import') === true;
  return entries.map((entry) => {
    const { inReplyTo, ...rest } = entry;
    if (inReplyTo !== undefined && here.has(inReplyTo)) return entry;
    if (!isImported && (inReplyTo === undefined || entry.subject.type === 'session')) return entry;
    return entry.id === goal || goal === undefined ? rest : { ...rest, inReplyTo: goal };
  });
}

function subjectOf(name: string): Subject | null {
  const at = name.indexOf('/');
  const type = SUBJECT_TYPES.find((each) => each === name.slice(0, at));
  return at > 0 && type ? { type, id: name.slice(at + 1) } : null;
}

async function entriesAbout(store: EvidenceStore, subject: Subject): Promise<Entry[]> {
  const ids = subject.type === 'session' ? [subject.id] : (await store.sessions()).map(({ sessionId }) => sessionId);
  const found: Entry[] = [];
  for (const id of ids) {
    for await (const { entry } of store.entries(id)) if (isEntryAbout(entry, subject)) found.push(entry);
  }
  return found;
}

const titleOf = ({ subject, status, count, participants }: Thread): string =>
  `${subject.type} ${subject.id}  ${status}, ${plural(count, 'entry', 'entries')}, by ${participants.join(', ')}`;

function show(io: Io, thread: Thread, order: ParameterOrderOfTool): void {
  const { entries, conjectures, patterns, forks } = thread;
  print(io, formatHeading(io, escapeInvisible(titleOf(thread))));
  print(io, renderThread(io, outlineVisits(entries, order), terminalColumns(io)));
  printFindings(io, entries);
  if (conjectures.length > 0)
    printTable(
      io,
      ['conjecture', 'outcome'],
      conjectures.map(({ entry, outcome }) => [entry.id, outcome]),
    );
  if (patterns.length > 0)
    printTable(
      io,
      ['pattern', 'applied', 'outcome'],
      patterns.map(({ patternId, applied, lastOutcome }) => [patternId, String(applied), lastOutcome ?? '-']),
    );
  for (const fork of forks)
    print(io, `fork  ${escapeInvisible(fork.id)}  ${fork.status}, ${plural(fork.count, 'entry', 'entries')}`);
}
