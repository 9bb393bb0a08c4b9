import { OBJECT_CLASSES_BY_ABILITY, OPENABLE_RECEPTACLES, RECEPTACLE_CONTENTS } from './alfred-classes.ts';
import {
  CHANGING_PREDICATES,
  HOUSE_AGENT_NAME,
  type House,
  playerNamesOfObjects,
  TASK_TYPES,
  type Task,
  type TaskType,
  type Wording,
} from './house.ts';
import {
  CHANGE_BY_TASK_TYPE,
  fillTaskTemplate,
  GOAL_TEXTS_BY_TASK_TYPE,
  pddlGoalOfTask,
  TASK_DESCRIPTIONS,
} from './house-tasks.ts';
import { Household } from './household.ts';
import { oraclePlan } from './oracle.ts';
import { ROOMS, type Room } from './rooms.ts';
import { searchPlan } from './search-plan.ts';
import { SeededRandom } from './seeded-random.ts';
import type { HouseFact } from './world-facts.ts';

/** Maximum number of commands in the plan that wins a generated house. */
const MAX_PLAN = 50;
const MAX_ATTEMPTS = 500;

export interface HouseOptions {
  /** The seed, a whole number. The same seed makes the same house. */
  readonly seed: number;
  /** The type of the task. Default: the seed chooses it. */
  readonly task?: TaskType;
  readonly wording?: Wording;
  /** True for a house whose full goal only a person knows. Its `hint` states the missing part. */
  readonly asks?: boolean;
  /** The classes that the task must be about, such as `{ object: 'Apple', receptacle: 'Fridge' }`. */
  readonly about?: Partial<Pick<Task, 'object' | 'receptacle' | 'lamp'>>;
}

interface Thing {
  readonly kind: string;
  readonly id: string;
}

/** Makes a house that the oracle's plan and a search win. @throws RangeError if no room can have the task */
export function generateHouse(options: HouseOptions): House {
  if (!Number.isSafeInteger(options.seed)) throw new RangeError('the seed must be a whole number');
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const house = drawHouse(options, new SeededRandom(options.seed * 7919 + attempt * 104_729));
    if (house && canBeWon(house)) return house;
  }
  throw new RangeError(`no house has such a task: ${JSON.stringify(options.about ?? options.task ?? 'any')}`);
}

/** True if a house is not won yet, and both the oracle and the search win it. */
function canBeWon(house: House): boolean {
  if (new Household(house).step('look').won) return false;
  const plan = oraclePlan(house);
  return plan !== null && plan.length < MAX_PLAN && searchPlan(house) !== null;
}

function drawHouse(options: HouseOptions, random: SeededRandom): House | null {
  const type = options.asks ? 'pick_and_place_simple' : (options.task ?? random.pick(TASK_TYPES));
  const room = random.pick(ROOMS.filter(({ tasks }) => tasks.includes(type)));
  const counts = new Map<string, number>();
  for (const [kind, [least, most]] of Object.entries(room.receptacles)) counts.set(kind, random.whole(least, most));
  if (options.asks && (counts.get('Drawer') ?? 0) < 8) counts.set('Drawer', random.whole(8, 11));
  const task = drawTask(type, room, counts, options, random);
  if (!task) return null;

  const receptacles = [...counts].flatMap(([kind, count]) => things(kind, count, random));
  const locations = receptacles.map(() => locationId(random));
  // In half of the houses, two receptacles are at the same location.
  if (random.chance(0.5)) locations[random.whole(1, locations.length - 1)] = locations[0]!;
  const start = locationId(random);
  const objects = drawThings(task, room, options, random);
  const facts: HouseFact[] = [];
  for (const [index, { kind, id }] of receptacles.entries()) {
    facts.push(['receptacletype', id, `${kind.toLowerCase()}type`], ['receptacleatlocation', id, locations[index]!]);
    const needed = kind === 'Fridge' || kind === 'Microwave';
    if (OPENABLE_RECEPTACLES.has(kind) && (needed || random.chance(0.85))) facts.push(['openable', id]);
  }
  for (const { kind, id } of objects) {
    facts.push(['objecttype', id, `${kind.toLowerCase()}type`]);
    for (const [ability, kinds] of Object.entries(OBJECT_CLASSES_BY_ABILITY))
      if (kinds.has(kind)) facts.push([ability, id]);
    if (!FIXED.has(kind)) facts.push(['pickupable', id]);
  }
  const kindsHere = new Set(objects.map(({ kind }) => kind));
  for (const kind of counts.keys())
    for (const inside of RECEPTACLE_CONTENTS[kind] ?? [])
      if (kindsHere.has(inside)) facts.push(['cancontain', `${kind.toLowerCase()}type`, `${inside.toLowerCase()}type`]);
  facts.push(['atlocation', HOUSE_AGENT_NAME, start]);
  for (const { kind, id } of objects) {
    const places = [...receptacles.entries()].filter(([, place]) => mayStartIn(kind, place.kind, task));
    if (places.length === 0) return null;
    const [index, place] = random.pick(places);
    facts.push(['inreceptacle', id, place.id], ['objectatlocation', id, locations[index]!]);
  }
  const house: House = {
    id: idOf(options),
    wording: options.wording ?? 'current',
    task,
    named: {
      agent: [HOUSE_AGENT_NAME],
      object: objects.map(({ id }) => id),
      receptacle: receptacles.map(({ id }) => id),
      location: [...new Set([...locations, start])],
      otype: typesOf(['Knife', 'ButterKnife', ...objects.map(({ kind }) => kind)]),
      rtype: typesOf(['SinkBasin', 'Microwave', 'Fridge', ...counts.keys()]),
    },
    statics: facts.filter(([predicate]) => !CHANGING_PREDICATES.has(predicate)),
    fluents: facts.filter(([predicate]) => CHANGING_PREDICATES.has(predicate)),
    formula: pddlGoalOfTask(task),
  };
  return options.asks ? withSecret(house, objects, receptacles, random) : house;
}

/** The PDDL names of the classes of things, each once. */
const typesOf = (kinds: readonly string[]) => [...new Set(kinds)].map((kind) => `${kind.toLowerCase()}type`);

/** The id of a generated house, from which the house can be made again. */
function idOf({ seed, task, wording, asks, about = {} }: HouseOptions): string {
  const parts = [
    `seed:${seed}`,
    task && `task:${task}`,
    ...Object.entries(about).map(([key, value]) => `${key}:${value}`),
    wording === 'old' && 'wording:old',
    asks && 'asks',
  ];
  return parts.filter(Boolean).join(',');
}

/** The options of a generated house, by its id; null for the id of another game. */
export function houseOptionsFromId(id: string): HouseOptions | null {
  const parts = id.split(',').map((part) => part.split(':', 2) as [string, string?]);
  const partOf = (key: string) => parts.find(([name]) => name === key)?.[1];
  const seed = Number(partOf('seed') ?? Number.NaN);
  if (!Number.isSafeInteger(seed)) return null;
  const about = Object.fromEntries(parts.filter(([key]) => ['object', 'receptacle', 'lamp'].includes(key)));
  const options: HouseOptions = {
    seed,
    ...(partOf('task') ? { task: partOf('task') as TaskType } : {}),
    ...(partOf('wording') === 'old' ? { wording: 'old' as const } : {}),
    ...(parts.some(([key]) => key === 'asks') ? { asks: true } : {}),
    ...(Object.keys(about).length ? { about } : {}),
  };
  return idOf(options) === id ? options : null;
}

const LAMPS: readonly string[] = ['DeskLamp', 'FloorLamp'];
const FIXED: ReadonlySet<string> = new Set([...LAMPS, 'HousePlant']);
const LAMP_PLACES: ReadonlySet<string> = new Set(['Desk', 'SideTable', 'Dresser', 'CoffeeTable']);

/** True if a thing may start in this class of receptacle: it fits there, and does not complete the task there. */
function mayStartIn(kind: string, place: string, task: Task): boolean {
  if (LAMPS.includes(kind)) return LAMP_PLACES.has(place);
  if (kind === 'HousePlant') return (RECEPTACLE_CONTENTS[place] ?? []).includes('Vase');
  if (!(RECEPTACLE_CONTENTS[place] ?? []).includes(kind)) return false;
  return kind !== task.object || (place !== task.receptacle && !(task.type.includes('cool') && place === 'Fridge'));
}

function drawTask(
  type: TaskType,
  room: Room,
  counts: ReadonlyMap<string, number>,
  { about = {}, asks }: HouseOptions,
  random: SeededRandom,
): Task | null {
  const change = CHANGE_BY_TASK_TYPE[type];
  const places = [...counts].filter(([kind, count]) => count > 0 && kind !== change?.tool).map(([kind]) => kind);
  const fits = (kind: string, place: string) => (RECEPTACLE_CONTENTS[place] ?? []).includes(kind);
  const look = type === 'look_at_obj_in_light';
  const pairs = room.things
    .filter((kind) => !change || OBJECT_CLASSES_BY_ABILITY[change.able]!.has(kind))
    .flatMap((object) =>
      look
        ? LAMPS.map((lamp) => ({ object, receptacle: '', lamp }))
        : places
            .filter((place) => fits(object, place) && places.some((other) => other !== place && fits(object, other)))
            .map((receptacle) => ({ object, receptacle, lamp: '' })),
    )
    .filter(
      (pair) =>
        Object.entries(about).every(([key, value]) => pair[key as keyof typeof pair] === value) &&
        (!asks || pair.receptacle === 'Drawer'),
    );
  if (pairs.length === 0) return null;
  const pair = { type, ...random.pick(pairs) };
  return {
    ...pair,
    goal: fillTaskTemplate(random.pick(GOAL_TEXTS_BY_TASK_TYPE[type]), pair),
    description: fillTaskTemplate(TASK_DESCRIPTIONS[type], pair),
  };
}

function drawThings(task: Task, room: Room, { asks }: HouseOptions, random: SeededRandom): readonly Thing[] {
  const least = asks ? 5 : task.type === 'pick_two_obj_and_place' ? 2 : 1;
  const others = random.shuffled(room.things.filter((kind) => kind !== task.object)).slice(0, random.whole(6, 14));
  const hasLamp = task.lamp !== '' || random.chance(0.3);
  return [
    ...things(task.object, random.whole(least, least + 1), random),
    ...others.flatMap((kind) => things(kind, random.whole(1, 3), random)),
    ...(hasLamp ? things(task.lamp || 'DeskLamp', 1, random) : []),
    ...things('HousePlant', random.whole(0, 1), random),
  ];
}

/** Adds a task to a house whose object and destination the goal's text does not name; the agent must ask. */
function withSecret(
  house: House,
  objects: readonly Thing[],
  receptacles: readonly Thing[],
  random: SeededRandom,
): House {
  const { task } = house;
  const object = random.pick(objects.filter(({ kind }) => kind === task.object)).id;
  const receptacle = random.pick(receptacles.filter(({ kind }) => kind === task.receptacle)).id;
  const names = playerNamesOfObjects([...house.statics, ...house.fluents].flatMap(([, ...ids]) => ids as string[]));
  const [thing, place] = [task.object.toLowerCase(), task.receptacle.toLowerCase()];
  return {
    ...house,
    task: {
      ...task,
      goal: `put the right ${thing} in the right ${place}`,
      description: `One ${thing} belongs in one ${place}. Ask which ones: nothing in the room tells it.`,
    },
    formula: `(and (inReceptacle ${object} ${receptacle}))`,
    hint: `${names.get(object)} goes into ${names.get(receptacle)}`,
  };
}

/** Draws ids of things in ALFRED's form: the class and a point in space. */
function things(kind: string, count: number, random: SeededRandom): readonly Thing[] {
  return Array.from({ length: count }, () => {
    const point = [coordinate(random), coordinate(random), coordinate(random)].join('|');
    const basin = /^(Sink|Bathtub)Basin$/.exec(kind);
    return { kind, id: pddlName(basin ? `${basin[1]}|${point}|${kind}` : `${kind}|${point}`) };
  });
}

function coordinate(random: SeededRandom): string {
  const value = random.whole(-499, 499) / 100;
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(2).padStart(5, '0')}`;
}

const locationId = (random: SeededRandom): string =>
  pddlName(
    `loc|${random.whole(-20, 20)}|${random.whole(-20, 20)}|${random.whole(0, 3)}|${random.pick([0, 30, 45, 60])}`,
  );

/** Converts an object id of the ALFRED data set to a name that is valid in PDDL. */
function pddlName(id: string): string {
  const words: { readonly [character: string]: string } = { '-': '_minus_', '|': '_bar_', '+': '_plus_', '.': '_dot_' };
  return id.replaceAll(/[-|+.]/g, (character) => words[character]!).toLowerCase();
}
