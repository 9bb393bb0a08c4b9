import type { Wording } from '../house.ts';
import { HOUSE_ACTIONS, HOUSEHOLD_HELP_TEXT, type HouseAction, OLD_WORDING_HOUSE_ACTIONS } from '../house-actions.ts';
import { type PddlExpression, writePddlExpression } from './pddl-expression.ts';

/** The predicates of the domain, with the types of their arguments. */
const PREDICATES = `
  atLocation agent location; receptacleAtLocation receptacle location; objectAtLocation object location;
  openable receptacle; opened receptacle; inReceptacle object receptacle; isReceptacleObject object;
  inReceptacleObject object object; receptacleType receptacle rtype; objectType object otype; canContain rtype otype;
  holds agent object; holdsAny agent; checked agent; isClean object; cleanable object; isHot object; heatable object;
  isCool object; coolable object; pickupable object; toggleable object; isOn object; isToggled object;
  sliceable object; isSliced object`;

const TYPES: { readonly [variable: string]: string } = {
  '?a': 'agent',
  '?l': 'location',
  '?from': 'location',
  '?r': 'receptacle',
  '?rt': 'rtype',
  '?o': 'object',
  '?k': 'object',
  '?ot': 'otype',
};

/** The actions of the household as a PDDL domain for Fast Downward. The problem must define its constants. */
export function writePddlDomain(wording: Wording): string {
  const predicates = PREDICATES.split(';').map((row) => {
    const [name, ...types] = row.trim().split(/\s+/);
    return `    (${[name, ...types.map((type, index) => `?x${index} - ${type}`)].join(' ')})`;
  });
  return [
    '(define (domain alfred)',
    '  (:requirements :adl :typing :action-costs)',
    '  (:types agent location receptacle object rtype otype)',
    '  (:predicates',
    ...predicates,
    '  )',
    '  (:functions (total-cost) - number)',
    ...(wording === 'old' ? OLD_WORDING_HOUSE_ACTIONS : HOUSE_ACTIONS).map(actionText),
    ')',
    '',
  ].join('\n');
}

function actionText({ name, when, effect }: HouseAction): string {
  const used = new Set(['?a']);
  const collect = (part: PddlExpression): void => {
    if (typeof part === 'string') {
      if (part.startsWith('?')) used.add(part);
    } else part.forEach(collect);
  };
  [...when, ...effect].forEach(collect);
  const effects = effect.flatMap((one) => {
    const [head, atom] = one as readonly PddlExpression[];
    return head === 'toggle'
      ? [
          ['when', atom!, ['not', atom!]],
          ['when', ['not', atom!], atom!],
        ]
      : [one];
  });
  // Adds an effect to an action that has none, because the planner would drop the action.
  const all = effects.length ? effects : [['checked', '?a']];
  const parameters = [...used].map((variable) => `${variable} - ${TYPES[variable]}`).join(' ');
  return `  (:action ${name}\n    :parameters (${parameters})\n    :precondition ${writePddlExpression(['and', ...when])}\n    :effect ${writePddlExpression(['and', ...all, ['increase', ['total-cost'], '1']])})`;
}

const listed = (article: string, item: string, query: string) => `[{${article}${item} | ${query}}]`;

/** The answers of the household as a grammar that TextWorld reads. */
export function writeTextWorldGrammar(wording: Wording, goal: string): string {
  const inside = (item: string, query: string) => listed(`${item}.indefinite + ' ' + `, `${item}.name`, query);
  const receptacle = [
    {
      condition: 'openable(r:receptacle) & opened(r:receptacle)',
      rhs: `The {r.name} is open. In it, you see ${inside('o', 'inreceptacle(o:object, r:receptacle)')}.`,
    },
    { condition: 'openable(r:receptacle)', rhs: 'The {r.name} is closed.' },
    { rhs: `On the {r.name}, you see ${inside('o', 'inreceptacle(o:object, r:receptacle)')}.` },
  ];
  const states: readonly (readonly [needs: string, says: string])[] = [
    ['isclean ishot issliced', 'hot and clean sliced '],
    ['isclean iscool issliced', 'cool and clean sliced '],
    ['isclean issliced', 'clean sliced '],
    ['ishot issliced', 'hot sliced '],
    ['iscool issliced', 'cool sliced '],
    ['isclean ishot', 'hot and clean '],
    ['isclean iscool', 'cool and clean '],
    ['ishot', 'hot '],
    ['isclean', 'clean '],
    ['iscool', 'cold '],
  ];
  const all = (needs: string) =>
    needs
      .split(' ')
      .map((need) => `${need}(o:object)`)
      .join(' & ');
  const object = [
    {
      condition: 'isreceptacleobject(o:object)',
      rhs: `This is a normal {o.name}. In it, you see ${inside('o2', 'inreceptacleobject(o2:object, o:object)')}.`,
    },
    ...states.map(([needs, says]) => ({ condition: all(needs), rhs: `This is a ${says}{o.name}.` })),
    { condition: all('toggleable istoggled'), rhs: 'This {o.name} is on.' },
    { condition: all('toggleable'), rhs: 'This {o.name} is off.' },
    { condition: all('sliceable issliced'), rhs: 'This is a sliced {o.name}.' },
    { rhs: "There's nothing special about {o.name}." },
  ];
  const facing = 'atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)';
  const look = [
    { condition: facing, rhs: `You are facing the ${listed('', 'r.name', facing)}. Next to it, you see nothing.` },
    {
      rhs: `You are in the middle of a room. Looking quickly around you, you see ${inside('r', 'receptacleatlocation(r:receptacle, l:location)')}.`,
    },
  ];
  const inventory = [
    { condition: 'holdsany(a:agent)', rhs: `You are carrying: ${inside('o', 'holds(a:agent, o:object)')}.` },
    { rhs: 'You are not carrying anything.' },
  ];
  const answers = (wording === 'old' ? OLD_WORDING_HOUSE_ACTIONS : HOUSE_ACTIONS).map(({ name, answer }) => {
    const rhs = answer
      .replace('{help}', HOUSEHOLD_HELP_TEXT)
      .replace(/\{(look|inventory)\}/, '#$1#')
      .replace('{r:state}', '#receptacle#')
      .replace('{o:state}', '#object#')
      .replaceAll(/\{(\w)\}/g, '{$1.name}');
    return [`${name}.feedback`, [{ rhs }]] as const;
  });
  const rules = {
    intro: [{ rhs: '-= Welcome to TextWorld, ALFRED! =-\n\n#look#\n\n#task#' }],
    task: [{ rhs: `Your task is to: ${goal}.` }],
    list_empty: [{ rhs: 'nothing' }],
    list_separator: [{ rhs: ', ' }],
    list_last_separator: [{ rhs: ', and ' }],
    look,
    inventory,
    receptacle,
    object,
    ...Object.fromEntries(answers),
  };
  const actions = (wording === 'old' ? OLD_WORDING_HOUSE_ACTIONS : HOUSE_ACTIONS).map(
    ({ name, command }) =>
      `action ${name} {\n    template :: "${command}";\n    feedback :: "#${name}.feedback#";\n}\n`,
  );
  return `grammar :: """\n${JSON.stringify(rules, null, 2)}\n""";\n\n${actions.join('\n')}`;
}
