import type { ASTNode } from '@marcbachmann/cel-js';
import { getOwn } from '../../spec/names.ts';
import type { PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { type CelRuleFacts, celSyntaxTree, evaluateCel, nodesOf, partsOf, printCelNode } from '../rules/audited-cel.ts';

/** The known facts at the moment at which a rule is evaluated. All other facts may have any value. */
interface KnownFacts {
  /** null represents every agent that no list of agents and no rule names. */
  readonly agent: string | null;
  readonly peripheral: string | null;
  readonly mode: string | null;
  /** True after the first visit of the session. */
  readonly begun: boolean;
  /**
   * For each peripheral: true if the session visited it. A peripheral that is not listed may or may not have been
   * visited.
   */
  readonly visited?: { readonly [peripheral: string]: boolean };
  readonly testsPassed: boolean;
}

/** Limit of combinations to try; a rule with more counts as satisfiable. */
const MAX_COMBINATIONS = 20_000;
/** Represents all values that a rule does not name. */
const OTHER = Symbol('another value');
/** The value of a fact that is absent: a comparison with it is neither true nor false. */
const ABSENT = Symbol('absent');

/**
 * True if a rule can hold. Each term that is compared with fixed values is tried with all values at which one of its
 * comparisons changes. Terms count as independent of each other, and so does any other part of a rule. So a rule that
 * can hold is never called unsatisfiable. The result is exact if the rule only compares facts with fixed values.
 */
export function canRuleHold(specs: SpecSet, cel: string, known: KnownFacts): boolean {
  const rule = celSyntaxTree(cel);
  return rule !== null && new Rule(specs, rule, known).canHold();
}

export function stringLiteralsInRule(cel: string): readonly string[] {
  const rule = celSyntaxTree(cel);
  return rule
    ? nodesOf(rule).flatMap(({ op, args }) => (op === 'value' && typeof args === 'string' ? [args] : []))
    : [];
}

/** The peripherals whose number of visits some rule reads. */
export function peripheralsCountedByRules(specs: SpecSet): readonly string[] {
  const trees = [...new Set(rulesOf(specs))].filter((rule) => rule.includes('visits')).map(celSyntaxTree);
  const read = new Set(trees.flatMap((tree) => (tree === null ? [] : nodesOf(tree).map(nameOf))));
  return Object.keys(specs.peripherals).filter((id) => read.has(`visits.${celName(id)}`));
}

export const rulesOf = ({ edges, conditions }: SpecSet): readonly string[] => [
  ...edges.flatMap(({ when, gates }) => [when ?? '', ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : ''))]),
  ...Object.values(conditions),
];

export function ruleReadsFact(cel: string, fact: string): boolean {
  const rule = celSyntaxTree(cel);
  return rule !== null && nodesOf(rule).some((node) => nameOf(node) === fact);
}

/** The parts of a fact such as `fruit.result`, also if it is written `fruit["result"]`; null for anything else. */
export function factOf(node: ASTNode): { readonly root: string; readonly name: string } | null {
  if (node.op !== '.' && node.op !== '[]') return null;
  const [of, member] = node.args;
  const name = typeof member === 'string' ? member : member.op === 'value' ? member.args : null;
  return of.op === 'id' && typeof name === 'string' ? { root: of.args, name } : null;
}

/** Names a term of a rule: all spellings of one term get the same name. */
function nameOf(node: ASTNode): string {
  const fact = factOf(node);
  return fact ? `${fact.root}.${fact.name}` : printCelNode(node);
}

const FLIPPED: { readonly [operator: string]: string } = {
  ...{ '==': '==', '!=': '!=' },
  ...{ '<': '>', '>': '<', '<=': '>=', '>=': '<=' },
};

/** A comparison of a term with a fixed value. */
interface Comparison {
  readonly term: ASTNode;
  readonly operator: string;
  readonly value: unknown;
}

class Rule {
  readonly #rule: ASTNode;
  readonly #spec: PeripheralSpec | undefined;
  readonly #fixed: CelRuleFacts;
  /** The peripherals that the session visited, as rules write their names. */
  readonly #visited: readonly string[];
  /** By term of the rule: the values to try. */
  readonly #domains = new Map<string, readonly unknown[]>();
  readonly #values = new Map<string, unknown>();

  constructor(specs: SpecSet, rule: ASTNode, known: KnownFacts) {
    const { agent, peripheral, mode, begun, visited = {}, testsPassed } = known;
    this.#rule = rule;
    this.#spec = peripheral === null ? undefined : getOwn(specs.peripherals, peripheral);
    const peripherals = Object.keys(specs.peripherals);
    const unvisited = peripherals.filter((id) => !(begun && (visited[id] ?? true)));
    this.#visited = peripherals.filter((id) => visited[id]).map(celName);
    this.#fixed = {
      session: { ...(agent === null ? {} : { agent }), ...(begun ? {} : { steps: 0, visits: 0 }), mode, peripheral },
      visit: { ...(peripheral === null ? { steps: 0, denials: 0 } : {}), peripheral },
      visits: Object.fromEntries(unvisited.map((id) => [celName(id), 0])),
      tests: { ...(begun ? {} : { count: 0, failed: 0 }), passed: testsPassed },
    };
  }

  canHold(): boolean {
    const leaves = this.#leaves(this.#rule);
    for (const [text, same] of Map.groupBy(leaves, (leaf) => nameOf('term' in leaf ? leaf.term : leaf))) {
      const compared = same.flatMap((leaf) => ('term' in leaf ? [leaf] : []));
      const node = 'term' in same[0]! ? same[0].term : same[0]!;
      const named = compared.flatMap(({ operator, value }) => (operator === 'in' ? [value].flat() : [value]));
      this.#domains.set(text, this.#domain(node, named, compared.length < same.length));
    }
    const lists = [...this.#domains];
    const combinations = lists.reduce((count, [, list]) => count * list.length, 1);
    if (combinations > MAX_COMBINATIONS) return true;
    for (let index = 0; index < combinations; index++) {
      let rest = index;
      for (const [text, list] of lists) {
        this.#values.set(text, list[rest % list.length]);
        rest = Math.floor(rest / list.length);
      }
      if (this.#is(this.#rule, true)) return true;
    }
    return false;
  }

  /** The comparisons and other parts of a rule that `&&`, `||`, `!` and `?:` join, without its constant parts. */
  #leaves(node: ASTNode): readonly (Comparison | ASTNode)[] {
    if (this.#isFixed(node)) return [];
    if (JOINS.includes(node.op)) return partsOf(node).flatMap((part) => this.#leaves(part));
    return [this.#comparison(node) ?? node];
  }

  #isFixed(node: ASTNode): boolean {
    const fact = factOf(node);
    if (fact) return fact.name in (this.#fixed[fact.root as keyof CelRuleFacts] ?? {});
    return node.op !== 'id' && partsOf(node).every((part) => this.#isFixed(part));
  }

  #fixedValue(node: ASTNode): unknown {
    const value = evaluateCel(printCelNode(node), this.#fixed);
    return value === undefined ? ABSENT : value;
  }

  #comparison(node: ASTNode): Comparison | null {
    if (!(node.op in FLIPPED) && node.op !== 'in') return null;
    const [left, right] = node.args as [ASTNode, ASTNode];
    const flips = node.op !== 'in' && !this.#isFixed(right);
    const [term, fixed] = flips ? [right, left] : [left, right];
    if (!this.#isFixed(fixed)) return null;
    const value = this.#fixedValue(fixed);
    const isPlain = (node.op === 'in' ? [value].flat() : [value]).every(
      (one) => one === null || typeof one !== 'object',
    );
    return isPlain ? { term, operator: flips ? FLIPPED[node.op]! : node.op, value } : null;
  }

  /** True if a part of the rule is true (or false, as `truth` says) with the values that are being tried. */
  #is(node: ASTNode, truth: boolean): boolean {
    if (this.#isFixed(node)) return this.#fixedValue(node) === truth;
    switch (node.op) {
      case '!_':
        return this.#is(node.args, !truth);
      case '&&':
      case '||':
        return (node.op === '&&') === truth
          ? node.args.every((part) => this.#is(part, truth))
          : node.args.some((part) => this.#is(part, truth));
      case '?:': {
        const [test, then, otherwise] = node.args;
        return (this.#is(test, true) && this.#is(then, truth)) || (this.#is(test, false) && this.#is(otherwise, truth));
      }
      default: {
        const comparison = this.#comparison(node);
        if (!comparison) return this.#values.get(nameOf(node)) === truth;
        const { term, operator, value } = comparison;
        return compare(this.#values.get(nameOf(term)), operator, value) === truth;
      }
    }
  }

  /** The values to try for a term of a rule: near those it is compared with, and true and false if `usedAsTruth`. */
  #domain(node: ASTNode, named: readonly unknown[], usedAsTruth: boolean): readonly unknown[] {
    const { root, name } = factOf(node) ?? { root: null, name: '' };
    if (root === 'session' && name === 'agent') {
      // Tries each agent named in the rule as a separate value.
      const agents = stringLiteralsInRule(printCelNode(this.#rule));
      return [...neighbourValues([...named, ...agents]), OTHER].filter((value) => !agents.includes(value as string));
    }
    const any = [...neighbourValues(named), OTHER, ...(usedAsTruth ? [true, false] : [])];
    if (root === 'fruit') return fruitDomain(this.#spec, name, named, any);
    const isSize = (node.op === 'call' || node.op === 'rcall') && node.args[0] === 'size';
    if (!isSize && (root === null || root === 'backpack' || root === 'args')) return any;
    const { tools = [], limits } = this.#spec ?? {};
    const most = root !== 'visit' || name !== 'steps' ? null : tools.length === 0 ? 0 : limits?.steps;
    const least = root === 'visits' && this.#visited.includes(name) ? 1 : 0;
    return wholeNumbers([...neighbourValues(named), 0, 1]).filter(
      (value) => value >= least && value <= (most ?? Infinity),
    );
  }
}

const celName = (id: string): string => id.replaceAll('-', '_');

const JOINS: readonly string[] = ['&&', '||', '!_', '?:'];

/** The parts of a rule that `&&`, `||`, `!` and `?:` join; none if it cannot be parsed. */
export function partsOfRule(cel: string): readonly ASTNode[] {
  const split = (node: ASTNode): readonly ASTNode[] =>
    JOINS.includes(node.op) ? partsOf(node).flatMap(split) : [node];
  const rule = celSyntaxTree(cel);
  return rule ? split(rule) : [];
}

function fruitDomain(
  spec: PeripheralSpec | undefined,
  name: string,
  named: readonly unknown[],
  any: readonly unknown[],
): readonly unknown[] {
  const rule = Object.entries(spec?.fruit ?? {}).find(([id]) => celName(id) === name)?.[1];
  if (!rule) return [ABSENT];
  const { type } = rule;
  // A field has no value before it is observed, or if it need not be stated.
  const none = rule.kind === 'observed' || rule.optional ? [null] : [];
  if (typeof type !== 'string') return [...type, ...none];
  if (type === 'boolean') return [true, false, ...none];
  if (type === 'integer') return [...wholeNumbers([...neighbourValues(named), 0]), ...none];
  return any;
}

/** A number of CEL: an int, or a double. */
type Numeric = number | bigint;
const isNumber = (value: unknown): value is Numeric => typeof value === 'number' || typeof value === 'bigint';

const wholeNumbers = (values: readonly unknown[]): readonly Numeric[] =>
  values.filter(isNumber).filter((value) => typeof value === 'bigint' || Number.isInteger(value));

/** The values, and for numbers and texts also a value before, between and after them, where one exists. */
function neighbourValues(named: readonly unknown[]): readonly unknown[] {
  const numbers = named
    .filter(isNumber)
    .flatMap((value): Numeric[] =>
      typeof value === 'bigint'
        ? [value - 1n, value, value + 1n]
        : [Math.floor(value) - 1, Math.floor(value), value, Math.ceil(value), Math.ceil(value) + 1],
    )
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const between = numbers.slice(1).flatMap((next, index) => {
    const middle = (Number(numbers[index]) + Number(next)) / 2;
    return Number.isInteger(middle) ? [] : [middle];
  });
  // No text sorts between a text and the same text with this character appended.
  const texts = named.flatMap((value) => (typeof value === 'string' ? [`${value}\0`] : []));
  return [...new Set([...named, ...numbers, ...between, ...texts, ...(texts.length > 0 ? [''] : [])])];
}

/** The result of a comparison; null if it has none, as between a number and a text. */
function compare(a: unknown, operator: string, b: unknown): boolean | null {
  if (a === ABSENT || b === ABSENT) return null;
  if (operator === 'in') return Array.isArray(b) ? b.some((value) => isSame(a, value)) : null;
  if (operator === '==') return isSame(a, b);
  if (operator === '!=') return !isSame(a, b);
  if (!((isNumber(a) && isNumber(b)) || (typeof a === 'string' && typeof b === 'string'))) return null;
  if (operator === '<') return a < b;
  return operator === '>' ? a > b : operator === '<=' ? a <= b : a >= b;
}

const isSame = (a: unknown, b: unknown): boolean => a === b || (isNumber(a) && isNumber(b) && !(a < b) && !(a > b));
