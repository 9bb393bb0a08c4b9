import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { requestProblem } from '../../base/http.ts';
import { parseJson } from '../../base/json.ts';
import { type GameChoice, type WorldEnvironment, WorldError, type WorldTurn } from '../../ports/world-environment.ts';

const Answer = z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()).default({}) });
const Observed = z.looseObject({
  observation: z.record(z.string(), z.unknown()),
  reward: z.number().nullish(),
  done: z.boolean().default(false),
});
const Schema = z.looseObject({ action: z.looseObject({ properties: z.record(z.string(), z.looseObject({})) }) });

/** The fields that may hold the text of an observation, the most likely first. */
const TEXTS = ['text', 'observation', 'message', 'content', 'output', 'response', 'prompt'];

/**
 * A client of an OpenEnv server over its WebSocket. The server keeps the game as long as the connection is open. The
 * command goes into the one text field of the action that `GET /schema` describes.
 */
export class OpenEnvClient implements WorldEnvironment {
  readonly name: string;
  readonly keepsGames = false;
  readonly #base: URL;
  readonly #milliseconds: number;
  #socket: WebSocket | null = null;
  #field: string | null = null;
  #turn: WorldTurn | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(base: string, { milliseconds = 30_000 }: { readonly milliseconds?: number } = {}) {
    this.#base = new URL(base.endsWith('/') ? base : `${base}/`);
    this.#base.protocol = this.#base.protocol.replace('http', 'ws');
    this.#milliseconds = milliseconds;
    this.name = this.#base.origin;
  }

  async reset({ game, seed }: GameChoice = {}): Promise<WorldTurn> {
    const data = { ...(game === undefined ? {} : { episode_id: game }), ...(seed === undefined ? {} : { seed }) };
    this.#turn = null;
    const turn = await this.#ask('reset', data);
    if (game !== undefined && turn.game !== null && turn.game !== game)
      throw new WorldError('no-such-game', `${this.name} started ${turn.game} instead of ${game}`);
    this.#turn = { ...turn, game: turn.game ?? game ?? null };
    return this.#turn;
  }

  async step(command: string): Promise<WorldTurn> {
    if (!this.#turn) throw new WorldError('no-game', `${this.name}: no game is running; reset the world first`);
    if (this.#turn.done)
      throw new WorldError('game-over', `${this.name}: the game is over; reset the world for a new one`);
    this.#field ??= await this.#actionField();
    this.#turn = await this.#ask('step', { [this.#field]: command });
    return this.#turn;
  }

  async state(): Promise<WorldTurn | null> {
    if (!this.#turn || this.#socket?.readyState !== WebSocket.OPEN) return null;
    try {
      // The game exists as long as the connection, so any answer proves that it exists.
      await this.#queued(() => this.#exchange({ type: 'state' }));
      return this.#turn;
    } catch {
      this.#turn = null;
      return null;
    }
  }

  async close(): Promise<void> {
    this.#socket?.close();
    this.#socket = null;
  }

  async #actionField(): Promise<string> {
    const url = new URL('schema', this.#base);
    url.protocol = url.protocol.replace('ws', 'http');
    const answer = await fetch(url, { signal: AbortSignal.timeout(this.#milliseconds) })
      .then((response) => response.json())
      .catch((error: Error) => {
        throw new WorldError('unreachable', `${url.href}: ${requestProblem(error)}`, { cause: error });
      });
    const schema = Schema.safeParse(answer);
    const fields = schema.success ? Object.entries(schema.data.action.properties) : [];
    const texts = fields.filter(([name, { type }]) => name !== 'metadata' && type === 'string').map(([name]) => name);
    if (texts.length === 1) return texts[0]!;
    throw new WorldError(
      'invalid-answer',
      `${this.name}: an action has ${texts.length ? `the text fields ${texts.join(', ')}` : 'no text field'}; a command needs exactly one`,
    );
  }

  /** Sends one request and reads its answer. A request waits for the previous ones, because answers have no ids. */
  #ask(type: 'reset' | 'step', data: object): Promise<WorldTurn> {
    return this.#queued(async () => this.#read(await this.#exchange({ type, data }), type));
  }

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #exchange(message: object): Promise<string> {
    const socket = await this.#connect();
    return new Promise<string>((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        socket.off('message', onMessage).off('close', onClose).off('error', onClose);
        act();
      };
      const lost = (why: string) =>
        settle(() => {
          this.#socket = null;
          socket.terminate();
          reject(new WorldError('unreachable', `${this.name}: ${why}; its game is lost`));
        });
      const onMessage = (text: Buffer) => settle(() => resolve(text.toString()));
      const onClose = () => lost('the connection ended');
      const timer = setTimeout(() => lost(`no answer within ${this.#milliseconds} ms`), this.#milliseconds);
      socket.on('message', onMessage).on('close', onClose).on('error', onClose);
      socket.send(JSON.stringify(message));
    });
  }

  async #connect(): Promise<WebSocket> {
    if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket;
    const url = new URL('ws', this.#base);
    const socket = new WebSocket(url, { handshakeTimeout: this.#milliseconds, maxPayload: 1 << 20 });
    await once(socket, 'open').catch((error: Error) => {
      throw new WorldError('unreachable', `${url.href}: ${requestProblem(error)}`);
    });
    socket.on('error', () => undefined);
    this.#socket = socket;
    return socket;
  }

  #read(text: string, type: 'reset' | 'step'): WorldTurn {
    const answer = Answer.safeParse(parseJson(text));
    if (answer.success && answer.data.type === 'error') {
      const { message = 'an error without a message' } = answer.data.data as { readonly message?: string };
      throw new WorldError(type === 'reset' ? 'no-such-game' : 'invalid-answer', `${this.name}: ${message}`);
    }
    const observed = Observed.safeParse(answer.success && answer.data.type === 'observation' ? answer.data.data : null);
    if (!observed.success)
      throw new WorldError('invalid-answer', `${this.name} does not answer ${type} with an observation`);
    return this.#turnOf(observed.data, type);
  }

  #turnOf({ observation, reward, done }: z.infer<typeof Observed>, type: 'reset' | 'step'): WorldTurn {
    const text = (key: string) => (typeof observation[key] === 'string' ? observation[key] : null);
    const list = observation['admissible_commands'];
    const before = type === 'step' ? this.#turn : null;
    const score = typeof observation['score'] === 'number' ? observation['score'] : (reward ?? before?.score ?? 0);
    const maxScore = typeof observation['max_score'] === 'number' ? observation['max_score'] : 1;
    return {
      observation: TEXTS.map(text).find((found) => found !== null) ?? JSON.stringify(observation),
      admissible: Array.isArray(list) ? list.filter((item) => typeof item === 'string') : null,
      steps: before ? before.steps + 1 : 0,
      done,
      won: typeof observation['won'] === 'boolean' ? observation['won'] : done && score >= maxScore,
      score,
      maxScore,
      task: text('task') ?? before?.task ?? '',
      taskType: text('task_type') ?? before?.taskType ?? '',
      game: text('gamefile') ?? before?.game ?? null,
    };
  }
}
