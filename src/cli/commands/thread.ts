import { type Command, InvalidArgumentError } from 'commander';
import { checkInvariants } from '../../evidence/invariants.ts';
import { SUBJECT_TYPES, type Entry, type Subject } from '../../evidence/entry.ts';
import { isAbout, projectThread, type Thread } from '../../evidence/threads.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { chosenSessions, noSessions } from '../chosen-sessions.ts';
import { CliError, heading, type Io, paint, print, printJson } from '../io.ts';
import { withStore } from '../open-store.ts';
import { examples, rootOf, rootOption } from '../options.ts';
import { summariseEntry } from '../summarise-entry.ts';
import { table } from '../table.ts';
import { excerpt, visible } from '../visible.ts';

interface Options {
  readonly root: string;
  readonly staleAfter: number;
}

export function register(program: Command, io: Io): void {
  program
    .command('thread')
    .summary('read the evidence of a subject as one thread')
    .description(
      'Shows the tree of what was claimed about a subject, who took part, whether it is open, closed, stalled or forked, what became of its conjectures, and how\nthe applied patterns turned out; and checks the seven invariants of the tree. Exit code 1 if one is broken.',
    )
    .argument('<subject>', 'a session (its id, or the beginning of it), or <type>/<id>: mission/m-1')
    .addOption(rootOption())
    .option('--stale-after <hours>', 'an open thread without an entry for longer is stalled', hours, 24)
    .addHelpText(
      'after',
      examples('hopgate thread 01J', 'hopgate thread mission/m-1 --stale-after 2', 'hopgate thread 01J --json'),
    )
    .action((subject: string, options: Options) => showThread(io, subject, options));
}

function hours(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('Give a number of hours.');
  return value;
}

async function showThread(io: Io, name: string, options: Options): Promise<void> {
  const root = rootOf(io, options);
  const found = await withStore(root, io.env, null, async (store) => {
    const subject = subjectOf(name) ?? {
      type: 'session' as const,
      id: (await chosenSessions(store, [name]))[0]!.sessionId,
    };
    const entries = await about(store, subject);
    const thread = projectThread(entries, subject, { now: Date.now(), staleAfter: options.staleAfter * 3_600_000 });
    return { subject, thread };
  });
  if (found === null) throw noSessions(root);
  const { subject, thread } = found;
  if (thread === null)
    throw new CliError(
      'no-thread',
      `there is no goal about ${subject.type}/${visible(subject.id)}`,
      'List the sessions with "hopgate sessions".',
    );
  const { violations } = checkInvariants(rooted(thread.entries), {
    count: thread.count,
    participants: thread.participants,
  });
  if (violations.length > 0) io.exitCode = 1;
  if (io.json) printJson(io, { ...thread, violations });
  else {
    show(io, thread);
    for (const { rule, entryId, message } of violations)
      print(io, `${paint(io, 'red', rule)}  ${visible(entryId)}  ${visible(message)}`);
  }
}

/** Of what a subject's entries reply to, only its own entries are here: what leads out of the thread begins it, or goes on from its goal. */
function rooted(entries: readonly Entry[]): Entry[] {
  const here = new Set(entries.map(({ id }) => id));
  const goal = entries[0]?.id;
  return entries.map((entry) => {
    const { inReplyTo, ...rest } = entry;
    if (inReplyTo === undefined || here.has(inReplyTo) || entry.subject.type === 'session') return entry;
    return entry.id === goal || goal === undefined ? rest : { ...rest, inReplyTo: goal };
  });
}

function subjectOf(name: string): Subject | null {
  const at = name.indexOf('/');
  const type = SUBJECT_TYPES.find((one) => one === name.slice(0, at));
  return at > 0 && type ? { type, id: name.slice(at + 1) } : null;
}

async function about(store: EvidenceStore, subject: Subject): Promise<Entry[]> {
  const ids = subject.type === 'session' ? [subject.id] : (await store.sessions()).map(({ sessionId }) => sessionId);
  const found: Entry[] = [];
  for (const id of ids) {
    for await (const { entry } of store.entries(id)) if (isAbout(entry, subject)) found.push(entry);
  }
  return found;
}

const WIDTH = 100;

function show(io: Io, thread: Thread): void {
  const { id, status, participants, count, conjectures, patterns, forks } = thread;
  print(io, `${heading(io, visible(id))}  ${status}, ${count} entries, by ${participants.map(visible).join(', ')}`);
  const depths = depthsOf(thread.entries);
  for (const entry of thread.entries) {
    const { event, text } = summariseEntry({ entry, head: '', body: '' });
    const line = `${'  '.repeat(Math.min(depths.get(entry.id) ?? 0, 12))}${entry.claim}: ${visible(event)} ${excerpt(text, WIDTH)}`;
    print(io, `${String(entry.seq).padStart(5)}  ${line}`);
  }
  if (conjectures.length > 0)
    print(
      io,
      table(
        io,
        ['conjecture', 'outcome'],
        conjectures.map(({ entry, outcome }) => [visible(entry.id), outcome]),
      ),
    );
  if (patterns.length > 0)
    print(
      io,
      table(
        io,
        ['pattern', 'applied', 'stands'],
        patterns.map((one) => [visible(one.patternId), String(one.applied), one.stands ?? '-']),
      ),
    );
  for (const fork of forks) print(io, `fork  ${visible(fork.id)}  ${fork.status}, ${fork.count} entries`);
}

/** A reply stands beneath what it replies to, unless it merely goes on: steps of a line stay on their line. */
function depthsOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const { id, claim, inReplyTo, forkOf } of entries) {
    const above = depths.get(inReplyTo ?? forkOf ?? '') ?? -1;
    depths.set(id, claim === 'goal' || claim === 'evidence' || forkOf !== undefined ? above + 1 : Math.max(above, 0));
  }
  return depths;
}
