import type { House } from './house.ts';
import { playerNamesOfObjects } from './house.ts';
import { CHANGE_BY_TASK_TYPE } from './house-tasks.ts';
import { Household } from './household.ts';
import { HouseFacts } from './world-facts.ts';

/** Finds the things that the goal of a house may need: those that it names, otherwise all of its classes. */
export function relevantObjectsIn(house: House) {
  const facts = new HouseFacts(house.statics);
  const { type, object, receptacle, lamp } = house.task;
  const ofType = (predicate: string, name: string) => [...facts.before(predicate, `${name.toLowerCase()}type`)].sort();
  const single = /\(inreceptacle ([^?\s]+) ([^?\s)]+)\)/.exec(house.formula.toLowerCase());
  const change = CHANGE_BY_TASK_TYPE[type];
  return {
    objects: single ? [single[1]!] : ofType('objecttype', object),
    destinations: single ? [single[2]!] : ofType('receptacletype', receptacle),
    tools: change ? ofType('receptacletype', change.tool) : [],
    lamps: ofType('objecttype', lamp),
  };
}

/** Plays a house with full knowledge. Returns the winning commands; null if this simple plan does not win. */
export function oraclePlan(house: House): readonly string[] | null {
  const { objects, destinations, tools, lamps } = relevantObjectsIn(house);
  const { type } = house.task;
  const count = type === 'pick_two_obj_and_place' ? 2 : 1;
  const places = new HouseFacts(house.fluents);
  const placeOf = (id: string) => [...places.after('inreceptacle', id)][0];
  const sources = objects.filter((id) => placeOf(id) !== undefined);
  for (const destination of lamps.length ? lamps.flatMap((lamp) => placeOf(lamp) ?? []) : destinations) {
    const elsewhere = sources.filter((id) => placeOf(id) !== destination);
    const there = sources.filter((id) => placeOf(id) === destination);
    // A thing that must be changed or lit may be taken from the destination. If the task needs two things, one of them
    // may already be there.
    const chosen = (CHANGE_BY_TASK_TYPE[type] || lamps.length > 0 ? [...elsewhere, ...there] : elsewhere).slice(
      0,
      count,
    );
    if (chosen.length + (count === 2 ? there.length : 0) < count) continue;
    const plan = playPlan(house, chosen, placeOf, destination, tools[0], lamps[0]);
    if (plan) return plan;
  }
  return null;
}

function playPlan(
  house: House,
  objects: readonly string[],
  placeOf: (id: string) => string | undefined,
  destination: string,
  tool: string | undefined,
  lamp: string | undefined,
): readonly string[] | null {
  const game = new Household(house);
  const names = playerNamesOfObjects([...house.statics, ...house.fluents].flatMap(([, ...ids]) => ids as string[]));
  const name = (id: string) => names.get(id)!;
  const plan: string[] = [];
  const send = (command: string): boolean => {
    if (game.turn().done || !game.turn().admissible.includes(command)) return false;
    plan.push(command);
    game.step(command);
    return true;
  };
  /** Goes to a receptacle, unless the agent is already there, and opens it. */
  const visit = (id: string): void => {
    send(`go to ${name(id)}`);
    send(`open ${name(id)}`);
  };
  for (const object of objects) {
    const source = placeOf(object)!;
    visit(source);
    if (!send(`take ${name(object)} from ${name(source)}`)) return null;
    const verb = CHANGE_BY_TASK_TYPE[house.task.type]?.verb;
    if (tool && verb) {
      send(`go to ${name(tool)}`);
      if (!send(`${verb} ${name(object)} with ${name(tool)}`)) return null;
      // In real games a thing can be in two receptacles: after it is taken from one, it is still in the other.
      if (game.turn().won) break;
    }
    if (lamp) {
      send(`go to ${name(destination)}`);
      send(`use ${name(lamp)}`);
      break;
    }
    visit(destination);
    const [o, r] = [name(object), name(destination)];
    if (!send(house.wording === 'old' ? `put ${o} in/on ${r}` : `move ${o} to ${r}`)) return null;
  }
  return game.turn().won ? plan : null;
}
