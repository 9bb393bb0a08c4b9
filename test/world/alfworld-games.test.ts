import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadHouse } from '../../src/world/game-file.ts';
import { playerNamesOfObjects } from '../../src/world/house.ts';
import { Household } from '../../src/world/household.ts';
import { oraclePlan } from '../../src/world/oracle.ts';

/** A folder with ALFWorld's games (`json_2.1.1` of its release), which are too large for this repository. */
const GAMES = process.env['ALFWORLD_GAMES'] ?? '';
const games = GAMES === '' ? [] : globSync(join(GAMES, '**/game.tw-pddl')).sort();
if (games.length === 0) console.log("ALFWorld's own games are not played: name their folder by ALFWORLD_GAMES.");

describe.skipIf(games.length === 0)("each of ALFWorld's own games", () => {
  it('is won by its walkthrough and by the oracle, both with admissible commands only', async () => {
    const problems: string[] = [];
    for (const path of games) {
      const house = await loadHouse(path);
      const { walkthrough = [] } = JSON.parse(readFileSync(path, 'utf8')) as { readonly walkthrough?: string[] };
      const names = playerNamesOfObjects([...house.statics, ...house.fluents].flatMap(([, ...ids]) => ids as string[]));
      // Some files have ids instead of names, and the older wording.
      const commands = walkthrough.map((command) =>
        command.replace(/\w+_bar_\w+/g, (id) => names.get(id) ?? id).replace(/^put (.+) in\/on (.+)$/, 'move $1 to $2'),
      );
      for (const plan of [commands, oraclePlan(house) ?? []]) {
        if (plan === commands && walkthrough.length === 0) continue;
        const game = new Household(house);
        for (const command of plan) {
          if (!game.turn().admissible.includes(command)) problems.push(`${path}: ${command} is not admissible`);
          game.step(command);
        }
        if (!game.turn().won) problems.push(`${path}: not won by ${plan.join('; ')}`);
      }
    }
    expect(problems).toEqual([]);
  });
});
