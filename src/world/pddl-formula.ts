import { getOrInsert } from '../base/get-or-insert.ts';
import { type PddlExpression, readPddlTypedList } from './pddl/pddl-expression.ts';
import type { HouseFacts } from './world-facts.ts';

export type VariableBindings = { readonly [variable: string]: string };

/** The facts by which a formula is judged, and the names of each type. */
export interface PddlFactSet {
  readonly facts: readonly HouseFacts[];
  readonly named: ReadonlyMap<string, readonly string[]>;
}

const CONNECTIVES = new Set(['and', 'or', 'not', 'imply', 'exists', 'forall', '=']);

const isVariable = (name: string): boolean => name.startsWith('?');
const isAtom = (formula: PddlExpression): formula is readonly string[] =>
  typeof formula !== 'string' && formula.length > 0 && !CONNECTIVES.has(formula[0] as string);

/** True if a formula of `and or not imply exists forall =` and atoms holds. Without names, `exists` fails. */
export function isFormulaTrue(formula: PddlExpression, at: PddlFactSet, bindings: VariableBindings = {}): boolean {
  if (typeof formula === 'string') return false;
  if (formula.length === 0) return true;
  const [head, ...rest] = formula;
  switch (head) {
    case 'and':
      return rest.every((part) => isFormulaTrue(part, at, bindings));
    case 'or':
      return rest.some((part) => isFormulaTrue(part, at, bindings));
    case 'not':
      return !isFormulaTrue(rest[0]!, at, bindings);
    case 'imply':
      return !isFormulaTrue(rest[0]!, at, bindings) || isFormulaTrue(rest[1]!, at, bindings);
    case '=':
      return boundName(rest[0] as string, bindings) === boundName(rest[1] as string, bindings);
    case 'exists': {
      const { typed, body } = joinNestedExists(formula);
      const inner = new Set(typed.map(([name]) => name));
      const outer = Object.fromEntries(Object.entries(bindings).filter(([name]) => !inner.has(name)));
      return !solveFormula([body], at, outer, typed).next().done;
    }
    case 'forall':
      return !isFormulaTrue(['exists', rest[0]!, ['not', rest[1]!]], at, bindings);
    default: {
      const [predicate, first = '', second = ''] = formula as readonly string[];
      const [a, b] = [boundName(first, bindings), boundName(second, bindings)];
      return at.facts.some((facts) => facts.has(predicate!, a, b));
    }
  }
}

interface Exists {
  readonly typed: ReturnType<typeof readPddlTypedList>;
  readonly body: PddlExpression;
}
const joined = new WeakMap<object, Exists>();

/** The variables of an `exists` and of each `exists` directly inside it: an inner atom may bind an outer variable. */
const joinNestedExists = (exists: readonly PddlExpression[]): Exists =>
  getOrInsert(joined, exists, () => {
    const [, list = [], body = []] = exists;
    const typed = readPddlTypedList(list as readonly PddlExpression[]);
    if (body[0] !== 'exists') return { typed, body };
    const inner = joinNestedExists(body as readonly PddlExpression[]);
    const isHidden = inner.typed.some(([name]) => typed.some(([other]) => other === name));
    return isHidden ? { typed, body } : { typed: [...typed, ...inner.typed], body: inner.body };
  });

const boundName = (name: string, bindings: VariableBindings): string =>
  isVariable(name) ? (bindings[name] ?? name) : name;

/**
 * The bindings under which all formulas hold. The atoms bind their variables one after the other, by lookups in the
 * facts. A variable of `typed` that no atom binds takes every name of its type.
 */
export function* solveFormula(
  formulas: readonly PddlExpression[],
  at: PddlFactSet,
  bindings: VariableBindings = {},
  typed: readonly (readonly [string, string])[] = [],
): Generator<VariableBindings> {
  const flat = formulas.flatMap((formula) =>
    typeof formula !== 'string' && formula[0] === 'and' ? formula.slice(1) : [formula],
  );
  if (flat.some((formula) => typeof formula !== 'string' && formula[0] === 'and')) {
    yield* solveFormula(flat, at, bindings, typed);
    return;
  }
  for (const [name, type] of typed) if (!at.named.get(type)?.length && !(name in bindings)) return;
  yield* solveAtoms(
    flat.filter(isAtom),
    flat.filter((formula) => !isAtom(formula)),
    at,
    bindings,
    typed,
  );
}

function* solveAtoms(
  atoms: readonly (readonly string[])[],
  others: readonly PddlExpression[],
  at: PddlFactSet,
  bindings: VariableBindings,
  typed: readonly (readonly [string, string])[],
): Generator<VariableBindings> {
  const [atom, ...rest] = atoms;
  if (!atom) {
    const free = typed.find(([name]) => !(name in bindings));
    if (!free) {
      if (others.every((formula) => isFormulaTrue(formula, at, bindings))) yield bindings;
      return;
    }
    for (const name of at.named.get(free[1]) ?? [])
      yield* solveAtoms([], others, at, { ...bindings, [free[0]]: name }, typed);
    return;
  }
  const [predicate, first = '', second = ''] = atom;
  const [a, b] = [boundName(first, bindings), boundName(second, bindings)];
  for (const facts of at.facts) {
    if (!isVariable(a) && !isVariable(b)) {
      if (facts.has(predicate!, a, b)) yield* solveAtoms(rest, others, at, bindings, typed);
    } else if (!isVariable(a)) {
      for (const found of facts.after(predicate!, a))
        yield* solveAtoms(rest, others, at, { ...bindings, [b]: found }, typed);
    } else if (!isVariable(b)) {
      for (const found of facts.before(predicate!, b))
        yield* solveAtoms(rest, others, at, { ...bindings, [a]: found }, typed);
    } else
      for (const [one, two] of facts.pairs(predicate!))
        yield* solveAtoms(rest, others, at, { ...bindings, [a]: one, [b]: two }, typed);
  }
}
