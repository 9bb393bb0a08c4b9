import { z } from 'zod';
import { readResponseText, requestProblem } from '../../base/http.ts';
import { parseJson } from '../../base/json.ts';
import { type GameChoice, type WorldEnvironment, WorldError, type WorldTurn } from '../../ports/world-environment.ts';

const MAX_BYTES = 1 << 20;

/** The state in each answer of the server. Older servers name no games. */
const State = z.looseObject({
  observation: z.string(),
  task: z.string().default(''),
  task_type: z.string().default(''),
  step: z.number().int().nonnegative(),
  done: z.boolean(),
  won: z.boolean(),
  score: z.number().nullish(),
  max_score: z.number().nullish(),
  problem_dir: z.string().nullish(),
  gamefile: z.string().nullish(),
  admissible_commands: z.array(z.string()),
});

/**
 * A client of the ALFWorld server over HTTP: `POST /reset`, `POST /step`, `GET /state`. The server has one game for all
 * its clients. Both versions of the server are known; the older one chooses games at random.
 */
export class AlfworldClient implements WorldEnvironment {
  readonly name: string;
  readonly keepsGames = true;
  readonly #base: URL;
  readonly #milliseconds: number;

  /** @param milliseconds time limit of one call */
  constructor(base: string, { milliseconds = 30_000 }: { readonly milliseconds?: number } = {}) {
    this.#base = new URL(base.endsWith('/') ? base : `${base}/`);
    this.#milliseconds = milliseconds;
    this.name = this.#base.origin;
  }

  async reset({ game, seed }: GameChoice = {}): Promise<WorldTurn> {
    const body = game === undefined ? (seed === undefined ? {} : { seed }) : { gamefile: game };
    const turn = await this.#call('reset', body);
    if (game !== undefined && turn.game !== game)
      throw new WorldError('no-such-game', `${this.name} can choose no game; it started ${turn.game ?? 'another one'}`);
    return turn;
  }

  step(command: string): Promise<WorldTurn> {
    return this.#call('step', { action: command });
  }

  async state(): Promise<WorldTurn | null> {
    // The server may have closed an idle connection; repeating the request changes nothing.
    const turn = await this.#call('state').catch((error: WorldError) => {
      if (error.code === 'unreachable') return this.#call('state');
      throw error;
    });
    return turn.steps === 0 && turn.observation === '' ? null : turn;
  }

  async close(): Promise<void> {}

  async #call(path: string, body?: object): Promise<WorldTurn> {
    const [status, text] = await this.#fetch(path, body);
    const answer = parseJson(text);
    const error = z.looseObject({ error: z.string() }).safeParse(answer);
    if (error.success) throw new WorldError(codeOf(error.data.error, path), `${this.name}: ${error.data.error}`);
    const state = State.safeParse(answer);
    if (status === 200 && state.success) return turnOf(state.data);
    const why = state.success
      ? `status ${status}`
      : `${state.error.issues[0]!.path.join('.') || 'the body'}: not as expected`;
    throw new WorldError('invalid-answer', `${this.name}/${path} does not answer as an ALFWorld server: ${why}`);
  }

  async #fetch(path: string, body: object | undefined): Promise<readonly [number, string]> {
    try {
      const response = await fetch(new URL(path, this.#base), {
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
        headers: { 'content-type': 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(this.#milliseconds),
      });
      const tooLarge = () => new WorldError('invalid-answer', `the answer has more than ${MAX_BYTES} bytes`);
      return [response.status, await readResponseText(MAX_BYTES, response, tooLarge)];
    } catch (error) {
      if (error instanceof WorldError) throw error;
      throw new WorldError('unreachable', `${this.name} does not answer: ${requestProblem(error)}`, { cause: error });
    }
  }
}

/** The error code for a sentence of the server, which sends no codes. */
function codeOf(sentence: string, path: string) {
  if (sentence.startsWith('No game running')) return 'no-game';
  if (sentence.startsWith('Game is over')) return 'game-over';
  return path === 'reset' ? 'no-such-game' : 'invalid-answer';
}

function turnOf(state: z.infer<typeof State>): WorldTurn {
  const { observation, done, won, task, score, max_score, admissible_commands } = state;
  return {
    observation,
    admissible: admissible_commands,
    steps: state.step,
    done,
    won,
    score: score ?? 0,
    maxScore: max_score ?? 1,
    task,
    taskType: state.task_type,
    game: state.gamefile ?? state.problem_dir ?? null,
  };
}
