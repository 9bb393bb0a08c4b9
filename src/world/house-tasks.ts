import type { Task, TaskType } from './house.ts';

/** The goal lines of each task type: `{object}`, `{receptacle}` and `{lamp}` are classes in lower case. */
export const GOAL_TEXTS_BY_TASK_TYPE: { readonly [type in TaskType]: readonly string[] } = {
  pick_and_place_simple: ['put a {object} in {receptacle}', 'put some {object} on {receptacle}'],
  look_at_obj_in_light: ['look at {object} under the {lamp}', 'examine the {object} with the {lamp}'],
  pick_clean_then_place_in_recep: [
    'put a clean {object} in {receptacle}',
    'clean some {object} and put it in {receptacle}',
  ],
  pick_heat_then_place_in_recep: [
    'put a hot {object} in {receptacle}',
    'heat some {object} and put it in {receptacle}',
  ],
  pick_cool_then_place_in_recep: [
    'put a cool {object} in {receptacle}',
    'cool some {object} and put it in {receptacle}',
  ],
  pick_two_obj_and_place: ['put two {object} in {receptacle}', 'find two {object} and put them in {receptacle}'],
};

/** A description in a person's words of each task type. */
export const TASK_DESCRIPTIONS: { readonly [type in TaskType]: string } = {
  pick_and_place_simple: 'Find the {object} and leave it at the {receptacle}.',
  look_at_obj_in_light: 'Hold the {object} in the light of the {lamp}.',
  pick_clean_then_place_in_recep: 'Rinse the {object}, then leave it at the {receptacle}.',
  pick_heat_then_place_in_recep: 'Warm up the {object}, then leave it at the {receptacle}.',
  pick_cool_then_place_in_recep: 'Chill the {object}, then leave it at the {receptacle}.',
  pick_two_obj_and_place: 'Collect two of the {object} at one {receptacle}.',
};

/** By task type: the state that the object must get, the fact that makes it possible, its tool and its verb. */
export const CHANGE_BY_TASK_TYPE: {
  readonly [type in TaskType]?: {
    readonly able: string;
    readonly is: string;
    readonly tool: string;
    readonly verb: string;
  };
} = {
  pick_clean_then_place_in_recep: { able: 'cleanable', is: 'isClean', tool: 'SinkBasin', verb: 'clean' },
  pick_heat_then_place_in_recep: { able: 'heatable', is: 'isHot', tool: 'Microwave', verb: 'heat' },
  pick_cool_then_place_in_recep: { able: 'coolable', is: 'isCool', tool: 'Fridge', verb: 'cool' },
};

type Classes = Pick<Task, 'type' | 'object' | 'receptacle' | 'lamp'>;

/** Replaces `{object}`, `{receptacle}` and `{lamp}` in a template. */
export const fillTaskTemplate = (line: string, task: Classes): string =>
  line.replaceAll(/\{(object|receptacle|lamp)\}/g, (_, key: 'object' | 'receptacle' | 'lamp') =>
    task[key].toLowerCase(),
  );

export function pddlGoalOfTask({ type, object, receptacle, lamp }: Classes): string {
  if (type === 'look_at_obj_in_light')
    return `(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot ${lamp}Type) (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) (exists (?o - object ?a - agent) (and (objectType ?o ${object}Type) (holds ?a ?o))))`;
  if (type === 'pick_two_obj_and_place') {
    const placed = (o: string) =>
      `(objectType ${o} ${object}Type) (receptacleType ?r ${receptacle}Type) (inReceptacle ${o} ?r)`;
    return `(and (exists (?r - receptacle) (exists (?o1 - object) (and ${placed('?o1')} (exists (?o2 - object) (and (not (= ?o1 ?o2)) ${placed('?o2')}))))))`;
  }
  const change = CHANGE_BY_TASK_TYPE[type];
  const state = change ? `(${change.able} ?o) (${change.is} ?o) ` : '';
  return `(and (exists (?r - receptacle) (exists (?o - object) (and ${state}(objectType ?o ${object}Type) (receptacleType ?r ${receptacle}Type) (inReceptacle ?o ?r)))))`;
}
