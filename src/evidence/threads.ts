import { getOrInsert } from '../base/get-or-insert.ts';
import { toBody } from './bodies.ts';
import type { Entry, Subject } from './entry.ts';
import { patternStatusAfter } from './patterns/pattern-tools.ts';
import { type PatternOutcome, readPur } from './patterns/pur.ts';

type ThreadStatus = 'open' | 'closed' | 'stalled' | 'forked';

interface Conjecture {
  readonly entry: Entry;
  /** `refuted` if a correction replies to the conjecture; `confirmed` if only conclusions reply to it. */
  readonly outcome: 'open' | 'confirmed' | 'refuted';
  /** The ids of the replies that confirm or refute the conjecture. */
  readonly by: readonly string[];
}

interface AppliedPattern {
  readonly patternId: string;
  /** The number of entries that name the pattern. */
  readonly applied: number;
  readonly outcomes: { readonly [outcome in PatternOutcome]: number };
  readonly lastOutcome: PatternOutcome | null;
}

/** The entries about one subject, as a tree of replies. It is computed at each reading and never stored. */
export interface Thread {
  /** `thread/<type>/<id>`; for a fork, `/fork/<entry id>` follows. */
  readonly id: string;
  readonly subject: Subject;
  readonly goal: Entry;
  /** Sorted by time; entries of the same time keep their given order. */
  readonly entries: readonly Entry[];
  readonly participants: readonly string[];
  readonly count: number;
  readonly status: ThreadStatus;
  /** One thread per entry that forks another; siblings stay separate. */
  readonly forks: readonly Thread[];
  readonly conjectures: readonly Conjecture[];
  readonly patterns: readonly AppliedPattern[];
}

interface ThreadOptions {
  /** The present time in epoch milliseconds. */
  readonly now: number;
  /** Milliseconds after which an open thread without a new entry is `stalled`. Default: a day. */
  readonly staleAfter?: number;
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Returns the thread of a subject; null if no entry is a goal for it.
 *
 * The status is the first that applies: `closed` (the session was closed, or the last word on the main line is a
 * conclusion), `forked`, `stalled`, `open`.
 *
 * @example buildThread(entries, { type: 'session', id }, { now: Date.now() })?.status
 */
export function buildThread(
  entries: Iterable<Entry>,
  subject: Subject,
  { now, staleAfter = DAY }: ThreadOptions,
): Thread | null {
  const own = [...entries]
    .filter((entry) => isEntryAbout(entry, subject))
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return project(`thread/${subject.type}/${subject.id}`, subject, own, { now, staleAfter }, null);
}

/** True if an entry belongs to a subject's thread. Entries about a pattern also belong to the session's thread. */
export function isEntryAbout(entry: Pick<Entry, 'subject' | 'sessionId'>, { type, id }: Subject): boolean {
  if (entry.subject.type === type && entry.subject.id === id) return true;
  return type === 'session' && entry.subject.type === 'pattern' && entry.sessionId === id;
}

function project(
  id: string,
  subject: Subject,
  entries: readonly Entry[],
  options: Required<ThreadOptions>,
  fork: Entry | null,
): Thread | null {
  const goal = entries.find(({ claim }) => claim === 'goal');
  if (!goal) return null;
  const forking = entries.filter(
    (entry) => entry.forkOf !== undefined && entry.id !== fork?.id && !isOnPath(entries, fork, entry),
  );
  const forks = forking.flatMap((entry) => {
    const part = branchAt(entries, entry);
    const thread = project(`thread/${subject.type}/${subject.id}/fork/${entry.id}`, subject, part, options, entry);
    return thread ? [thread] : [];
  });
  const forkedIds = new Set(forking.flatMap((entry) => descendants(entries, entry)));
  const mainLine = entries.filter((entry) => !forkedIds.has(entry.id));
  return {
    id,
    subject,
    goal,
    entries,
    participants: [...new Set(entries.map(({ author }) => author))],
    count: entries.length,
    status: statusOf(mainLine, forks.length > 0, options),
    forks,
    conjectures: conjecturesOf(entries),
    patterns: patternsOf(entries),
  };
}

function statusOf(
  mainLine: readonly Entry[],
  forked: boolean,
  { now, staleAfter }: Required<ThreadOptions>,
): ThreadStatus {
  const closed = mainLine.some((entry) => toBody(entry.body)?.event === 'session-closed');
  const lastWord = mainLine.findLast(({ claim }) => claim !== 'observation');
  if (closed || lastWord?.claim === 'conclusion') return 'closed';
  if (forked) return 'forked';
  const last = mainLine.at(-1);
  return last && now - Date.parse(last.at) > staleAfter ? 'stalled' : 'open';
}

/** Returns a branch: the path to the forked entry, the fork, and its replies. */
function branchAt(entries: readonly Entry[], fork: Entry): readonly Entry[] {
  const part = new Set([...ancestors(entries, fork.forkOf!), ...descendants(entries, fork)]);
  return entries.filter(({ id }) => part.has(id));
}

function ancestors(entries: readonly Entry[], id: string): readonly string[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const chain: string[] = [];
  for (let at = byId.get(id); at && !chain.includes(at.id); at = byId.get(at.inReplyTo ?? at.forkOf ?? ''))
    chain.push(at.id);
  return chain;
}

/** Returns the ids of the entry and of all its direct and indirect replies and forks. */
function descendants(entries: readonly Entry[], root: Entry): readonly string[] {
  const found = new Set([root.id]);
  for (const { id, inReplyTo, forkOf } of entries)
    if (found.has(inReplyTo ?? '') || (id !== root.id && found.has(forkOf ?? ''))) found.add(id);
  return [...found];
}

/** True if an entry is on the path to `fork`, so it belongs to the fork's thread and does not begin another thread. */
const isOnPath = (entries: readonly Entry[], fork: Entry | null, entry: Entry): boolean =>
  fork !== null && ancestors(entries, fork.forkOf!).includes(entry.id);

function conjecturesOf(entries: readonly Entry[]): readonly Conjecture[] {
  return entries
    .filter(({ claim, type, conjecture }) => claim === 'conjecture' || type === 'conjecture' || conjecture === true)
    .map((entry) => {
      const replies = entries.filter(({ inReplyTo }) => inReplyTo === entry.id);
      const against = replies.filter(({ type, claim }) => type === 'correction' || claim === 'correction');
      const conclusions = replies.filter(({ claim }) => claim === 'conclusion');
      const by = (against.length > 0 ? against : conclusions).map(({ id }) => id);
      return { entry, by, outcome: against.length > 0 ? 'refuted' : by.length > 0 ? 'confirmed' : 'open' };
    });
}

function patternsOf(entries: readonly Entry[]): readonly AppliedPattern[] {
  const found = new Map<string, { applied: number; recorded: PatternOutcome[] }>();
  for (const entry of entries) {
    const named = patternIn(entry);
    if (!named) continue;
    const pattern = getOrInsert(found, named.id, () => ({ applied: 0, recorded: [] }));
    pattern.applied += 1;
    if (named.outcome) pattern.recorded.push(named.outcome);
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([patternId, { applied, recorded }]) => {
      const times = (outcome: PatternOutcome) => recorded.filter((each) => each === outcome).length;
      const outcomes = {
        success: times('success'),
        partial: times('partial'),
        failed: times('failed'),
        pivoted: times('pivoted'),
        deferred: times('deferred'),
      };
      return { patternId, applied, outcomes, lastOutcome: recorded.at(-1) ?? null };
    });
}

/** Returns the pattern that an entry names in its own field or in the result of a pattern tool. */
function patternIn(entry: Entry): { readonly id: string; readonly outcome: PatternOutcome | null } | null {
  const own = toBody(entry.body);
  if (entry.patternId !== undefined && !own)
    return {
      id: entry.patternId,
      outcome: entry.type === 'pattern-outcome' ? (readPur(entry.body)?.outcome ?? null) : null,
    };
  if ((own?.event !== 'step' && own?.event !== 'outcome') || own.outcome.status !== 'ok') return null;
  const after = patternStatusAfter(own.tool, own.outcome);
  return after && { id: after.pattern, outcome: after.selects ? null : (readPur(own.outcome.result)?.outcome ?? null) };
}
