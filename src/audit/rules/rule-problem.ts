/** The rules that a session's evidence can break, as `hopgate verify` names them. */
const AUDIT_RULES = [
  'one-session',
  'goal-first',
  'claim',
  'conclusion-last',
  'evidence-type',
  'author',
  'subject',
  'tags',
  'time',
  'peripheral',
  'reply',
  'lifecycle',
  'message',
  'pin',
  'tool',
  'argument',
  'scope',
  'effect',
  'intent',
  'limit',
  'mode',
  'mode-effect',
  'agent',
  'entry',
  'edge',
  'exit',
  'condition',
  'gate',
  'approval',
  'context',
  'fruit',
  'facts',
  'refusal',
  'reframe',
  'shipped',
  'delegation',
] as const;
export type AuditRule = (typeof AUDIT_RULES)[number];

/** The codes of the denials that a spec set's rules lead to, without refusals of tools and stores. */
export const RULE_PROBLEM_CODES = [
  'session-closed',
  'no-peripheral',
  'already-active',
  'unknown-tool',
  'tool-not-allowed',
  'limit-reached',
  'mode-forbids',
  'invalid-action',
  'out-of-scope',
  'hop-not-allowed',
  'invalid-fruit',
  'exit-not-met',
  'agent-not-allowed',
  'entry-not-met',
  'condition-failed',
  'missing-context',
  'approval-required',
  'mode-not-allowed',
  'summary-required',
] as const;

export interface RuleProblem {
  /** The code of the denial that the gate must answer with if this is the first problem. */
  readonly code: (typeof RULE_PROBLEM_CODES)[number];
  readonly rule: AuditRule;
  /** The rule as the spec states it. */
  readonly constraint: string;
  readonly message: string;
  readonly tool?: string;
  readonly argument?: string;
  /**
   * Present if the problem follows from earlier entries. If the body of one of these entries was erased, the problem is
   * only a gap.
   */
  readonly needsHistory?: true;
}

/** Details of a problem: the call that it is about, and whether its judgement rests on earlier entries. */
export type RuleProblemDetails = Pick<RuleProblem, 'tool' | 'argument' | 'needsHistory'>;

export const makeRuleProblem = (
  code: RuleProblem['code'],
  rule: AuditRule,
  constraint: string,
  message: string,
  about: RuleProblemDetails = {},
): RuleProblem => ({ code, rule, constraint, message, ...about });

/** The problem of a request that needs a current peripheral, if the session is outside of all. */
export const noVisitProblem = (
  constraint: string,
  message = 'the session was outside of any peripheral',
  about: RuleProblemDetails = {},
): RuleProblem => makeRuleProblem('no-peripheral', 'lifecycle', constraint, message, about);

export const NEEDS_HISTORY: RuleProblemDetails = { needsHistory: true };

export type AddRuleProblem = (...problem: Parameters<typeof makeRuleProblem>) => void;

/** A list of problems, and the function that adds one to it. */
export function makeProblemCollector(): { readonly found: RuleProblem[]; readonly add: AddRuleProblem } {
  const found: RuleProblem[] = [];
  return { found, add: (...problem) => void found.push(makeRuleProblem(...problem)) };
}
