import type { Json, Principal } from '../../spec/types.ts';

/**
 * A requirement of a machine's transition. Plain JSON, so that it can be a guard's params in the machine's config.
 *
 * `source`: one of the entry sources applies. `natural-close`: an agent's own request for a peripheral whose entry
 * names `agent-request` needs a natural close, whichever other source would admit it. `when`: the CEL text holds over
 * the session's facts.
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
  readonly fruit: { readonly [field: string]: Json };
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

export function isRequirementMet(requirement: Requirement, facts: RequirementFacts): boolean {
  switch (requirement.kind) {
    case 'source':
      return requirement.any.some((source) => sourceApplies(source, facts));
    case 'natural-close':
      return facts.by !== 'agent' || facts.naturalClose || facts.atSessionClose;
    case 'fruit':
      return Object.hasOwn(facts.fruit, requirement.field) && facts.fruit[requirement.field] === requirement.value;
    case 'condition':
      return holds(facts.conditions, requirement.name);
    case 'when':
      return holds(facts.when, requirement.cel);
    case 'approval':
      return facts.approved === true;
    case 'pattern':
      return patternIs(requirement, facts);
    case 'summary':
      return typeof facts.summary === 'string' && facts.summary.trim() !== '';
    case 'principal':
      return facts.by === requirement.is;
    case 'agent':
      return requirement.any.includes(facts.agent);
    default:
      throw new Error(`unknown requirement ${JSON.stringify(requirement satisfies never)}`);
  }
}

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
export function describeRequirement(requirement: Requirement): string {
  switch (requirement.kind) {
    case 'source':
      return sourcesInWords(requirement.any);
    case 'natural-close':
      return 'a natural close';
    case 'fruit':
      return `${requirement.field} is ${requirement.value}`;
    case 'condition':
      return requirement.name;
    case 'when':
      return `when ${requirement.cel}`;
    case 'approval':
      return `approval by ${requirement.by}`;
    case 'pattern':
      return `pattern ${requirement.pattern} ${requirement.is}`;
    case 'summary':
      return 'a summary';
    case 'principal':
      return `by ${requirement.is}`;
    case 'agent':
      return `agent ${joinWithOr(requirement.any)}`;
    default:
      throw new Error(`unknown requirement ${JSON.stringify(requirement satisfies never)}`);
  }
}

/**
 * The name of a requirement as a machine's guard. Different requirements have different names.
 * @example requirementGuardName({ kind: 'approval', by: 'operator', action: 'hop' }) // 'approval:operator'
 */
export function requirementGuardName(requirement: Requirement): string {
  switch (requirement.kind) {
    case 'source':
      return requirement.any.join('|') || 'nobody';
    case 'natural-close':
      return 'close:natural';
    case 'fruit':
      return `${requirement.field}=${requirement.value}`;
    case 'condition':
      return requirement.name;
    case 'when':
      return `when:${requirement.cel}`;
    case 'approval':
      return `approval:${requirement.by}`;
    case 'pattern':
      return `pattern:${requirement.pattern}:${requirement.is}`;
    case 'summary':
      return 'summary';
    case 'principal':
      return `by:${requirement.is}`;
    case 'agent':
      return `agent:${requirement.any.join('|')}`;
    default:
      throw new Error(`unknown requirement ${JSON.stringify(requirement satisfies never)}`);
  }
}

const holds = (values: { readonly [name: string]: boolean }, name: string): boolean =>
  Object.hasOwn(values, name) && values[name] === true;

/** True if an entry source, by its name in the spec, applies. False for an unknown name. */
function sourceApplies(source: string, facts: RequirementFacts): boolean {
  switch (source) {
    case 'default':
      return facts.firstVisit;
    case 'from-any':
      return facts.source !== null;
    case 'user-request':
      return facts.by === 'operator';
    case 'agent-request':
      return facts.by === 'agent' && facts.naturalClose && facts.source !== null;
    case 'session-close':
      return facts.atSessionClose;
    default:
      return facts.source !== null && source === `from-${facts.source}`;
  }
}

function patternIs(
  { pattern, is }: Extract<Requirement, { kind: 'pattern' }>,
  { patterns }: RequirementFacts,
): boolean {
  if (!Object.hasOwn(patterns, pattern)) return false;
  // A pattern with an outcome was selected before.
  return is === 'selected' || patterns[pattern] === 'held';
}

/** Entry sources in words: `from test or user-request`. */
function sourcesInWords(any: readonly string[]): string {
  return joinWithOr(
    any.map((source) => (source.startsWith('from-') ? `from ${source.slice('from-'.length)}` : source)),
  );
}

const joinWithOr = (words: readonly string[]): string => (words.length === 0 ? 'nobody' : words.join(' or '));
