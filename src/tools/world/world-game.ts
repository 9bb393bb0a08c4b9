import { type GameChoice, type WorldEnvironment, WorldError, type WorldTurn } from '../../ports/world-environment.ts';
import { sha256Hex } from '../content-effect.ts';

/** A command that was played, and the first 16 digits of its observation's sha256. */
type PlayedCommand = readonly [command: string, observation: string];

/** A game as plain JSON: enough to check that a world still has it, and to play it again. */
export interface SavedWorldGame {
  readonly game: string | null;
  readonly log: readonly PlayedCommand[];
  readonly turn: WorldTurn;
  /** Sha256 (hex) of the turn, see {@link identityOfTurn}. */
  readonly identity: string;
}

/**
 * The result of continuing a saved game. It is `resumed` if the world was in exactly this state; `replayed` if the
 * world had lost the game, and a new game gave the same observations to the commands of its log; `lost` if the game
 * could be neither resumed nor replayed.
 */
type Resumption =
  | { readonly kind: 'resumed' }
  | { readonly kind: 'replayed'; readonly steps: number }
  | { readonly kind: 'lost'; readonly why: string };

/** Sha256 (hex) of what a turn shows: the game, the number of commands, the observation and the admissible commands. */
export const identityOfTurn = ({ game, steps, observation, admissible }: WorldTurn): string =>
  sha256Hex(JSON.stringify([game, steps, observation, admissible]));

const shortHash = (observation: string): string => sha256Hex(observation).slice(0, 16);

export class WorldGame {
  readonly #world: WorldEnvironment;
  #log: PlayedCommand[] = [];
  #turn: WorldTurn | null = null;

  constructor(world: WorldEnvironment) {
    this.#world = world;
  }

  /** The last turn; null before `reset` or `resume`. */
  get turn(): WorldTurn | null {
    return this.#turn;
  }

  /** Starts a game. @throws WorldError */
  async reset(choice?: GameChoice): Promise<WorldTurn> {
    this.#turn = null;
    const turn = await this.#world.reset(choice);
    this.#log = [];
    this.#turn = turn;
    return turn;
  }

  /** Plays one command. @throws WorldError */
  async step(command: string): Promise<WorldTurn> {
    if (!this.#turn) throw new WorldError('no-game', 'no game is running; reset the world first');
    const turn = await this.#world.step(command);
    this.#log.push([command, shortHash(turn.observation)]);
    this.#turn = turn;
    return turn;
  }

  /** The game as JSON; null if none runs. */
  snapshot(): SavedWorldGame | null {
    const turn = this.#turn;
    return turn && { game: turn.game, log: [...this.#log], turn, identity: identityOfTurn(turn) };
  }

  /**
   * Continues a saved game after comparing the world's state. Resets the world only if it has no game. @throws
   * WorldError
   */
  async resume(saved: SavedWorldGame): Promise<Resumption> {
    this.#turn = null;
    const present = await this.#world.state();
    if (present && identityOfTurn(present) === saved.identity) {
      this.#adopt(saved, present);
      return { kind: 'resumed' };
    }
    if (present)
      return {
        kind: 'lost',
        why: `the world is in another state: ${present.game ?? 'an unnamed game'} after ${present.steps} commands, not ${saved.game ?? 'an unnamed game'} after ${saved.turn.steps}`,
      };
    if (saved.game === null)
      return { kind: 'lost', why: 'the world has started again, and it cannot choose the same game' };
    return this.#replay(saved, saved.game);
  }

  async #replay(saved: SavedWorldGame, game: string): Promise<Resumption> {
    const started = 'the world has started again';
    let turn: WorldTurn;
    try {
      turn = await this.#world.reset({ game });
      for (const [index, [command, observation]] of saved.log.entries()) {
        turn = await this.#world.step(command);
        if (shortHash(turn.observation) !== observation)
          return {
            kind: 'lost',
            why: `${started}, and command ${index + 1}, "${command}", had another answer than before`,
          };
      }
    } catch (error) {
      if (!(error instanceof WorldError) || error.code === 'unreachable') throw error;
      return { kind: 'lost', why: `${started}: ${error.message}` };
    }
    if (identityOfTurn(turn) !== saved.identity)
      return { kind: 'lost', why: `${started}, and the same commands led to another state` };
    this.#adopt(saved, turn);
    return { kind: 'replayed', steps: saved.log.length };
  }

  #adopt(saved: SavedWorldGame, turn: WorldTurn): void {
    this.#log = [...saved.log];
    this.#turn = turn;
  }
}

/** The object in the agent's hands after an observation, or null; worlds do not state this in each turn. */
export function carriedObjectsAfter(carried: string | null, observation: string): string | null {
  const taken = /^You pick up the (.+) from the [^.]+\.$/.exec(observation);
  if (taken) return taken[1]!;
  if (/^You (?:move the .+ to the|put the .+ in\/on the) [^.]+\.$/.test(observation)) return null;
  if (observation === 'You are not carrying anything.') return null;
  return /^You are carrying: an? (.+)\.$/.exec(observation)?.[1] ?? carried;
}
