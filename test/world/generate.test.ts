import { describe, expect, it } from 'vitest';
import { gameFiles, readGame } from '../../src/world/game-file.ts';
import { generateHouse, houseOptionsFromId } from '../../src/world/generate-house.ts';
import { TASK_TYPES } from '../../src/world/house.ts';
import { Household } from '../../src/world/household.ts';
import { oraclePlan } from '../../src/world/oracle.ts';
import { searchPlan } from '../../src/world/search-plan.ts';
import { depth } from '../depth.ts';

describe('generated houses', () => {
  it.each(TASK_TYPES)('with the task %s are won by the plan of the oracle, and by a search', (task) => {
    for (let seed = 0; seed < depth(1, 60); seed++) {
      const house = generateHouse({ seed, task, wording: seed % 2 ? 'old' : 'current' });
      const plan = oraclePlan(house)!;
      const game = new Household(house);
      for (const command of plan) {
        expect(game.turn()).toMatchObject({ done: false });
        expect(game.turn().admissible).toContain(command);
        game.step(command);
      }
      expect(game.turn()).toMatchObject({ won: true, done: true });
      expect(searchPlan(house)!.length).toBeLessThanOrEqual(plan.length);
      expect(house.task.type).toBe(task);
    }
  });

  it('are the same for the same seed, and can be made again from their id', () => {
    const options = { seed: 7, task: 'pick_and_place_simple', wording: 'old', about: { object: 'Apple' } } as const;
    const house = generateHouse(options);
    expect(generateHouse(options)).toEqual(house);
    expect(houseOptionsFromId(house.id)).toEqual(options);
    expect(house.id).toBe('seed:7,task:pick_and_place_simple,object:Apple,wording:old');
    expect(generateHouse({ seed: 8, task: 'pick_and_place_simple' })).not.toEqual(house);
  });

  it.each(['', 'game.tw-pddl', 'seed:', 'seed:x', 'seed:1,unknown', 'seed:1.5'])(
    'cannot be made from the id %j',
    (id) => expect(houseOptionsFromId(id)).toBeNull(),
  );

  it('contain the requested things, and an impossible request is refused', () => {
    const about = { object: 'Apple', receptacle: 'Fridge' };
    expect(generateHouse({ seed: 1, about }).task).toMatchObject(about);
    expect(() => generateHouse({ seed: 1, about: { object: 'Apple', receptacle: 'Sofa' } })).toThrow(
      'no house has such a task',
    );
    expect(() => generateHouse({ seed: 0.5 })).toThrow('the seed must be a whole number');
  });

  it('may need a fact that only a person knows, and that the hint states', () => {
    for (let seed = 0; seed < 5; seed++) {
      const house = generateHouse({ seed, asks: true });
      const [, object, receptacle] = /^(\w+ \d+) goes into (\w+ \d+)$/.exec(house.hint!)!;
      const game = new Household(house);
      const first = game.turn().observation;
      expect(first).toContain(`Your task is to: put the right ${object!.split(' ')[0]} in the right drawer.`);
      // Trying each object in each drawer takes more commands than a game has.
      const drawers = first.match(/drawer \d+/g)!.length;
      const objects = house.statics.filter(
        ([name, , type]) => name === 'objecttype' && type === `${object!.split(' ')[0]}type`,
      );
      expect(2 * drawers * objects.length).toBeGreaterThan(75);
      const plan = oraclePlan(house)!;
      expect(plan.at(-1)).toBe(`move ${object} to ${receptacle}`);
    }
  });

  it('are the same game after export and import', () => {
    for (let seed = 0; seed < 6; seed++) {
      const house = generateHouse({ seed, wording: seed % 2 ? 'old' : 'current' });
      const files = gameFiles(house);
      const back = readGame(house.id, files['game.tw-pddl']!, files['traj_data.json']!);
      expect(back.task).toEqual(house.task);
      const [one, two] = [new Household(house), new Household(back)];
      expect(two.turn()).toEqual(one.turn());
      for (const command of oraclePlan(house)!) expect(two.step(command)).toEqual(one.step(command));
      expect([two.turn().won, two.identity()]).toEqual([true, one.identity()]);
    }
  });
});
