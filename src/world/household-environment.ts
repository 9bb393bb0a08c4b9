import { type GameChoice, type WorldEnvironment, WorldError, type WorldTurn } from '../ports/world-environment.ts';
import { generateHouse, type HouseOptions, houseOptionsFromId } from './generate-house.ts';
import type { House } from './house.ts';
import { Household } from './household.ts';

export interface HouseChoice extends Omit<HouseOptions, 'seed'> {
  /** The seed of the first game. A reset without a game and a seed takes the next number. Default 1. */
  readonly seed?: number;
  /** Houses from files. If there are any, a reset without a game and a seed starts the next of them. */
  readonly houses?: readonly House[];
}

/** The household as a world: each reset starts a game in a house. */
export class HouseholdEnvironment implements WorldEnvironment {
  readonly name = 'household';
  readonly keepsGames = true;
  readonly #choice: HouseChoice;
  #resets = 0;
  #game: Household | null = null;

  constructor(choice: HouseChoice = {}) {
    this.#choice = choice;
  }

  /** The present game; null before the first reset. */
  get game(): Household | null {
    return this.#game;
  }

  async reset(choice: GameChoice = {}): Promise<WorldTurn> {
    this.#game = new Household(this.#houseFor(choice));
    return turnOf(this.#game);
  }

  async step(command: string): Promise<WorldTurn> {
    if (!this.#game) throw new WorldError('no-game', 'no game is running; reset the world first');
    if (this.#game.turn().done) throw new WorldError('game-over', 'the game is over; reset the world for a new one');
    this.#game.step(command);
    return turnOf(this.#game);
  }

  async state(): Promise<WorldTurn | null> {
    return this.#game && turnOf(this.#game);
  }

  async close(): Promise<void> {}

  #houseFor({ game, seed }: GameChoice): House {
    const { seed: first = 1, houses = [], ...rest } = this.#choice;
    if (game !== undefined) {
      const house = houses.find(({ id }) => id === game);
      if (house) return house;
      const options = houseOptionsFromId(game);
      if (!options) throw new WorldError('no-such-game', `no game is named ${JSON.stringify(game)}`);
      return generateSolvable(options);
    }
    const number = this.#resets++;
    if (seed === undefined && houses.length > 0) return houses[number % houses.length]!;
    return generateSolvable({ ...rest, seed: seed ?? first + number });
  }
}

function generateSolvable(options: HouseOptions): House {
  try {
    return generateHouse(options);
  } catch (error) {
    throw new WorldError('no-such-game', (error as Error).message);
  }
}

function turnOf(game: Household): WorldTurn {
  const { observation, admissible, steps, done, won } = game.turn();
  const { id, task } = game.house;
  const score = won ? 1 : 0;
  const about = { task: task.description, taskType: task.type, game: id };
  return { observation, admissible, steps, done, won, score, maxScore: 1, ...about };
}
