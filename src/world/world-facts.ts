import { getOrInsert } from '../base/get-or-insert.ts';
/** A ground atom: the predicate and at most two arguments, all in lower case. */
export type HouseFact = readonly [predicate: string, first?: string, second?: string];

const NONE: ReadonlySet<string> = new Set();

/** A set of ground atoms with an index for each argument. An absent argument is the empty text. */
export class HouseFacts {
  readonly #relations = new Map<
    string,
    { readonly forward: Map<string, Set<string>>; readonly backward: Map<string, Set<string>> }
  >();

  constructor(facts: Iterable<HouseFact> = []) {
    for (const fact of facts) this.add(...fact);
  }

  has(predicate: string, first = '', second = ''): boolean {
    return this.#relations.get(predicate)?.forward.get(first)?.has(second) ?? false;
  }

  add(predicate: string, first = '', second = ''): void {
    const relation = getOrInsert(this.#relations, predicate, () => ({ forward: new Map(), backward: new Map() }));
    put(relation.forward, first, second);
    put(relation.backward, second, first);
  }

  remove(predicate: string, first = '', second = ''): void {
    const relation = this.#relations.get(predicate);
    relation?.forward.get(first)?.delete(second);
    relation?.backward.get(second)?.delete(first);
  }

  /** The second arguments of the facts with this predicate and first argument. */
  after(predicate: string, first: string): ReadonlySet<string> {
    return this.#relations.get(predicate)?.forward.get(first) ?? NONE;
  }

  /** The first arguments of the facts with this predicate and second argument. */
  before(predicate: string, second = ''): ReadonlySet<string> {
    return this.#relations.get(predicate)?.backward.get(second) ?? NONE;
  }

  *pairs(predicate: string): Generator<readonly [string, string]> {
    for (const [first, seconds] of this.#relations.get(predicate)?.forward ?? [])
      for (const second of seconds) yield [first, second];
  }

  /** All facts in the set, sorted by their text. */
  list(): readonly HouseFact[] {
    const all: string[] = [];
    for (const predicate of this.#relations.keys())
      for (const [first, second] of this.pairs(predicate)) all.push(`${predicate} ${first} ${second}`.trimEnd());
    return all.sort().map((text) => text.split(' ') as unknown as HouseFact);
  }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  getOrInsert(map, key, () => new Set<string>()).add(value);
}
