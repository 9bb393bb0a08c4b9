import type { Par } from '../../evidence/patterns/par.ts';
import { parseReviewProblem } from '../../evidence/patterns/review-problems.ts';
import { summariseReviews } from '../../evidence/patterns/summarise-reviews.ts';
import { hashSpecs } from '../../spec/hash-specs.ts';
import type { PeripheralSpec, SpecSet } from '../../spec/types.ts';

/** A change of one peripheral, the recurring problem that it solves, and the number of reviews with that problem. */
interface ProposedChange {
  readonly peripheral: string;
  readonly change: string;
  readonly because: string;
  readonly reviews: number;
}

export interface SpecProposal {
  readonly changes: readonly ProposedChange[];
  /** Recurring problems for which no single change can be proposed, with the reason. */
  readonly open: readonly { readonly problem: string; readonly reviews: number; readonly why: string }[];
  /** The spec set with the changes; the same one if there are none. */
  readonly specs: SpecSet;
}

/** The factor by which a time limit that passed is raised. */
const RAISE_FACTOR = 2;

/** For each tool, the peripherals in which it was refused, according to the evidence of the reviewed sessions. */
export type RefusalsByTool = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Proposes changes of a spec set for problems that at least `minReviews` reviews report: a longer time limit, or one
 * more tool that only observes. A refused tool that acts is left to the author, because refusing it may be the purpose
 * of the spec. Pure.
 * @param refusedIn where each tool was refused, because reviews do not say it; for other tools, the peripherals that
 *   all reviews with the problem visited
 */
export function proposeSpecChanges(
  specs: SpecSet,
  pars: readonly Par[],
  minReviews: number,
  refusedIn: RefusalsByTool = new Map(),
): SpecProposal {
  const changed = new Map<string, PeripheralSpec>();
  const changes: ProposedChange[] = [];
  const open: SpecProposal['open'][number][] = [];
  const specNow = (id: string): PeripheralSpec | undefined => changed.get(id) ?? specs.peripherals[id];
  for (const { text, reviews } of summariseReviews(pars).wrong) {
    if (reviews < minReviews) continue;
    const leaveOpen = (why: string) => open.push({ problem: text, reviews, why });
    const apply = (spec: PeripheralSpec, change: string): void => {
      changed.set(spec.id, spec);
      changes.push({ peripheral: spec.id, change, because: text, reviews });
    };
    const { late, refused: tool } = parseReviewProblem(text);
    if (late !== null) {
      const spec = specNow(late);
      if (!spec || spec.limits.minutes === null) leaveOpen(`${late} has no time limit in the present specs`);
      else {
        const minutes = spec.limits.minutes * RAISE_FACTOR;
        apply({ ...spec, limits: { ...spec.limits, minutes } }, `limits.minutes: ${spec.limits.minutes} → ${minutes}`);
      }
    } else if (tool !== null) {
      const effect = specs.tools[tool]?.effect;
      const places = [...(refusedIn.get(tool) ?? placesOf(pars, text))];
      const visited = places.filter((id) => specNow(id) && !specNow(id)!.tools.includes(tool));
      if (effect === undefined) leaveOpen(`the catalogue has no tool "${tool}"`);
      else if (effect !== 'observe')
        leaveOpen(`${tool} changes something (${effect}): the author of the specs must decide whether to allow it`);
      else if (visited.length !== 1)
        leaveOpen(`the reviews do not name exactly one peripheral: ${visited.join(', ') || 'none'}`);
      else {
        const spec = specNow(visited[0]!)!;
        apply({ ...spec, tools: [...spec.tools, tool] }, `tools: + ${tool}`);
      }
    } else leaveOpen('no rule turns this problem into a change');
  }
  if (changed.size === 0) return { changes, open, specs };
  const { hash: _, ...rest } = specs;
  const next = { ...rest, peripherals: { ...specs.peripherals, ...Object.fromEntries(changed) } };
  return { changes, open, specs: { hash: hashSpecs(next), ...next } };
}

/** The peripherals that every review with this problem visited. */
function placesOf(pars: readonly Par[], problem: string): readonly string[] {
  const visits = pars
    .filter(({ what_could_improve: all }) => all.some((each) => each.replace(/^\d+ × /, '') === problem))
    .map(({ approach }) => approach);
  return [...new Set(visits[0] ?? [])].filter((id) => visits.every((each) => each.includes(id)));
}
