import { excerpt, isBlank } from '../base/text.ts';
import { edgesFromPeripheral } from '../spec/edges-from.ts';
import type { Edge } from '../spec/types.ts';
import type { Fruit } from './fruit.ts';
import { makeDenial } from './make-denial.ts';
import type { GateContext, HopRequest, Refusal } from './request.ts';
import { edgeRequirements } from './requirements/edge-requirements.ts';
import { unmetRequirements } from './requirements/requirement.ts';
import { collectRequirementFacts } from './requirements/requirement-facts.ts';
import { shortestWay } from './ways/shortest-way.ts';

/** The edges that a hop request can take: those of the exit that it names, or all that lead to its target. */
export function findEdges(context: GateContext, { to, exit }: HopRequest, from: string): readonly Edge[] | Refusal {
  const { specs, view } = context;
  const edges = edgesFromPeripheral(specs, from).filter((edge) => edge.to === to);
  const named = edges.filter((edge) => exit === undefined || edge.exit === exit);
  if (named.length > 0) return named;
  const isExit = specs.peripherals[from]?.exits.some(({ name }) => name === exit) ?? false;
  if (edges.length > 0 && exit !== undefined && !isExit)
    return refuseExitName(context, exit, edges, `${from} has no exit "${excerpt(exit, 100)}"`);
  const way = shortestWay(specs, view, new Set([to]));
  return makeDenial(context, 'hop-not-allowed', { from, to, exit: exit ?? null }, way);
}

/** The edge that a hop takes, of those that {@link findEdges} found; see {@link inferEdge}. */
export function chooseEdge(
  context: GateContext,
  request: HopRequest,
  edges: readonly Edge[],
  fruit: Fruit,
): Edge | Refusal {
  const edge = request.exit === undefined ? inferEdge(context, request, edges, fruit) : edges[0];
  if (edge) return edge;
  const { from, to } = edges[0]!;
  return refuseExitName(context, null, edges, `several exits lead from ${from} to ${to}; name one in "exit"`);
}

/** Refuses a hop because its exit is unknown or not named. Lists the exits that lead to its target. */
function refuseExitName(context: GateContext, exit: string | null, edges: readonly Edge[], why: string): Refusal {
  const { from, to } = edges[0]!;
  const candidates = edges.map((edge) => edge.exit);
  return makeDenial(context, 'exit-not-met', { exit, from, to, unknown: true, why, candidates });
}

/**
 * Infers the exit of a hop that names none. Candidates are the exits whose requirements hold now, or all exits if none
 * hold. The first of these is taken: the exit that the reason names ("found target file" names `found-target`); for the
 * operator `user-request`; `hop-<target>`; the only candidate.
 */
function inferEdge(
  { specs, view }: GateContext,
  { to, reason, by }: HopRequest,
  edges: readonly Edge[],
  fruit: Fruit,
): Edge | undefined {
  const holding = edges.filter((edge) => {
    const { exit } = edgeRequirements(specs, edge);
    return unmetRequirements(exit, collectRequirementFacts(specs, view, exit, { by, fruit })).length === 0;
  });
  const pool = holding.length === 0 ? edges : holding;
  const reasonWords = wordsOf(reason);
  const named = pool.filter(({ exit }) => reasonWords.includes(wordsOf(exit)));
  // The reason "tests pass" names the exits `tests-pass` and `pass`; the longer name counts.
  const best = named.filter(({ exit }) => named.every((other) => wordsOf(exit).includes(wordsOf(other.exit))));
  const called = (name: string) => pool.find(({ exit }) => exit === name);
  if (best.length === 1) return best[0];
  return (
    (by === 'operator' ? called('user-request') : undefined) ??
    called(`hop-${to}`) ??
    (pool.length === 1 ? pool[0] : undefined)
  );
}

/** The words of a text in lower case, with a space before and after each: ` found target file `. */
const wordsOf = (text: unknown): string =>
  ` ${
    isNonBlankText(text)
      ? (text
          .toLowerCase()
          .match(/[a-z0-9]+/g)
          ?.join(' ') ?? '')
      : ''
  } `;

export const isNonBlankText = (value: unknown): value is string => typeof value === 'string' && !isBlank(value);
