/** The answer of a world to a command. */
export interface WorldTurn {
  readonly observation: string;
  /** The commands that the world would accept; null if it does not list them. */
  readonly admissible: readonly string[] | null;
  /** The number of commands since the reset, refused ones included. */
  readonly steps: number;
  readonly done: boolean;
  readonly won: boolean;
  readonly score: number;
  readonly maxScore: number;
  /**
   * A person's description of the task; the goal line in the first observation may be worded differently. Empty if
   * none.
   */
  readonly task: string;
  readonly taskType: string;
  /** Names the game, so that it can be started again; null if the world cannot do that. */
  readonly game: string | null;
}

/** Chooses a game: by its name, or by a seed. Without both the world chooses. */
export interface GameChoice {
  readonly game?: string;
  readonly seed?: number;
}

/**
 * The reasons for which a world could not fulfil a request:
 * - `unreachable`: nobody answers; the command may have been played.
 * - `no-game`: no game was started since the world began to run.
 * - `game-over`: the game is done.
 * - `no-such-game`: the world does not have the chosen game.
 * - `invalid-answer`: the answer does not follow this contract.
 */
type WorldErrorCode = 'unreachable' | 'no-game' | 'game-over' | 'no-such-game' | 'invalid-answer';

/** Thrown if a world could not fulfil a request. `code` is stable; the message names the world and the remedy. */
export class WorldError extends Error {
  readonly code: WorldErrorCode;
  constructor(code: WorldErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WorldError';
    this.code = code;
  }
}

/**
 * Port of text worlds with one game at a time. `world/household-environment.ts` is the reference; every implementation
 * must pass `test/contracts/environment.ts`. All methods throw {@link WorldError}.
 */
export interface WorldEnvironment {
  readonly name: string;
  /** Starts a game. Errors: `no-such-game`. */
  reset(choice?: GameChoice): Promise<WorldTurn>;
  /** Plays one command; a refusal is an observation, not an error. Errors: `no-game`, `game-over`. */
  step(command: string): Promise<WorldTurn>;
  /** The present turn, without playing; null if no game was started. */
  state(): Promise<WorldTurn | null>;
  /** True if the world still has its game after a connection was lost. */
  readonly keepsGames: boolean;
  /** Frees the connection. Idempotent. */
  close(): Promise<void>;
}
