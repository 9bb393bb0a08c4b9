import type { Entry } from './entry.ts';

/** The seven invariants of a thread of evidence. */
const INVARIANTS = [
  'tree-validity',
  'root',
  'no-orphans',
  'claim-ordering',
  'author-tracking',
  'monotonic-time',
  'entry-count',
] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** A broken invariant, and the entry that breaks it. */
interface InvariantViolation {
  readonly rule: Invariant;
  /** Id of the faulty entry; empty if the fault is a missing entry. */
  readonly entryId: string;
  readonly message: string;
}

/** The claimed number of entries and the claimed participants, which the check compares with the entries. */
interface ThreadClaims {
  readonly participants?: readonly string[];
  readonly count?: number;
}

type LinkedEntry = Pick<Entry, 'id' | 'at' | 'claim' | 'author' | 'inReplyTo' | 'forkOf'>;

/**
 * Checks the seven invariants over a set of entries, in the order in which they were written: a session's, or a
 * thread's.
 *
 * 1. tree-validity: an entry replies to, or forks, only an earlier entry of the set.
 * 2. root: the first entry is a goal and replies to nothing.
 * 3. no-orphans: every other entry replies to something or forks something.
 * 4. claim-ordering: a conclusion never replies to a conclusion.
 * 5. author-tracking: every entry has an author, and the participants are exactly the authors.
 * 6. monotonic-time: no entry is older than the one before it.
 * 7. entry-count: no entry occurs twice, and their number is as claimed.
 *
 * @example checkInvariants(entries, { count: head.seq + 1 }) // the violations
 */
export function checkInvariants(
  entries: Iterable<LinkedEntry>,
  claims: ThreadClaims = {},
): readonly InvariantViolation[] {
  const violations: InvariantViolation[] = [];
  const claimOf = new Map<string, LinkedEntry['claim']>();
  const authors = new Set<string>();
  let before: LinkedEntry | null = null;
  let count = 0;
  let lastId = '';
  for (const entry of entries) {
    const broken = (rule: Invariant, message: string) => violations.push({ rule, entryId: entry.id, message });
    count += 1;
    lastId = entry.id;
    if (claimOf.has(entry.id)) {
      broken('entry-count', 'the entry occurs twice');
      continue;
    }
    checkLinks(entry, before === null, claimOf, broken);
    if (entry.author.trim() === '') broken('author-tracking', 'the entry has no author');
    else authors.add(entry.author);
    if (Number.isNaN(Date.parse(entry.at))) broken('monotonic-time', `"${entry.at}" is not a time`);
    else if (before !== null && Date.parse(entry.at) < Date.parse(before.at))
      broken('monotonic-time', `${entry.at} is earlier than ${before.at} of the entry before it`);
    claimOf.set(entry.id, entry.claim);
    before = entry;
  }
  if (before === null) violations.push({ rule: 'root', entryId: '', message: 'there are no entries, so no goal' });
  checkClaims(claims, count, authors, (rule, message) => violations.push({ rule, entryId: lastId, message }));
  return violations;
}

type ReportBroken = (rule: Invariant, message: string) => void;

function checkLinks(
  entry: LinkedEntry,
  first: boolean,
  claimOf: ReadonlyMap<string, LinkedEntry['claim']>,
  broken: ReportBroken,
): void {
  const { inReplyTo, forkOf } = entry;
  if (first) {
    if (entry.claim !== 'goal') broken('root', `the first entry is a ${entry.claim}, not a goal`);
    if (inReplyTo !== undefined || forkOf !== undefined)
      broken('root', `the first entry replies to ${inReplyTo ?? forkOf}`);
    return;
  }
  if (inReplyTo === undefined && forkOf === undefined)
    broken('no-orphans', 'the entry replies to nothing: a second root');
  for (const [link, target] of [
    ['replies to', inReplyTo],
    ['forks', forkOf],
  ] as const) {
    if (target !== undefined && !claimOf.has(target))
      broken('tree-validity', `the entry ${link} ${target}, which is not an earlier entry of the checked ones`);
  }
  if (entry.claim === 'conclusion' && inReplyTo !== undefined && claimOf.get(inReplyTo) === 'conclusion')
    broken('claim-ordering', `a conclusion that replies to the conclusion ${inReplyTo}`);
}

function checkClaims(
  { participants, count: claimed }: ThreadClaims,
  count: number,
  authors: ReadonlySet<string>,
  broken: ReportBroken,
): void {
  if (claimed !== undefined && claimed !== count)
    broken('entry-count', `${claimed} entries are claimed, but there are ${count}`);
  if (participants === undefined) return;
  for (const author of authors)
    if (!participants.includes(author)) broken('author-tracking', `${author} wrote an entry and is not a participant`);
  for (const author of participants)
    if (!authors.has(author)) broken('author-tracking', `${author} is a participant and wrote no entry`);
}
