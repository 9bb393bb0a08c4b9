import { WorldError, type WorldTurn } from '../../ports/world-environment.ts';
import { houseOptionsFromId } from '../generate-house.ts';
import { type HouseChoice, HouseholdEnvironment } from '../household-environment.ts';

const text = (description: string) => ({ type: 'string', description });

export const OPENENV_SCHEMAS = {
  action: {
    type: 'object',
    title: 'HouseholdAction',
    additionalProperties: false,
    properties: { metadata: { type: 'object' }, command: text('A command, such as: go to fridge 1') },
    required: ['command'],
  },
  observation: {
    type: 'object',
    title: 'HouseholdObservation',
    properties: {
      text: text('The text that the agent sees.'),
      admissible_commands: { type: 'array', items: { type: 'string' } },
      task: text("A person's description of the task."),
      task_type: text('One of the six task types.'),
      won: { type: 'boolean' },
      score: { type: 'number' },
      max_score: { type: 'number' },
      gamefile: text('The id of the game; a reset with it as episode_id starts the game again.'),
    },
  },
  state: { type: 'object', properties: { episode_id: { type: 'string' }, step_count: { type: 'integer' } } },
};

interface Answer {
  readonly type: 'observation' | 'state' | 'error';
  readonly data: object;
}

const failed = (code: string, message: string): Answer => ({ type: 'error', data: { message, code } });

/** One game of OpenEnv: answers the messages `reset`, `step`, `state` and `close`. */
export class OpenEnvGame {
  readonly #world: HouseholdEnvironment;

  constructor(choice: HouseChoice) {
    this.#world = new HouseholdEnvironment(choice);
  }

  async answerText(message: string): Promise<Answer | null> {
    let value: unknown;
    try {
      value = JSON.parse(message);
    } catch (error) {
      return failed('INVALID_JSON', `not JSON: ${(error as Error).message}`);
    }
    const { type, data } = (value ?? {}) as { readonly type?: unknown; readonly data?: unknown };
    return type === 'close' ? null : this.answer({ type, data });
  }

  async answer({ type, data = {} }: { readonly type?: unknown; readonly data?: unknown }): Promise<Answer> {
    if (typeof data !== 'object' || data === null) return failed('VALIDATION_ERROR', 'data must be an object');
    const fields = data as { readonly [key: string]: unknown };
    try {
      switch (type) {
        case 'reset':
          return await this.#reset(fields);
        case 'step':
          return await this.#step(fields);
        case 'state': {
          const turn = await this.#world.state();
          return { type: 'state', data: { episode_id: turn?.game ?? null, step_count: turn?.steps ?? 0 } };
        }
        default:
          return failed('UNKNOWN_TYPE', `there is no message of type ${JSON.stringify(type)}`);
      }
    } catch (error) {
      if (!(error instanceof WorldError)) throw error;
      return failed('EXECUTION_ERROR', error.message);
    }
  }

  async #reset({ seed, episode_id: episode }: { readonly [key: string]: unknown }): Promise<Answer> {
    if (seed !== undefined && seed !== null && !(Number.isSafeInteger(seed) && (seed as number) >= 0))
      return failed('VALIDATION_ERROR', 'seed must be a whole number of at least 0');
    // An episode id that this server issued starts the same game again. Any other id is only a name.
    const game = typeof episode === 'string' && houseOptionsFromId(episode) ? { game: episode } : {};
    return observationOf(await this.#world.reset({ ...game, ...(typeof seed === 'number' ? { seed } : {}) }));
  }

  async #step({ command, metadata: _, ...rest }: { readonly [key: string]: unknown }): Promise<Answer> {
    if (typeof command !== 'string') return failed('VALIDATION_ERROR', 'command must be a text');
    if (Object.keys(rest).length) return failed('VALIDATION_ERROR', `unknown fields: ${Object.keys(rest).join(', ')}`);
    // An environment that was not reset starts with its first game.
    if (!(await this.#world.state())) await this.#world.reset();
    return observationOf(await this.#world.step(command));
  }
}

function observationOf(turn: WorldTurn): Answer {
  const { observation, admissible, task, taskType, won, score, maxScore, game, done, steps } = turn;
  return {
    type: 'observation',
    data: {
      observation: {
        text: observation,
        admissible_commands: admissible,
        task,
        task_type: taskType,
        won,
        score,
        max_score: maxScore,
        gamefile: game,
      },
      reward: steps === 0 ? null : score,
      done,
    },
  };
}
