import { CHANGING_PREDICATES, HOUSE_AGENT_NAME, type House, type Task, type TaskType, type Wording } from '../house.ts';
import { fillTaskTemplate, GOAL_TEXTS_BY_TASK_TYPE } from '../house-tasks.ts';
import type { HouseFact } from '../world-facts.ts';
import {
  PddlError,
  type PddlExpression,
  parsePddlExpressions,
  readPddlTypedList,
  writePddlExpression,
} from './pddl-expression.ts';

/** The predicates of the ALFRED domain, as its files spell them, by their names in lower case. */
const PREDICATES: ReadonlyMap<string, string> = new Map(
  [
    'atLocation receptacleAtLocation objectAtLocation openable opened inReceptacle isReceptacleObject inReceptacleObject',
    'wasInReceptacle holds holdsAny holdsAnyReceptacleObject receptacleType objectType canContain full checked',
    'isClean cleanable isHot heatable isCool coolable pickupable moveable toggleable isOn isToggled sliceable isSliced',
    'isReceptacleObjectFull',
  ].flatMap((line) => line.split(' ').map((name) => [name.toLowerCase(), name] as const)),
);

/** Parts of a house that come from other files than the problem. */
export interface PddlProblemOptions {
  readonly id: string;
  readonly wording?: Wording;
  /** The goal line, if the grammar contains it. */
  readonly goal?: string;
  readonly description?: string;
  /** The kind of the task and its objects, as far as ALFRED's `traj_data.json` names them. */
  readonly task?: Partial<Pick<Task, 'type' | 'object' | 'receptacle' | 'lamp'>>;
}

/**
 * Reads a PDDL problem of the ALFRED domain as a house.
 * @throws PddlError if the text is not such a problem; the message names the wrong part
 */
export function houseFromPddl(text: string, options: PddlProblemOptions): House {
  const define = parsePddlExpressions(text).find((part) => typeof part !== 'string' && part[0] === 'define');
  if (!define) throw new PddlError('there is no (define (problem …))', 1);
  const sections = new Map(
    (define as readonly PddlExpression[])
      .slice(1)
      .map((part) => [typeof part === 'string' ? part : (part[0] as string), part] as const),
  );
  const section = (name: string): readonly PddlExpression[] => {
    const found = sections.get(name);
    if (found === undefined || typeof found === 'string') throw new PddlError(`the problem has no (${name} …)`, 1);
    return found.slice(1);
  };
  const [domain] = section(':domain');
  if (domain !== 'alfred') throw new PddlError(`the domain is ${JSON.stringify(domain)}, not "alfred"`, 1);
  const named: { [type: string]: string[] } = {};
  for (const [name, type] of readPddlTypedList(section(':objects'))) {
    named[type] ??= [];
    named[type].push(name);
  }
  if (!named['agent']?.includes(HOUSE_AGENT_NAME))
    throw new PddlError(`:objects has no "${HOUSE_AGENT_NAME} - agent"`, 1);
  const facts = section(':init').flatMap(factOf);
  const [formula] = section(':goal');
  if (formula === undefined || typeof formula === 'string') throw new PddlError('(:goal …) is not a formula', 1);
  const start = facts.filter(([predicate]) => predicate === 'atlocation');
  if (start.length !== 1)
    throw new PddlError(`:init has ${start.length} facts (atLocation ${HOUSE_AGENT_NAME} …), not 1`, 1);
  const task = taskOf(formula, options);
  return {
    id: options.id,
    wording: options.wording ?? 'current',
    task,
    named,
    statics: facts.filter(([predicate]) => !CHANGING_PREDICATES.has(predicate)),
    fluents: facts.filter(([predicate]) => CHANGING_PREDICATES.has(predicate)),
    formula: writePddlExpression(formula),
  };
}

function factOf(part: PddlExpression): readonly HouseFact[] {
  if (typeof part === 'string') throw new PddlError(`:init has the word "${part}" in place of a fact`, 1);
  const [predicate, ...names] = part as readonly PddlExpression[];
  // Costs and distances are skipped, because no command and no goal uses them.
  if (predicate === '=') return [];
  if (typeof predicate !== 'string' || names.some((name) => typeof name !== 'string'))
    throw new PddlError(`:init has ${writePddlExpression(part)}, which is not a fact`, 1);
  if (!PREDICATES.has(predicate))
    throw new PddlError(`:init has ${writePddlExpression(part)}; the ALFRED domain has no predicate "${predicate}"`, 1);
  if (names.length > 2) throw new PddlError(`:init has ${writePddlExpression(part)}, with more than 2 names`, 1);
  return [[predicate, ...(names as string[])] as unknown as HouseFact];
}

/** The text in a goal that shows its task type. A goal without any of them is a `pick_and_place_simple`. */
const GOAL_MARKS: readonly (readonly [TaskType, string])[] = [
  ['look_at_obj_in_light', '(istoggled '],
  ['pick_clean_then_place_in_recep', '(isclean '],
  ['pick_heat_then_place_in_recep', '(ishot '],
  ['pick_cool_then_place_in_recep', '(iscool '],
  ['pick_two_obj_and_place', '(not (= '],
];

/** The task: from its files if they name it, otherwise from the classes and states in the goal. */
function taskOf(goal: PddlExpression, { task = {}, goal: line, description }: PddlProblemOptions): Task {
  const text = writePddlExpression(goal);
  const classes = (predicate: string) => [
    ...new Set([...text.matchAll(new RegExp(`\\(${predicate} \\?\\w+ (\\w+)type\\)`, 'g'))].map(([, name]) => name!)),
  ];
  const lit = text.includes('(istoggled ');
  const type = task.type ?? GOAL_MARKS.find(([, mark]) => text.includes(mark))?.[0] ?? 'pick_and_place_simple';
  const [first = '', second = ''] = classes('objecttype');
  const found = {
    type,
    object: task.object ?? (lit ? second : first),
    receptacle: task.receptacle ?? classes('receptacletype')[0] ?? '',
    lamp: task.lamp ?? (lit ? first : ''),
  };
  const goalLine = line ?? fillTaskTemplate(GOAL_TEXTS_BY_TASK_TYPE[type][0]!, found);
  return { ...found, goal: goalLine, description: description ?? goalLine };
}

/** Writes a house as a PDDL problem of the ALFRED domain. */
export function pddlOfHouse(house: House): string {
  const objects = Object.entries(house.named).flatMap(([type, names]) => names.map((name) => `    ${name} - ${type}`));
  const facts = [...house.statics, ...house.fluents].map(
    ([predicate, ...names]) => `    (${[PREDICATES.get(predicate) ?? predicate, ...names].join(' ')})`,
  );
  const name = house.id.replaceAll(/\W+/g, '_');
  return [
    `(define (problem plan_${name})`,
    '  (:domain alfred)',
    '  (:objects',
    ...objects,
    '  )',
    '  (:init',
    '    (= (total-cost) 0)',
    ...facts,
    '  )',
    `  (:goal ${house.formula})`,
    ')',
    '',
  ].join('\n');
}
