import type { SpecSet } from '../../spec/types.ts';
import type { JudgedMove } from '../model/model-run.ts';
import { itemsCoveredByMove, peripheralNameOf } from './planned-case.ts';

/** The coverage of one kind of items, such as edges. */
export interface CoverageRow {
  readonly what: 'states' | 'starts' | 'edges' | 'modes' | 'gates' | 'refusals';
  readonly covered: number;
  /** The number of items that can be covered, according to the spec. */
  readonly reachable: number;
  /** The reachable items that no test covered. */
  readonly missing: readonly string[];
  /** Items in the spec that no session can reach. */
  readonly unreachable: readonly string[];
}

const KINDS = { states: 'state ', starts: 'start ', edges: 'edge ', modes: 'mode ' } as const;

/** Records which parts of a spec set the moves of a test covered, and which moves were refused. */
export class SpecCoverage {
  readonly #specs: SpecSet;
  readonly #taken = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #shut = new Set<string>();
  requests = 0;

  constructor(specs: SpecSet) {
    this.#specs = specs;
  }

  /** Adds the result of a move; call it for each one. */
  readonly add = ({ move, before, refusal }: JudgedMove): void => {
    this.requests += 1;
    this.#taken.add(`state ${peripheralNameOf(before)}`);
    if (!refusal) {
      for (const item of itemsCoveredByMove(before, move)) this.#taken.add(item);
      return;
    }
    this.#refused.add(`${peripheralNameOf(before)} (${before.mode}): ${move.name}: ${refusal.code}`);
    if (move.asked.kind === 'hop')
      this.#shut.add(nameOfShutGate(peripheralNameOf(before), move.asked, refusal.constraint));
  };

  rows(reachable: ReadonlySet<string>): readonly CoverageRow[] {
    const counted = Object.entries(KINDS).map(([what, prefix]): CoverageRow => {
      const can = [...reachable].filter((item) => item.startsWith(prefix));
      const missing = can.filter((item) => !this.#taken.has(item));
      const unreachable = this.#inSpec(prefix).filter((item) => !reachable.has(item));
      return {
        what: what as CoverageRow['what'],
        covered: can.length - missing.length,
        reachable: can.length,
        missing,
        unreachable,
      };
    });
    const gates = namedGatesOf(this.#specs).filter(({ edge }) => reachable.has(edge));
    const open = gates.filter(({ name }) => !this.#shut.has(name)).map(({ name }) => name);
    return [
      ...counted,
      { what: 'gates', covered: gates.length - open.length, reachable: gates.length, missing: open, unreachable: [] },
      { what: 'refusals', covered: this.#refused.size, reachable: this.#refused.size, missing: [], unreachable: [] },
    ];
  }

  #inSpec(prefix: string): readonly string[] {
    const { peripherals, edges } = this.#specs;
    if (prefix === KINDS.states) return Object.keys(peripherals).map((id) => `state ${id}`);
    if (prefix === KINDS.edges) return edges.map(({ from, exit, to }) => `edge ${from} ${exit} ${to}`);
    return [];
  }
}

/** Pairs of an edge and a rule that can refuse a hop over it. The audit names the rule so in its problems. */
export const namedGatesOf = ({ edges }: SpecSet): readonly { readonly edge: string; readonly name: string }[] =>
  edges.flatMap(({ from, exit, to, implies, when, conditions, gates }) => {
    const rules = [
      ...(implies ? [`${exit}: ${implies.field} is ${implies.value}`] : []),
      ...(when === null ? [] : [`${exit} → ${to} when ${when}`]),
      ...conditions.map((name) => `entry: ${name}`),
      ...gates.map((gate) =>
        gate.kind === 'approval' ? 'approval: operator' : `gates: ${to}: ${JSON.stringify(gate)}`,
      ),
    ];
    return rules.map((rule) => ({
      edge: `edge ${from} ${exit} ${to}`,
      name: nameOfShutGate(from, { exit, to }, rule),
    }));
  });

export const nameOfShutGate = (
  from: string,
  { exit, to }: { readonly exit?: string; readonly to: string },
  rule: string,
): string => `${from} ─${exit}→ ${to}: ${rule}`;
