import { type PddlExpression, parsePddlExpressions } from './pddl/pddl-expression.ts';

/** A kind of command that the player can give in a house. */
export interface HouseAction {
  readonly name: string;
  /** The player's words; the variables in them have the player's names of things. */
  readonly command: string;
  /** The conditions under which the command is possible. */
  readonly when: readonly PddlExpression[];
  /** The facts that the command adds, or removes with `not`. */
  readonly effect: readonly PddlExpression[];
  /** The answer to the player, with names (`{r}`) and descriptions (`{r:state}`, `{look}`, `{inventory}`, `{help}`). */
  readonly answer: string;
}

type Row = readonly [name: string, command: string, when: string, effect: string, answer: string];

const HERE = '(atLocation ?a ?l) (receptacleAtLocation ?r ?l)';
const ACCESSIBLE = '(or (not (openable ?r)) (opened ?r))';
const HELD_HERE = `(holds ?a ?o) ${HERE}`;

const ROWS: readonly Row[] = [
  ['look', 'look', '', '', '{look}'],
  ['inventory', 'inventory', '', '', '{inventory}'],
  ['help', 'help', '', '', '{help}'],
  ['examineReceptacle', 'examine {r}', HERE, '', '{r:state}'],
  // ALFWorld's own domain is meant to allow visible objects too, but a comma in its text turns their type into one
  // without members.
  ['examineObject', 'examine {o}', '(holds ?a ?o)', '', '{o:state}'],
  [
    'GotoLocation',
    'go to {r}',
    // ALFWorld's planner removes a command that changes nothing.
    '(atLocation ?a ?from) (receptacleAtLocation ?r ?l) (not (= ?from ?l))',
    '(not (atLocation ?a ?from)) (atLocation ?a ?l)',
    'You arrive at {r}. {r:state}',
  ],
  ['OpenObject', 'open {r}', `${HERE} (openable ?r) (not (opened ?r))`, '(opened ?r)', 'You open the {r}. {r:state}'],
  ['CloseObject', 'close {r}', `${HERE} (openable ?r) (opened ?r)`, '(not (opened ?r))', 'You close the {r}.'],
  [
    'PickupObject',
    'take {o} from {r}',
    `${HERE} (inReceptacle ?o ?r) (pickupable ?o) (not (holdsAny ?a)) ${ACCESSIBLE}`,
    '(not (inReceptacle ?o ?r)) (holds ?a ?o) (holdsAny ?a) (not (objectAtLocation ?o ?l))',
    'You pick up the {o} from the {r}.',
  ],
  [
    'PutObject',
    'move {o} to {r}',
    `${HELD_HERE} (objectType ?o ?ot) (receptacleType ?r ?rt) (canContain ?rt ?ot) ${ACCESSIBLE}`,
    '(inReceptacle ?o ?r) (objectAtLocation ?o ?l) (not (holds ?a ?o)) (not (holdsAny ?a))',
    'You move the {o} to the {r}.',
  ],
  [
    'CleanObject',
    'clean {o} with {r}',
    `${HELD_HERE} (receptacleType ?r SinkBasinType) (cleanable ?o)`,
    '(isClean ?o)',
    'You clean the {o} using the {r}.',
  ],
  [
    'HeatObject',
    'heat {o} with {r}',
    `${HELD_HERE} (receptacleType ?r MicrowaveType) (heatable ?o)`,
    '(isHot ?o) (not (isCool ?o))',
    'You heat the {o} using the {r}.',
  ],
  [
    'CoolObject',
    'cool {o} with {r}',
    `${HELD_HERE} (receptacleType ?r FridgeType) (coolable ?o)`,
    '(isCool ?o) (not (isHot ?o))',
    'You cool the {o} using the {r}.',
  ],
  // Each use toggles `isOn`, which neither an answer nor a goal shows. `isToggled` stays set.
  [
    'ToggleObject',
    'use {o}',
    `${HERE} (inReceptacle ?o ?r) (toggleable ?o)`,
    '(toggle (isOn ?o)) (isToggled ?o)',
    'You turn on the {o}.',
  ],
  [
    'SliceObject',
    'slice {o} with {k}',
    '(holds ?a ?k) (atLocation ?a ?l) (objectAtLocation ?o ?l) (sliceable ?o) (or (objectType ?k KnifeType) (objectType ?k ButterKnifeType))',
    '(isSliced ?o)',
    'You sliced the {o} with the {k}.',
  ],
];

/** The rows that differ in the wording before ALFWorld 0.4; null removes a row. */
const OLD: { readonly [name: string]: Partial<Pick<HouseAction, 'command' | 'answer'>> | null } = {
  help: null,
  GotoLocation: { answer: 'You arrive at {l}. {r:state}' },
  PutObject: { command: 'put {o} in/on {r}', answer: 'You put the {o} in/on the {r}.' },
};

/** The kinds of commands, in the current wording. */
export const HOUSE_ACTIONS: readonly HouseAction[] = ROWS.map(([name, command, when, effect, answer]) => ({
  name,
  command,
  when: parsePddlExpressions(when),
  effect: parsePddlExpressions(effect),
  answer,
}));

export const OLD_WORDING_HOUSE_ACTIONS: readonly HouseAction[] = HOUSE_ACTIONS.flatMap((action) => {
  const change = OLD[action.name];
  return change === null ? [] : [{ ...action, ...change }];
});

export const NOTHING_HAPPENS_TEXT = 'Nothing happens.';

const HELP: readonly (readonly [string, string])[] = [
  ['look:', 'look around your current location'],
  ['inventory:', 'check your current inventory'],
  ['go to (receptacle):', 'move to a receptacle'],
  ['open (receptacle):', 'open a receptacle'],
  ['close (receptacle):', 'close a receptacle'],
  ['take (object) from (receptacle):', 'take an object from a receptacle'],
  ['move (object) to (receptacle):', 'place an object in or on a receptacle'],
  ['examine (something):', 'examine a receptacle or an object'],
  ['use (object):', 'use an object'],
  ['heat (object) with (receptacle):', 'heat an object using a receptacle'],
  ['clean (object) with (receptacle):', 'clean an object using a receptacle'],
  ['cool (object) with (receptacle):', 'cool an object using a receptacle'],
  ['slice (object) with (object):', 'slice an object using a sharp object'],
];

/** The answer to `help`. As in ALFWorld, one row has two blanks less than the others. */
export const HOUSEHOLD_HELP_TEXT = `\nAvailable commands:\n${HELP.map(
  ([usage, purpose]) => `  ${usage.padEnd(usage.startsWith('move') ? 32 : 34)}${purpose}\n`,
).join('')}`;
