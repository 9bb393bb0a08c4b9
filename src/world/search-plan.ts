import { type House, playerNamesOfObjects } from './house.ts';
import { Household, type HouseholdSnapshot } from './household.ts';
import { relevantObjectsIn } from './oracle.ts';
import { HouseFacts } from './world-facts.ts';

const MAX_STATES = 20_000;
/** Maximum number of objects of the task to try. */
const MAX_OBJECTS = 2;

/** Searches breadth first, by commands on the task's things only. Returns a shortest plan; null at the limits. */
export function searchPlan(house: House): readonly string[] | null {
  const { objects, destinations, tools, lamps } = relevantObjectsIn(house);
  const places = new HouseFacts(house.fluents);
  const used = objects.filter((id) => places.after('inreceptacle', id).size > 0).slice(0, MAX_OBJECTS);
  const contentsOf = (ids: readonly string[]) => ids.flatMap((id) => [...places.after('inreceptacle', id)]);
  const relevant = new Set([
    ...used,
    ...contentsOf(used),
    ...destinations.slice(0, 2),
    ...tools.slice(0, 1),
    ...lamps,
    ...contentsOf(lamps),
  ]);
  const names = playerNamesOfObjects([...house.statics, ...house.fluents].flatMap(([, ...ids]) => ids as string[]));
  const knownNames = new Set([...relevant].map((id) => names.get(id)!));
  const game = new Household(house, { mostSteps: Number.POSITIVE_INFINITY });
  const seen = new Set([game.identity()]);
  let layer: { readonly at: HouseholdSnapshot; readonly plan: readonly string[] }[] = [
    { at: game.snapshot(), plan: [] },
  ];
  while (layer.length > 0) {
    const next: typeof layer = [];
    for (const { at, plan } of layer)
      for (const command of game.restore(at).admissible) {
        const things = command.match(/(?<![a-z])[a-z]+ \d+/g) ?? [];
        if (things.length === 0 || command.startsWith('examine') || !things.every((thing) => knownNames.has(thing)))
          continue;
        game.restore(at);
        if (game.step(command).won) return [...plan, command];
        const id = game.identity();
        if (seen.has(id)) continue;
        if (seen.size >= MAX_STATES) return null;
        seen.add(id);
        next.push({ at: game.snapshot(), plan: [...plan, command] });
      }
    layer = next;
  }
  return null;
}
