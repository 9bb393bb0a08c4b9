import { getOwn } from '../../spec/names.ts';
import type { Fields, Principal } from '../../spec/types.ts';

/**
 * A requirement of a machine's transition. Plain JSON, so that it can be a guard's params in the machine's config.
 *
 * `source` requires that one of the entry sources applies. `natural-close` requires a natural close if an agent asks
 * for a peripheral whose entry names `agent-request`, even if another source would admit it. `when` requires that the
 * CEL text holds over the session's facts.
 */
export type Requirement =
  | { readonly kind: 'source'; readonly any: readonly string[] }
  | { readonly kind: 'natural-close' }
  | { readonly kind: 'fruit'; readonly field: string; readonly value: string }
  | { readonly kind: 'condition'; readonly name: string }
  | { readonly kind: 'when'; readonly cel: string }
  | { readonly kind: 'approval'; readonly by: 'operator'; readonly action: 'hop' | 'mode' }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly is: 'selected' | 'held' }
  | { readonly kind: 'summary' }
  | { readonly kind: 'principal'; readonly is: Principal }
  | { readonly kind: 'agent'; readonly any: readonly string[] };

/**
 * The facts of one request. It is plain JSON, because it is `event.facts` of the machine's event. A requirement whose
 * fact is missing does not hold. It is a type, because an interface cannot be assigned to JSON fields.
 */
export type RequirementFacts = {
  readonly by: Principal;
  /** The peripheral being left; null outside of any. */
  readonly source: string | null;
  readonly agent: string;
  /** True if no peripheral was visited in this session yet. */
  readonly firstVisit: boolean;
  readonly atSessionClose: boolean;
  /** True if a step has succeeded since the last PAR and nothing is pending. */
  readonly naturalClose: boolean;
  /** The fruit that the visit being left would have now. */
  readonly fruit: Fields;
  /** The results of entry conditions, such as `tests-passed`, by name. */
  readonly conditions: { readonly [name: string]: boolean };
  /** The results of CEL gates, by their text. */
  readonly when: { readonly [cel: string]: boolean };
  /** True if exactly this request has a valid approval. */
  readonly approved: boolean;
  readonly summary: string | null;
  /** The status of each pattern: selected (by a PSR), or the outcome in its last PUR. */
  readonly patterns: { readonly [pattern: string]: 'selected' | 'held' | 'failed' };
};

/** For each kind of requirement, a function that takes it. */
type ByKind<Rest extends readonly unknown[], Result> = {
  readonly [Kind in Requirement['kind']]: (
    requirement: Extract<Requirement, { readonly kind: Kind }>,
    ...rest: Rest
  ) => Result;
};

function applyByKind<Rest extends readonly unknown[], Result>(
  table: ByKind<Rest, Result>,
  requirement: Requirement,
  ...rest: Rest
): Result {
  if (!Object.hasOwn(table, requirement.kind)) throw new Error(`unknown requirement ${JSON.stringify(requirement)}`);
  return table[requirement.kind](requirement as never, ...rest);
}

const IS_MET: ByKind<[facts: RequirementFacts], boolean> = {
  source: ({ any }, facts) => any.some((source) => sourceApplies(source, facts)),
  'natural-close': (_, facts) => facts.by !== 'agent' || facts.naturalClose || facts.atSessionClose,
  fruit: ({ field, value }, { fruit }) => Object.hasOwn(fruit, field) && fruit[field] === value,
  condition: ({ name }, { conditions }) => getOwn(conditions, name) === true,
  when: ({ cel }, { when }) => getOwn(when, cel) === true,
  approval: (_, { approved }) => approved === true,
  // A pattern with an outcome was selected before.
  pattern: ({ pattern, is }, { patterns }) =>
    Object.hasOwn(patterns, pattern) && (is === 'selected' || patterns[pattern] === 'held'),
  summary: (_, { summary }) => typeof summary === 'string' && summary.trim() !== '',
  principal: ({ is }, { by }) => by === is,
  agent: ({ any }, { agent }) => any.includes(agent),
};

export const isRequirementMet = (requirement: Requirement, facts: RequirementFacts): boolean =>
  applyByKind(IS_MET, requirement, facts);

/** The requirements that the facts do not meet, in order; empty if they meet all. */
export function unmetRequirements(
  requirements: readonly Requirement[],
  facts: RequirementFacts,
): readonly Requirement[] {
  return requirements.filter((requirement) => !isRequirementMet(requirement, facts));
}

/**
 * A requirement in a few words, for denials, labels and diagrams.
 * @example describeRequirement({ kind: 'fruit', field: 'result', value: 'pass' }) // 'result is pass'
 */
export const describeRequirement = (requirement: Requirement): string => applyByKind(IN_WORDS, requirement);

const IN_WORDS: ByKind<[], string> = {
  source: ({ any }) => joinWithOr(any.map((source) => source.replace(/^from-/, 'from '))),
  'natural-close': () => 'a successful step since the last review',
  fruit: ({ field, value }) => `${field} is ${value}`,
  condition: ({ name }) => name,
  when: ({ cel }) => `when ${cel}`,
  approval: ({ by }) => `approval by ${by}`,
  pattern: ({ pattern, is }) => `pattern ${pattern} ${is}`,
  summary: () => 'a summary',
  principal: ({ is }) => `by ${is}`,
  agent: ({ any }) => `agent ${joinWithOr(any)}`,
};

/**
 * The name of a requirement as a machine's guard. Different requirements have different names.
 * @example requirementGuardName({ kind: 'approval', by: 'operator', action: 'hop' }) // 'approval:operator'
 */
export const requirementGuardName = (requirement: Requirement): string => applyByKind(GUARD_NAMES, requirement);

const GUARD_NAMES: ByKind<[], string> = {
  source: ({ any }) => any.join('|') || 'nobody',
  'natural-close': () => 'close:natural',
  fruit: ({ field, value }) => `${field}=${value}`,
  condition: ({ name }) => name,
  when: ({ cel }) => `when:${cel}`,
  approval: ({ by }) => `approval:${by}`,
  pattern: ({ pattern, is }) => `pattern:${pattern}:${is}`,
  summary: () => 'summary',
  principal: ({ is }) => `by:${is}`,
  agent: ({ any }) => `agent:${any.join('|')}`,
};

/** True if an entry source, by its name in the spec, applies. False for an unknown name. */
function sourceApplies(source: string, facts: RequirementFacts): boolean {
  const applies = {
    default: facts.firstVisit,
    'from-any': facts.source !== null,
    'user-request': facts.by === 'operator',
    'agent-request': facts.by === 'agent' && facts.naturalClose && facts.source !== null,
    'session-close': facts.atSessionClose,
  };
  return getOwn(applies, source) ?? (facts.source !== null && source === `from-${facts.source}`);
}

const joinWithOr = (words: readonly string[]): string => (words.length === 0 ? 'nobody' : words.join(' or '));
