import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { isObject } from '../../base/json.ts';
import { excerpt } from '../../base/text.ts';
import { isGrantLimits } from '../../gate/approvals/grant.ts';
import type { Approver } from '../../ports/approver.ts';

type Answer = Awaited<ReturnType<Approver['approve']>>;

const VIA: readonly unknown[] = ['approver', 'terminal', 'operator-token'];
/** The longest validity of an approval: a hundred years. */
const MAX_MINUTES = 100 * 366 * 24 * 60;

/**
 * Refuses an approver without the method `approve` or with an unknown `via`. @throws TypeError with the correct form
 */
export function assertApprover(approver: Approver): void {
  assertArgument(hasMethods(approver, 'approve'), 'approver', 'an object { via, approve }', approver);
  if (!VIA.includes(approver.via))
    throw new TypeError(
      `an approver has via "approver", "terminal" or "operator-token", not ${excerpt(String(approver.via), 100)}`,
    );
}

/**
 * Checks the answer of an approver, which is the program's own code. A wrong answer approves nothing and is not
 * recorded.
 * @throws TypeError with the correct forms of an answer
 */
export function readApproverAnswer(answer: unknown): Answer {
  if (answer === null || answer === undefined || answer === false) return null;
  if (isAnswer(answer)) return answer;
  throw new TypeError(
    `the approver answered ${excerpt(JSON.stringify(answer) ?? String(answer), 200)}; an answer is null, { by, minutes?, grant? } with at most ${MAX_MINUTES} minutes, { declined, because? } or { pending }`,
  );
}

function isAnswer(answer: unknown): answer is NonNullable<Answer> {
  if (!isObject(answer)) return false;
  const { by, minutes, grant, declined, because, pending } = answer as { readonly [field: string]: unknown };
  if (pending !== undefined) return isName(pending);
  if (declined !== undefined) return isName(declined) && (because === undefined || typeof because === 'string');
  const isTime = typeof minutes === 'number' && Math.abs(minutes) <= MAX_MINUTES;
  return isName(by) && (minutes === undefined || isTime) && (grant === undefined || isGrantLimits(grant));
}

const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(value);
