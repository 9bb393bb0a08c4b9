import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readGame } from '../../src/world/game-file.ts';
import { oraclePlan } from '../../src/world/oracle.ts';
import { parsePddlExpressions } from '../../src/world/pddl/pddl-expression.ts';
import { houseFromPddl } from '../../src/world/pddl/pddl-problem.ts';

const PROBLEM = readFileSync('test/world/fixtures/small-kitchen.pddl', 'utf8');

describe('a PDDL problem', () => {
  it('has the task of its goal', () =>
    expect(houseFromPddl(PROBLEM, { id: 'x' }).task).toEqual({
      type: 'look_at_obj_in_light',
      goal: 'look at book under the desklamp',
      description: 'look at book under the desklamp',
      object: 'book',
      receptacle: '',
      lamp: 'desklamp',
    }));

  it.each<readonly [goal: string, task: object]>([
    [
      '(exists (?r - receptacle ?o - object) (and (objectType ?o MugType) (receptacleType ?r ShelfType) (inReceptacle ?o ?r)))',
      { type: 'pick_and_place_simple', object: 'mug', receptacle: 'shelf' },
    ],
    [
      '(exists (?r - receptacle ?o - object) (and (isHot ?o) (objectType ?o MugType) (receptacleType ?r ShelfType) (inReceptacle ?o ?r)))',
      { type: 'pick_heat_then_place_in_recep', goal: 'put a hot mug in shelf' },
    ],
  ])('has the task of %s', (goal, task) =>
    expect(houseFromPddl(PROBLEM.replace(/\(:goal.*/s, `(:goal ${goal}))`), { id: 'x' }).task).toMatchObject(task),
  );

  it.each<readonly [change: (text: string) => string, message: string]>([
    [() => '', 'line 1: there is no (define (problem …))'],
    [() => '(define (problem x)', 'line 1: "(" is never closed'],
    [() => 'x)\n)', 'line 1: ")" closes nothing'],
    [(text) => text.replace('(:domain alfred)', '(:domain blocks)'), 'the domain is "blocks", not "alfred"'],
    [(text) => text.replace('agent1 - agent', ''), ':objects has no "agent1 - agent"'],
    [(text) => text.replace('(:init', '(:initial'), 'the problem has no (:init …)'],
    [(text) => text.replace('(isCool ', '(isBlue '), 'has no predicate "isblue"'],
    [
      (text) => text.replace('(atLocation agent1', '(objectAtLocation agent1'),
      ':init has 0 facts (atLocation agent1 …), not 1',
    ],
    [() => '('.repeat(300), 'more than 200 parentheses are open'],
  ])('is refused if it is malformed, and the error names the line or the reason: case %#', (change, message) =>
    expect(() => houseFromPddl(change(PROBLEM), { id: 'x' })).toThrow(message),
  );

  it('may have comments and any case', () =>
    expect(parsePddlExpressions('; a (b\n(A ?B ; c)\n)')).toEqual([['a', '?b']]));
});

describe('the oracle', () => {
  const MUG = 'Mug_bar__plus_01_dot_00';
  const CABINET = 'Cabinet_bar__plus_00_dot_00_bar__plus_00_dot_50_bar__minus_01_dot_10';
  const goal = `(:goal (exists (?r - receptacle ?o - object) (and (isCool ?o) (objectType ?o MugType) (receptacleType ?r CabinetType) (inReceptacle ?o ?r))))`;
  const problem = PROBLEM.replace(/\(:goal.*/s, `${goal})`);

  it('takes a thing away from its destination if it must cool the thing first', () =>
    expect(oraclePlan(houseFromPddl(problem, { id: 'x' }))).toEqual([
      'go to cabinet 10',
      'take mug 1 from cabinet 10',
      'go to fridge 1',
      'cool mug 1 with fridge 1',
      'go to cabinet 10',
      'move mug 1 to cabinet 10',
    ]));

  it('wins before the end of its plan if a thing was in two receptacles', () => {
    const second = CABINET.replace('plus_00', 'plus_09');
    const both = problem.replace(`(inReceptacle ${MUG} `, `(inReceptacle ${MUG} ${second}) (inReceptacle ${MUG} `);
    expect(oraclePlan(houseFromPddl(both, { id: 'x' }))?.at(-1)).toBe('cool mug 1 with fridge 1');
  });
});

describe('a game file', () => {
  it.each([
    ['{', 'game: the text is not JSON'],
    ['{}', 'game: pddl_problem: Invalid input'],
    ['{"pddl_problem":"(x"}', 'game: pddl_problem, line 1: "(" is never closed'],
  ])('is refused if it is %s', (text, message) => expect(() => readGame('game', text)).toThrow(message));

  it('has the wording and the goal line of its grammar', () => {
    const grammar = '{"rhs": "Your task is to: examine the book with the desklamp."} template :: "put {o} in/on {r}";';
    const house = readGame('game', JSON.stringify({ pddl_problem: PROBLEM, grammar }));
    expect([house.wording, house.task.goal]).toEqual(['old', 'examine the book with the desklamp']);
  });
});
