import { changedFilesInRequest, firstUncoveredFile, type GrantLimits } from '../gate/approvals/grant.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import { writePathProblem } from '../spec/path-patterns.ts';
import { APPROVAL_FIELD_TITLES } from '../spec/policy/approval-fields.ts';

/** The limits of a grant in a person's words. Without `minutes` it ends after an hour. */
export interface GrantTerms {
  readonly times?: number;
  readonly minutes?: number;
  /** The files that the grant covers: `true` for those changed now, or patterns of files, folders and exclusions. */
  readonly files?: true | readonly string[];
  readonly testsPass?: boolean;
}

const DEFAULT_MINUTES = 60;
export const MAX_GRANT_MINUTES = 24 * 60;

/** The limits of a grant that begins with this request, or the reason why they are not possible, for a person. */
export function toGrantLimits(
  { times, minutes = DEFAULT_MINUTES, files, testsPass }: GrantTerms,
  { view }: Pick<ApprovalRequest, 'view'>,
  now: number,
): GrantLimits | { readonly problem: string } {
  if (!(minutes > 0 && minutes <= MAX_GRANT_MINUTES)) return { problem: 'a grant lasts at most 24 hours' };
  if (times !== undefined && !(Number.isSafeInteger(times) && times >= 1 && times <= 1000))
    return { problem: 'a grant covers 1 to 1000 requests' };
  const changed = changedFilesInRequest(
    view,
    (view[APPROVAL_FIELD_TITLES.changes] ?? {}) as { readonly [path: string]: unknown },
  );
  const covered = files === true ? changed.map(escapeGlob) : files;
  if (covered?.length === 0)
    return { problem: 'no file is changed, so a grant cannot be limited to the changed files' };
  for (const path of covered ?? []) {
    const problem = writePathProblem(path);
    if (problem !== null) return { problem: `"${path}" ${problem}` };
  }
  const outside = covered ? firstUncoveredFile(changed, covered) : null;
  if (outside !== null) return { problem: `${outside} is changed, and the grant would not cover it` };
  return {
    until: now + Math.round(minutes * 60_000),
    ...(times === undefined ? {} : { uses: times }),
    ...(covered ? { files: covered } : {}),
    ...(testsPass ? { testsPass: true } : {}),
  };
}

/** A pattern for one path; characters that are wildcards in patterns match any character. */
const escapeGlob = (path: string): string => path.replace(/[*?[{(]|^!/g, '?');

/**
 * Reads an answer that a person types: `yes`, or a grant: `yes 3x`, `yes 2h tests`, `yes 30m files`, `yes src/ test/`.
 * null if it is neither a yes nor a no; `problem` if it is a yes with words that are not understood.
 */
export function parseTypedAnswer(
  text: string,
): { readonly verdict: 'yes' | 'no'; readonly terms?: GrantTerms } | { readonly problem: string } | null {
  const [verdictWord = '', ...words] = text.trim().toLowerCase() === '' ? [] : text.trim().split(/[\s,]+/);
  const verdict = { y: 'yes', yes: 'yes', n: 'no', no: 'no' }[verdictWord.toLowerCase()] as 'yes' | 'no' | undefined;
  if (verdict === undefined) return null;
  if (verdict === 'no') return { verdict };
  if (words.length === 0) return { verdict };
  const terms: { -readonly [name in keyof GrantTerms]: GrantTerms[name] } = {};
  const paths: string[] = [];
  for (const word of words) {
    const [, count, unit] = /^(\d{1,4})(x|m|h)$/i.exec(word) ?? [];
    if (unit?.toLowerCase() === 'x') terms.times = Number(count);
    else if (unit) terms.minutes = Number(count) * (unit.toLowerCase() === 'h' ? 60 : 1);
    else if (word === 'tests') terms.testsPass = true;
    else if (word === 'files') terms.files = true;
    else if (/[/.*]/.test(word)) paths.push(word);
    else
      return { problem: `"${word}" is not a limit of a grant; write for example 3x, 2h, 30m, tests, files, or src/` };
  }
  return { verdict, terms: paths.length > 0 ? { ...terms, files: paths } : terms };
}
