import canonicalize from 'canonicalize';
import { type Fields, fieldsOf, isObject, type Json, listOf } from '../../base/json.ts';
import { type Lazy, valueOfLazy } from '../../base/lazy.ts';
import { writePathProblem } from '../../spec/path-patterns.ts';
import { APPROVAL_FIELD_TITLES, BOUND_SHIPPING_FIELDS } from '../../spec/policy/approval-fields.ts';
import { writePathReason } from '../scope/write-paths.ts';
import type { ApprovalAction, ApprovalSubject } from './approval.ts';

/** The limits of a grant. The grant ends when one of them is reached. */
export interface GrantLimits {
  /** Epoch milliseconds. */
  readonly until: number;
  /** The maximum number of approvals under the grant, the first one included. */
  readonly uses?: number;
  /** The files that may be changed, as patterns of write paths. */
  readonly files?: readonly string[];
  /** True if a test run that does not pass ends the grant. */
  readonly testsPass?: true;
}

/** The last time of JavaScript's Date, in epoch milliseconds. */
const LAST_TIME = 8.64e15;

/** True for well-formed limits of a grant without unknown fields. */
export function isGrantLimits(value: unknown): value is GrantLimits {
  if (!isObject(value)) return false;
  const { until, uses, files, testsPass, ...others } = value as { readonly [name: string]: unknown };
  return (
    Object.keys(others).length === 0 &&
    Number.isSafeInteger(until) &&
    Math.abs(until as number) <= LAST_TIME &&
    (uses === undefined || (Number.isSafeInteger(uses) && (uses as number) >= 1)) &&
    (testsPass === undefined || testsPass === true) &&
    (files === undefined ||
      (Array.isArray(files) &&
        files.length > 0 &&
        files.every((path) => typeof path === 'string' && path.isWellFormed() && writePathProblem(path) === null)))
  );
}

/** A yes to every request of one action until a limit is reached, as recorded in the session's evidence. */
export interface GrantView {
  readonly id: string;
  readonly by: string;
  readonly action: ApprovalAction;
  /** The parts of the first request that later ones must repeat; see {@link approvalFieldsBound}. */
  readonly bound: Fields;
  readonly limits: GrantLimits;
  /** Epoch milliseconds. */
  readonly givenAt: number;
  readonly used: number;
  /** The reason why the grant ended, if an entry of the session ended it; else null. A limit can end it too. */
  readonly ended: string | null;
}

/** The parts of the session that its grants depend on. */
interface GrantedSession {
  readonly now: number;
  readonly changes: Lazy<{ readonly [path: string]: unknown }>;
  /** True if the effects of a step were not observed, so that the changed files are not known. */
  readonly blind?: boolean;
}

/**
 * The parts of a request that a grant binds. For a hop: the destination of the shipped changes, the earlier commits
 * that a push also sends, the findings and the changed test files, because the person must have seen them. For a step:
 * everything that was shown. For a mode change: only its action.
 */
export function approvalFieldsBound({ action, view }: Pick<ApprovalSubject, 'action' | 'view'>): GrantView['bound'] {
  if (action.kind === 'mode') return {};
  if (action.kind === 'step' || action.kind === 'delegate') return { shown: { ...view } };
  const ships = view[APPROVAL_FIELD_TITLES.ships] as Fields | undefined;
  const place = BOUND_SHIPPING_FIELDS.map((name) => [name, ships?.[name] ?? null] as const);
  const committer: Fields = ships?.['committer'] ? { committer: ships['committer'] } : {};
  return {
    ...(ships ? { place: { ...Object.fromEntries(place), ...committer }, commits: earlierCommits(ships) } : {}),
    findings: view[APPROVAL_FIELD_TITLES.findings] ?? {},
    tests: view[APPROVAL_FIELD_TITLES.testFiles] ?? [],
  };
}

/** The ids of the earlier commits that would ship, and the number of earlier commits that the request does not list. */
function earlierCommits({ commits, merges, more }: Fields): Json[] {
  const listed = listOf(commits).map((commit) => fieldsOf(commit)['sha'] ?? null);
  return [...listed, ...listOf(merges), ...(more ? [`${String(more)} more`] : [])];
}

/** Adds a commit that the session made under an approval to the earlier commits that a grant covers. */
export const addCommitToGrant = (grant: GrantView, sha: string): GrantView => ({
  ...grant,
  bound: { ...grant.bound, commits: [...listOf(grant.bound['commits']), sha] },
});

/**
 * The changed files of a request: the files that the session and its sub-agents changed, and the files that would be
 * committed.
 */
export function changedFilesInRequest(
  view: ApprovalSubject['view'],
  changes: GrantedSession['changes'],
): readonly string[] {
  const { files } = (view[APPROVAL_FIELD_TITLES.ships] ?? {}) as { readonly files?: readonly string[] };
  const shown = Object.keys(fieldsOf(view[APPROVAL_FIELD_TITLES.changes]));
  return [...new Set([...shown, ...Object.keys(valueOfLazy(changes)), ...(files ?? [])])];
}

/** The first of the changed files that a grant's patterns do not cover; null if they cover all. */
export const firstUncoveredFile = (files: readonly string[], covered: readonly string[]): string | null =>
  files.find((path) => writePathReason(path, covered) !== null) ?? null;

/** The reason why a grant covers no request any more; null if it has not ended. */
export function grantEndReason({ ended, limits, used }: GrantView, now: number): string | null {
  if (ended !== null) return ended;
  if (now >= limits.until) return `the grant ended at ${new Date(limits.until).toISOString()}`;
  return limits.uses !== undefined && used >= limits.uses ? `the grant was used ${used} of ${limits.uses} times` : null;
}

/** The reason why a grant does not cover a request; null if it does. */
export function grantProblem(
  grant: GrantView,
  subject: Pick<ApprovalSubject, 'action' | 'view'>,
  session: GrantedSession,
): string | null {
  const over = grantEndReason(grant, session.now);
  if (over !== null) return over;
  if (!isSameJson(grant.action, subject.action)) return 'the grant is for another action';
  const differs = differenceOf(grant.bound, approvalFieldsBound(subject));
  if (differs !== null) return differs;
  const { files } = grant.limits;
  if (files === undefined) return null;
  if (session.blind) return 'the changes of a step were not observed, so the changed files are not known';
  const outside = firstUncoveredFile(changedFilesInRequest(subject.view, session.changes), files);
  return outside === null ? null : `a file that the grant does not cover has changed: ${outside}`;
}

/** The grant that covers a request; null if none does. */
export const findCoveringGrant = (
  grants: readonly GrantView[],
  subject: Pick<ApprovalSubject, 'action' | 'view'>,
  session: GrantedSession,
): GrantView | null => grants.find((grant) => grantProblem(grant, subject, session) === null) ?? null;

type Parts = GrantView['bound'];

function differenceOf(approved: Parts, now: Parts): string | null {
  if (!isSameJson(approved['shown'] ?? null, now['shown'] ?? null))
    return 'the grant is for a call with other arguments';
  if (!isSameJson(approved['place'] ?? null, now['place'] ?? null))
    return 'the push has another destination, author or committer';
  const seen = (approved['findings'] ?? {}) as Parts;
  const found = (now['findings'] ?? {}) as Parts;
  const unseen = Object.keys(found).find((path) => found[path] !== seen[path]);
  if (unseen !== undefined) return `there is a finding that nobody has approved: ${unseen}`;
  const commits = listOf(approved['commits']);
  const unseenCommit = listOf(now['commits']).find((commit) => !commits.includes(commit));
  if (unseenCommit !== undefined) return `an earlier commit would ship that nobody has approved: ${unseenCommit}`;
  const tests = (approved['tests'] ?? []) as readonly string[];
  const unseenTest = ((now['tests'] ?? []) as readonly string[]).find((path) => !tests.includes(path));
  return unseenTest === undefined ? null : `a test file has changed that nobody has approved: ${unseenTest}`;
}

const isSameJson = (a: unknown, b: unknown): boolean => canonicalize(a) === canonicalize(b);

export function describeGrantLimits({ until, uses, files, testsPass }: GrantLimits): string {
  return [
    ...(uses === undefined ? [] : [uses === 1 ? 'once' : `${uses} times`]),
    ...(files === undefined ? [] : [`while only these files change: ${files.join(' ')}`]),
    ...(testsPass ? ['until a test run does not pass'] : []),
    `until ${new Date(until).toISOString()}`,
  ].join(', ');
}
