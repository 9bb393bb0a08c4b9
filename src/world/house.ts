import { splitWords } from '../base/text.ts';
import type { HouseFact } from './world-facts.ts';

/** The six kinds of tasks, with the names of the ALFWorld data. */
export const TASK_TYPES = [
  'pick_and_place_simple',
  'look_at_obj_in_light',
  'pick_clean_then_place_in_recep',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_two_obj_and_place',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** The words of commands: `current` since ALFWorld 0.4 (`move O to R`), `old` before (`put O in/on R`). */
export type Wording = 'current' | 'old';

/** The task, and its classes of ALFRED (`Apple`, `Fridge`). */
export interface Task {
  readonly type: TaskType;
  /** The goal line that the player reads, without "Your task is to:" and the full stop. */
  readonly goal: string;
  /** The task as a person describes it, usually in other words than the goal line. */
  readonly description: string;
  readonly object: string;
  /** The class of the receptacle that is the destination; empty for `look_at_obj_in_light`. */
  readonly receptacle: string;
  /** The lamp's class; empty for other tasks. */
  readonly lamp: string;
}

/**
 * A house with its task, as JSON. Names are lower case; the names of things are as in ALFRED:
 * `apple_bar__minus_02_dot_10`.
 */
export interface House {
  /** Identifies the game: `seed:42`, or the path of its file. */
  readonly id: string;
  readonly wording: Wording;
  readonly task: Task;
  /** The names of the things of each type: `agent`, `location`, `receptacle`, `object`, `rtype`, `otype`. */
  readonly named: { readonly [type: string]: readonly string[] };
  readonly statics: readonly HouseFact[];
  /** The facts that commands can change, before the first command. */
  readonly fluents: readonly HouseFact[];
  readonly formula: string;
  /** The sentence that only a person knows, for a house that cannot be won without it. */
  readonly hint?: string;
}

export const CHANGING_PREDICATES: ReadonlySet<string> = new Set(
  splitWords(
    'atlocation objectatlocation opened inreceptacle holds holdsany isclean ishot iscool ison istoggled issliced',
  ),
);

export const HOUSE_AGENT_NAME = 'agent1';

/**
 * The names that a player sees, by the ids of a house: the class and a number. Ids in ascending order get descending
 * numbers. A basin is called a basin, although its id begins with the sink or the bathtub.
 */
export function playerNamesOfObjects(ids: Iterable<string>): ReadonlyMap<string, string> {
  const classes = new Map<string, string[]>();
  const names = new Map<string, string>();
  for (const id of [...new Set(ids)].sort()) {
    const end = id.indexOf('_bar_');
    if (end < 0) {
      names.set(id, `${id} `);
      continue;
    }
    const name = id.slice(0, end) + (id.includes('basin') ? 'basin' : '');
    classes.set(name, [...(classes.get(name) ?? []), id]);
  }
  for (const [name, members] of classes)
    for (const [index, id] of members.entries()) names.set(id, `${name} ${members.length - index}`);
  return names;
}
