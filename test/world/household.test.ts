import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateHouse } from '../../src/world/generate-house.ts';
import { type House, TASK_TYPES } from '../../src/world/house.ts';
import { Household } from '../../src/world/household.ts';
import { houseFromPddl } from '../../src/world/pddl/pddl-problem.ts';
import { depth } from '../depth.ts';

const PROBLEM = readFileSync('test/world/fixtures/small-kitchen.pddl', 'utf8');
const kitchen = (wording: House['wording'] = 'current') => houseFromPddl(PROBLEM, { id: 'small-kitchen', wording });

/** Plays commands and returns the last answer. */
function answerTo(commands: readonly string[], game = new Household(kitchen())): string {
  for (const command of commands) game.step(command);
  return game.turn().observation;
}

describe('a household', () => {
  it('begins with the room and the task', () =>
    expect(new Household(kitchen()).turn().observation).toBe(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 10, a cabinet 9, a cabinet 8, a cabinet 7, a cabinet 6, a cabinet 5, a cabinet 4, a cabinet 3, a cabinet 2, a cabinet 1, a fridge 1, a microwave 1, a shelf 1, a sidetable 1, and a sinkbasin 1.\n\nYour task is to: look at book under the desklamp.',
    ));

  /** The rows of ALFWorld's table of commands. The last command of a case decides to which row the case belongs. */
  const ROWS = {
    look: /^look$/,
    inventory: /^inventory$/,
    help: /^help$/,
    'go to R': /^\s*go to /i,
    'examine R': /^examine (?:fridge|sidetable|cabinet) /,
    'examine O': /^examine /,
    'open R': /^open /,
    'close R': /^close /,
    'take O from R': /^take /,
    'move O to R': /^(?:move|put) /,
    'heat O with R': /^heat /,
    'cool O with R': /^cool /,
    'clean O with R': /^clean /,
    'use O': /^use /,
    'slice O with K': /^slice /,
    'any other text': /^/,
  };
  const rowOf = (commands: string): string =>
    Object.entries(ROWS).find(([, last]) => last.test(commands.split('; ').at(-1)!))![0];
  const APPLE = 'go to sidetable 1; take apple 2 from sidetable 1';
  const COLD = `${APPLE}; go to fridge 1; cool apple 2 with fridge 1`;
  const HOT = `${APPLE}; go to microwave 1; heat apple 2 with microwave 1`;
  const CLEAN = 'go to sinkbasin 1; clean apple 2 with sinkbasin 1';
  const SLICED =
    'go to sidetable 1; take knife 1 from sidetable 1; slice apple 2 with knife 1; move knife 1 to sidetable 1; take apple 2 from sidetable 1';
  const CASES: readonly (readonly [commands: string, answer: string])[] = [
    ['look at fridge 1', 'Nothing happens.'],
    ['go to sidetable 1; examine sidetable 1', 'On the sidetable 1, you see a apple 2, a desklamp 1, and a knife 1.'],
    ['go to fridge 1; open fridge 1; examine fridge 1', 'The fridge 1 is open. In it, you see a apple 1.'],
    ['examine fridge 1', 'Nothing happens.'],
    ['go to sidetable 1; examine desklamp 1', 'Nothing happens.'],
    ['go to fridge 1; open fridge 1; open fridge 1', 'Nothing happens.'],
    ['open fridge 1', 'Nothing happens.'],
    ['go to fridge 1; close fridge 1', 'Nothing happens.'],
    ['go to fridge 1; take apple 1 from fridge 1', 'Nothing happens.'],
    [HOT, 'You heat the apple 2 using the microwave 1.'],
    [`${HOT}; heat apple 2 with microwave 1`, 'You heat the apple 2 using the microwave 1.'],
    [`${APPLE}; go to fridge 1; heat apple 2 with fridge 1`, 'Nothing happens.'],
    ['go to microwave 1; cool apple 2 with microwave 1', 'Nothing happens.'],
    [`${COLD}; cool apple 2 with fridge 1`, 'You cool the apple 2 using the fridge 1.'],
    [`${APPLE}; ${CLEAN}`, 'You clean the apple 2 using the sinkbasin 1.'],
    ['go to sinkbasin 1; clean apple 2 with sinkbasin 1', 'Nothing happens.'],
    [`${APPLE}; ${CLEAN}; examine apple 2`, 'This is a clean apple 2.'],
    [`${HOT}; ${CLEAN}; examine apple 2`, 'This is a hot and clean apple 2.'],
    [`${SLICED}; ${CLEAN}; examine apple 2`, 'This is a clean sliced apple 2.'],
    [`${SLICED}; go to fridge 1; cool apple 2 with fridge 1; examine apple 2`, 'This is a cool sliced apple 2.'],
    [
      `${SLICED}; go to fridge 1; cool apple 2 with fridge 1; ${CLEAN}; examine apple 2`,
      'This is a cool and clean sliced apple 2.',
    ],
    [
      `${SLICED}; go to microwave 1; heat apple 2 with microwave 1; ${CLEAN}; examine apple 2`,
      'This is a hot and clean sliced apple 2.',
    ],
    ['use desklamp 1', 'Nothing happens.'],
    ['go to sidetable 1; slice apple 2 with knife 1', 'Nothing happens.'],
    ['inventory', 'You are not carrying anything.'],
    [
      'go to sidetable 1',
      'You arrive at sidetable 1. On the sidetable 1, you see a apple 2, a desklamp 1, and a knife 1.',
    ],
    // "apple 2" has the smaller id.
    ['go to fridge 1; open fridge 1', 'You open the fridge 1. The fridge 1 is open. In it, you see a apple 1.'],
    ['go to fridge 1', 'You arrive at fridge 1. The fridge 1 is closed.'],
    ['go to fridge 1; open fridge 1; close fridge 1', 'You close the fridge 1.'],
    ['go to fridge 1; open fridge 1; close fridge 1; examine fridge 1', 'The fridge 1 is closed.'],
    ['go to fridge 1; go to fridge 1', 'Nothing happens.'],
    // The shelf and the sink are reached from one spot.
    ['go to shelf 1; go to sinkbasin 1', 'Nothing happens.'],
    ['go to shelf 1; look', 'You are facing the shelf 1, and sinkbasin 1. Next to it, you see nothing.'],
    ['go to cabinet 10; look', 'You are facing the cabinet 10. Next to it, you see nothing.'],
    // Two of the ten cabinets do not open.
    ['go to cabinet 10', 'You arrive at cabinet 10. On the cabinet 10, you see a mug 1.'],
    ['go to cabinet 10; open cabinet 10', 'Nothing happens.'],
    ['go to cabinet 1', 'You arrive at cabinet 1. On the cabinet 1, you see nothing.'],
    ['go to cabinet 9', 'You arrive at cabinet 9. The cabinet 9 is closed.'],
    // Only a held thing can be examined.
    ['go to sidetable 1; examine apple 2', 'Nothing happens.'],
    ['go to sidetable 1; take apple 2 from sidetable 1; examine apple 2', "There's nothing special about apple 2."],
    ['go to sidetable 1; take apple 2 from sidetable 1', 'You pick up the apple 2 from the sidetable 1.'],
    ['go to sidetable 1; take apple 2 from sidetable 1; inventory', 'You are carrying: a apple 2.'],
    ['go to sidetable 1; take apple 2 from sidetable 1; take knife 1 from sidetable 1', 'Nothing happens.'],
    ['go to sidetable 1; take apple 2', 'Nothing happens.'],
    ['go to sidetable 1; take desklamp 1 from sidetable 1', 'Nothing happens.'],
    ['go to sidetable 1; take apple 2 from sidetable 1; put apple 2 in/on sidetable 1', 'Nothing happens.'],
    [
      'go to sidetable 1; take apple 2 from sidetable 1; move apple 2 to sidetable 1',
      'You move the apple 2 to the sidetable 1.',
    ],
    // An apple does not fit into a cabinet. Nothing can be put into a closed fridge, but a closed fridge cools.
    [
      'go to sidetable 1; take apple 2 from sidetable 1; go to cabinet 1; move apple 2 to cabinet 1',
      'Nothing happens.',
    ],
    ['go to sidetable 1; take apple 2 from sidetable 1; go to fridge 1; move apple 2 to fridge 1', 'Nothing happens.'],
    [
      'go to sidetable 1; take apple 2 from sidetable 1; go to fridge 1; cool apple 2 with fridge 1',
      'You cool the apple 2 using the fridge 1.',
    ],
    [
      'go to sidetable 1; take apple 2 from sidetable 1; go to fridge 1; cool apple 2 with fridge 1; examine apple 2',
      'This is a cold apple 2.',
    ],
    [
      'go to sidetable 1; take apple 2 from sidetable 1; go to fridge 1; cool apple 2 with fridge 1; go to sinkbasin 1; clean apple 2 with sinkbasin 1; examine apple 2',
      'This is a cool and clean apple 2.',
    ],
    [
      'go to sidetable 1; take apple 2 from sidetable 1; go to fridge 1; cool apple 2 with fridge 1; go to microwave 1; heat apple 2 with microwave 1; examine apple 2',
      'This is a hot apple 2.',
    ],
    [
      'go to sidetable 1; take knife 1 from sidetable 1; slice apple 2 with knife 1',
      'You sliced the apple 2 with the knife 1.',
    ],
    [
      'go to sidetable 1; take knife 1 from sidetable 1; slice apple 2 with knife 1; move knife 1 to sidetable 1; take apple 2 from sidetable 1; examine apple 2',
      'This is a sliced apple 2.',
    ],
    [
      'go to sidetable 1; take knife 1 from sidetable 1; slice apple 2 with knife 1; move knife 1 to sidetable 1; take apple 2 from sidetable 1; go to microwave 1; heat apple 2 with microwave 1; examine apple 2',
      'This is a hot sliced apple 2.',
    ],
    ['go to cabinet 10; take mug 1 from cabinet 10; examine mug 1', 'This is a normal mug 1. In it, you see nothing.'],
    // The lamp never goes off again.
    ['go to sidetable 1; use desklamp 1; use desklamp 1', 'You turn on the desklamp 1.'],
    ['Go to sidetable 1', 'Nothing happens.'],
    ['  go to cabinet 1 \n', 'You arrive at cabinet 1. On the cabinet 1, you see nothing.'],
    ['', 'Nothing happens.'],
  ];
  it.each(CASES.map(([commands, answer]) => [rowOf(commands), commands, answer] as const))(
    'plays the command of the row "%s" of the table: %j',
    (_, commands, answer) => expect(answerTo(commands.split('; '))).toBe(answer),
  );

  it('lists the commands after "help"', () => expect(answerTo(['help'])).toMatch(/^\n?Available commands:\n/));

  it('is tested with an answered and a refused command for every row of the table', () => {
    const rows = (refused: boolean) => [
      ...new Set(CASES.filter(([, answer]) => (answer === 'Nothing happens.') === refused).map(([of]) => rowOf(of))),
    ];
    // `look`, `inventory` and `help` are always possible, any other text never.
    expect(rows(false).toSorted()).toEqual(
      Object.keys(ROWS)
        .filter((row) => !['help', 'any other text'].includes(row))
        .toSorted(),
    );
    expect(rows(true).toSorted()).toEqual(
      Object.keys(ROWS)
        .filter((row) => !['look', 'inventory', 'help'].includes(row))
        .toSorted(),
    );
  });

  it('sorts admissible commands as text, so that "cabinet 10" is before "cabinet 2"', () =>
    expect(new Household(kitchen()).turn().admissible).toEqual([
      'go to cabinet 1',
      'go to cabinet 10',
      'go to cabinet 2',
      'go to cabinet 3',
      'go to cabinet 4',
      'go to cabinet 5',
      'go to cabinet 6',
      'go to cabinet 7',
      'go to cabinet 8',
      'go to cabinet 9',
      'go to fridge 1',
      'go to microwave 1',
      'go to shelf 1',
      'go to sidetable 1',
      'go to sinkbasin 1',
      'help',
      'inventory',
      'look',
    ]));

  it('lists the commands that are possible at the agent’s location', () => {
    const game = new Household(kitchen());
    answerTo(['go to sidetable 1', 'take apple 2 from sidetable 1', 'go to sinkbasin 1'], game);
    expect(game.turn().admissible.filter((command) => !command.startsWith('go to'))).toEqual([
      'clean apple 2 with sinkbasin 1',
      'examine apple 2',
      'examine shelf 1',
      'examine sinkbasin 1',
      'help',
      'inventory',
      'look',
      'move apple 2 to sinkbasin 1',
    ]);
  });

  it('wins on arrival with the book if the lamp is lit', () => {
    const game = new Household(kitchen());
    answerTo(
      ['go to sidetable 1', 'use desklamp 1', 'go to cabinet 9', 'open cabinet 9', 'take book 1 from cabinet 9'],
      game,
    );
    expect(game.turn()).toMatchObject({ won: false, done: false, steps: 5 });
    game.step('go to sidetable 1');
    expect(game.turn()).toMatchObject({ won: true, done: true, steps: 6 });
    expect(game.step('look').steps).toBe(6);
  });

  it('checks the goal also after a refused command, which counts as a step', () => {
    const house = { ...kitchen(), formula: '(and (isCool apple_bar__plus_02_dot_00))' };
    const game = new Household(house);
    expect(game.turn()).toMatchObject({ won: false, steps: 0 });
    expect(game.step('fly')).toMatchObject({ won: true, steps: 1, observation: 'Nothing happens.' });
  });

  it('ends without a win at step 100', () => {
    const game = new Household(kitchen());
    for (let i = 0; i < 99; i++) game.step('nonsense');
    expect(game.turn()).toMatchObject({ done: false, steps: 99 });
    expect(game.step('look')).toMatchObject({ done: true, won: false, steps: 100 });
  });

  it('has ALFWorld’s older wording if the house asks for it', () => {
    const game = new Household(kitchen('old'));
    expect(game.turn().admissible).not.toContain('help');
    // Locations have numbers like all things.
    expect(game.step('go to sidetable 1').observation).toMatch(
      /^You arrive at loc \d+\. On the sidetable 1, you see a apple 2,/,
    );
    game.step('take apple 2 from sidetable 1');
    expect(game.step('move apple 2 to sidetable 1').observation).toBe('Nothing happens.');
    expect(game.step('put apple 2 in/on sidetable 1').observation).toBe('You put the apple 2 in/on the sidetable 1.');
  });

  it('continues from a snapshot of the same house only', () => {
    const game = new Household(kitchen());
    answerTo(['go to sidetable 1', 'take apple 2 from sidetable 1'], game);
    const snapshot = JSON.parse(JSON.stringify(game.snapshot()));
    const other = new Household(kitchen());
    expect(other.restore(snapshot)).toEqual(game.turn());
    expect([other.identity(), other.carried()]).toEqual([game.identity(), 'apple 2']);
    expect(() => other.restore({ ...snapshot, house: 'other' })).toThrow(
      'the snapshot is of house other, not of small-kitchen',
    );
  });
});

describe('random games', () => {
  it('change the text by each admissible command; other commands never change the state', () => {
    let steps = 0;
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.constantFrom(...TASK_TYPES),
        fc.constantFrom('current' as const, 'old' as const),
        fc.array(fc.tuple(fc.nat(), fc.string()), { minLength: depth(40, 400), maxLength: depth(60, 600) }),
        (seed, task, wording, choices) => {
          const game = new Household(generateHouse({ seed, task, wording }), { mostSteps: Number.POSITIVE_INFINITY });
          for (const [choice, text] of choices) {
            const { admissible } = game.turn();
            if (game.turn().done) break;
            expect(admissible).toEqual([...new Set(admissible)].sort());
            const command = admissible[choice % admissible.length]!;
            const before = game.identity();
            for (const other of [text, command.toUpperCase(), `${command}0`, `${command} now`, 'take', 'go to here'])
              if (!admissible.includes(other.trim())) {
                expect(game.step(other).observation).toBe('Nothing happens.');
                expect(game.identity()).toBe(before);
              }
            if (!game.turn().done) expect(game.step(command).observation).not.toBe('Nothing happens.');
            steps++;
          }
        },
      ),
      { numRuns: depth(4, 20) },
    );
    if (depth(false, true)) console.log(`${steps} random steps`);
  });

  it('continue in the same way after a snapshot', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
        fc.nat(29),
        (seed, choices, at) => {
          const house = generateHouse({ seed });
          const [one, two] = [new Household(house), new Household(house)];
          for (const [index, choice] of choices.entries()) {
            if (index === at) two.restore(JSON.parse(JSON.stringify(one.snapshot())));
            const command = one.turn().admissible[choice % one.turn().admissible.length]!;
            one.step(command);
            if (index >= at) expect(two.step(command)).toEqual(one.turn());
          }
          expect(two.identity()).toBe(one.identity());
        },
      ),
      { numRuns: 10 },
    );
  });
});
