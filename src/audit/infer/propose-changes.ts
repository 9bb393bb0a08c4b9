import { aggregatePars } from '../../evidence/patterns/aggregate-pars.ts';
import type { Par } from '../../evidence/patterns/par.ts';
import { hashSpecs } from '../../spec/hash-specs.ts';
import type { PeripheralSpec, SpecSet } from '../../spec/types.ts';

/** A change of one peripheral, and the recurring problem that it answers. */
export interface ProposedChange {
  readonly peripheral: string;
  readonly change: string;
  readonly because: string;
  readonly reviews: number;
}

export interface Proposal {
  readonly changes: readonly ProposedChange[];
  /** Recurring problems that name no single change, with the reason. */
  readonly open: readonly { readonly problem: string; readonly reviews: number; readonly why: string }[];
  /** The spec set with the changes; the same one if there are none. */
  readonly specs: SpecSet;
}

/** The factor by which a passed time limit is raised. */
const RAISE = 2;

/** For each tool, the peripherals in which it was refused, according to the evidence of the reviewed sessions. */
export type RefusedIn = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Changes of a spec set that answer the problems of at least `least` reviews: a longer time limit, and a tool that only
 * observes. A refused tool that acts is left to the author, because refusing it may be the purpose of the spec. Pure.
 *
 * @param refusedIn where each tool was refused, which reviews do not say; without it, the peripherals that the reviews
 * visited count
 */
export function proposeChanges(
  specs: SpecSet,
  pars: readonly Par[],
  least: number,
  refusedIn: RefusedIn = new Map(),
): Proposal {
  const changed = new Map<string, PeripheralSpec>();
  const changes: ProposedChange[] = [];
  const open: Proposal['open'][number][] = [];
  const now = (id: string): PeripheralSpec | undefined => changed.get(id) ?? specs.peripherals[id];
  for (const { text, reviews } of aggregatePars(pars).wrong) {
    if (reviews < least) continue;
    const leave = (why: string) => open.push({ problem: text, reviews, why });
    const apply = (spec: PeripheralSpec, change: string): void => {
      changed.set(spec.id, spec);
      changes.push({ peripheral: spec.id, change, because: text, reviews });
    };
    const [, late] = /^time limit of (.+) passed$/.exec(text) ?? [];
    const [, tool] = /^denied: tool-not-allowed \((.+)\)$/.exec(text) ?? [];
    if (late !== undefined) {
      const spec = now(late);
      if (!spec || spec.limits.minutes === null) leave(`${late} has no time limit in the present specs`);
      else {
        const minutes = spec.limits.minutes * RAISE;
        apply({ ...spec, limits: { ...spec.limits, minutes } }, `limits.minutes: ${spec.limits.minutes} → ${minutes}`);
      }
    } else if (tool !== undefined) {
      const effect = specs.tools[tool]?.effect;
      const places = [...(refusedIn.get(tool) ?? placesOf(pars, text))];
      const visited = places.filter((id) => now(id) && !now(id)!.tools.includes(tool));
      if (effect === undefined) leave(`the catalogue has no tool "${tool}"`);
      else if (effect !== 'observe') leave(`${tool} changes something (${effect}): only its author should allow it`);
      else if (visited.length !== 1) leave(`the reviews name no single peripheral: ${visited.join(', ') || 'none'}`);
      else {
        const spec = now(visited[0]!)!;
        apply({ ...spec, tools: [...spec.tools, tool] }, `tools: + ${tool}`);
      }
    } else leave('no rule turns this problem into a change');
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
