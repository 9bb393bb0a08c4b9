import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorldEnvironment } from '../../src/ports/world-environment.ts';
import { identityOfTurn, WorldGame } from '../../src/tools/world/world-game.ts';
import { generateHouse, houseOptionsFromId } from '../../src/world/generate-house.ts';
import { Household } from '../../src/world/household.ts';
import { oraclePlan } from '../../src/world/oracle.ts';

export interface WorldUnderTest {
  readonly world: WorldEnvironment;
  /** Kills the world and starts it again at the same address. */
  readonly restart: () => Promise<void>;
  readonly cleanup: () => Promise<void>;
}

/**
 * The contract of every world whose games are hopgate's houses, seed 1 first. `named`: it can start a game by its name.
 */
export function describeEnvironment(
  name: string,
  make: () => Promise<WorldUnderTest>,
  { named = true }: { readonly named?: boolean } = {},
): void {
  describe(`environment: ${name}`, () => {
    let under: WorldUnderTest;
    let world: WorldEnvironment;
    beforeEach(async () => {
      under = await make();
      world = under.world;
    });
    afterEach(async () => {
      await world.close();
      await under.cleanup();
    });

    it('has no game before a reset', async () => {
      expect(await world.state()).toBeNull();
      await expect(world.step('look')).rejects.toMatchObject({ name: 'WorldError', code: 'no-game' });
    });

    it('plays a house to its end, turn by turn like the house itself', async () => {
      const first = await world.reset({ seed: 5 });
      const house = generateHouse({ seed: 5 });
      const twin = new Household(house);
      expect(first).toMatchObject({ steps: 0, done: false, won: false, score: 0, maxScore: 1 });
      expect([first.taskType, first.task]).toEqual([house.task.type, house.task.description]);
      expect([first.observation, first.admissible]).toEqual([twin.turn().observation, twin.turn().admissible]);
      for (const command of ['fly', ...oraclePlan(house)!]) {
        const turn = await world.step(command);
        expect(turn).toMatchObject(twin.step(command));
        expect(await world.state()).toEqual(turn);
      }
      expect(await world.state()).toMatchObject({ done: true, won: true, score: 1 });
      await expect(world.step('look')).rejects.toMatchObject({ code: 'game-over' });
      expect(await world.reset()).toMatchObject({ steps: 0, done: false });
    });

    it('ends at step 100 without a win', async () => {
      await world.reset({ seed: 2 });
      for (let i = 1; i < 100; i++) await world.step('nonsense');
      expect(await world.step('look')).toMatchObject({ steps: 100, done: true, won: false, score: 0 });
      await expect(world.step('look')).rejects.toMatchObject({ code: 'game-over' });
    });

    it('has an identity that each command changes, also a refused one', async () => {
      const identities = [identityOfTurn(await world.reset({ seed: 3 }))];
      for (const command of ['look', 'look', 'nonsense', 'nonsense'])
        identities.push(identityOfTurn(await world.step(command)));
      expect(new Set(identities).size).toBe(5);
    });

    it('continues a saved game in the same state', async () => {
      const game = new WorldGame(world);
      await game.reset({ seed: 4 });
      await game.step('look');
      const saved = JSON.parse(JSON.stringify(game.snapshot()));
      const later = new WorldGame(world);
      expect(await later.resume(saved)).toEqual({ kind: 'resumed' });
      expect(later.snapshot()).toEqual(saved);
    });

    it('does not mistake another game for the saved one', async () => {
      const game = new WorldGame(world);
      await game.reset({ seed: 4 });
      const saved = game.snapshot()!;
      await world.step('look');
      const later = new WorldGame(world);
      expect(await later.resume(saved)).toMatchObject({ kind: 'lost', why: expect.stringContaining('another state') });
      await expect(later.step('look')).rejects.toMatchObject({ code: 'no-game' });
      // The game of the other clients did not change.
      expect(await world.state()).toMatchObject({ steps: 1 });
    });

    it(`after a restart ${named ? 'plays the log again' : 'says that the game is lost'}`, async () => {
      const game = new WorldGame(world);
      const { game: id } = await game.reset({ seed: 6 });
      const plan = oraclePlan(generateHouse(houseOptionsFromId(id ?? 'seed:6')!))!;
      for (const command of plan.slice(0, -1)) await game.step(command);
      const saved = JSON.parse(JSON.stringify(game.snapshot()));
      await under.restart();
      const later = new WorldGame(world);
      const resumption = await later.resume(saved);
      if (named) {
        expect(resumption).toEqual({ kind: 'replayed', steps: plan.length - 1 });
        expect(later.snapshot()).toEqual(saved);
        expect(await later.step(plan.at(-1)!)).toMatchObject({ won: true });
      } else
        expect(resumption).toMatchObject({ kind: 'lost', why: expect.stringContaining('cannot choose the same game') });
    });

    it('says that a game is lost if its log has other answers', async () => {
      if (!named) return;
      const game = new WorldGame(world);
      await game.reset({ seed: 6 });
      await game.step('look');
      const saved = { ...game.snapshot()!, log: [['inventory', '0000000000000000']] as const };
      await under.restart();
      expect(await new WorldGame(world).resume(saved)).toEqual({
        kind: 'lost',
        why: 'the world has started again, and command 1, "inventory", had another answer than before',
      });
    });

    it('refuses a game that it does not have', async () => {
      await expect(world.reset({ game: '/etc/passwd' })).rejects.toMatchObject({ code: 'no-such-game' });
    });
  });
}
