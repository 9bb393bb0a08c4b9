import { upgradeWebSocket } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isObject, parseJsonMessage } from '../../base/json.ts';
import { WorldError, type WorldTurn } from '../../ports/world-environment.ts';
import { type HouseChoice, HouseholdEnvironment } from '../household-environment.ts';
import { OPENENV_SCHEMAS, OpenEnvGame } from './openenv.ts';

/** Maximum number of bytes of a request, and of simultaneous WebSocket games. */
const MAX_BYTES = 64 << 10;
const MAX_GAMES = 64;

interface WorldAppOptions {
  readonly choice: HouseChoice;
  /** The names under which the server may be called, with the port; other hosts are refused. */
  readonly hosts: () => readonly string[];
  readonly onQuit: () => void;
  /** After how long without a message a WebSocket game ends, in milliseconds. Default 10 minutes. */
  readonly idle?: number;
}

/** The answer to `GET /state` before the first reset. */
const NO_GAME: WorldTurn = {
  observation: '',
  admissible: [],
  steps: 0,
  done: false,
  won: false,
  score: 0,
  maxScore: 1,
  task: '',
  taskType: '',
  game: null,
};

/** A turn in the form of the ALFWorld server. */
const stateOf = (turn: WorldTurn) => ({
  observation: turn.observation,
  task: turn.task,
  task_type: turn.taskType,
  step: turn.steps,
  done: turn.done,
  won: turn.won,
  score: turn.score,
  max_score: turn.maxScore,
  problem_dir: turn.game,
  gamefile: turn.game,
  admissible_commands: turn.admissible,
});

/** A household over HTTP: one ALFWorld game for all clients, and one OpenEnv game for each WebSocket. */
export function createWorldApp({ choice, hosts, onQuit, idle = 600_000 }: WorldAppOptions): Hono {
  const world = new HouseholdEnvironment(choice);
  const app = new Hono();
  // Refuses browser requests under other host names, so that no web page reaches this server (DNS rebinding).
  app.use(async (c, next) => {
    const names = [c.req.header('host') ?? '', c.req.header('origin')?.replace(/^https?:\/\//, '')];
    const foreign = names.find((name) => name !== undefined && !hosts().includes(name));
    if (foreign !== undefined) return c.json({ error: `this server is not ${foreign}; call it as ${hosts()[0]}` }, 403);
    await next();
  });
  app.use(bodyLimit({ maxSize: MAX_BYTES, onError: (c) => c.json({ error: `more than ${MAX_BYTES} bytes` }, 413) }));

  app.post('/reset', async (c) => {
    const body = await bodyOf(c);
    if (body === null) return c.json({ error: 'the body is not a JSON object' }, 400);
    const { seed, gamefile, problem_dir: folder } = body;
    if (seed !== undefined && !Number.isSafeInteger(seed)) return c.json({ error: 'seed must be an integer' }, 400);
    const game = gamefile ?? folder;
    try {
      const named = typeof game === 'string' ? { game } : {};
      return c.json(stateOf(await world.reset({ ...named, ...(seed === undefined ? {} : { seed: seed as number }) })));
    } catch (error) {
      if (!(error instanceof WorldError)) throw error;
      return gamefile === undefined
        ? c.json({ error: error.message, ...(folder === undefined ? {} : { problem_dir: folder }) }, 500)
        : c.json({ error: `gamefile not found: ${gamefile}` }, 400);
    }
  });
  app.post('/step', async (c) => {
    const body = await bodyOf(c);
    if (body === null) return c.json({ error: 'the body is not a JSON object' }, 400);
    const { action = 'look' } = body;
    if (typeof action !== 'string') return c.json({ error: 'action must be a text' }, 400);
    const present = await world.state();
    if (!present) return c.json({ error: 'No game running. POST /reset first.' }, 400);
    if (present.done) return c.json({ error: 'Game is over. POST /reset for a new one.', ...stateOf(present) }, 400);
    return c.json(stateOf(await world.step(action)));
  });
  app.get('/state', async (c) => c.json(stateOf((await world.state()) ?? NO_GAME)));
  app.post('/quit', (c) => {
    setTimeout(onQuit, 50);
    return c.json({ message: 'the server ends' });
  });

  const open = { games: 0 };
  for (const at of ['', '/openenv']) mountOpenEnv(app, at, { choice, idle, open });
  app.notFound((c) => c.json({ error: `Unknown: ${c.req.path}` }, 404));
  app.onError((_, c) => c.json({ error: 'the world failed' }, 500));
  return app;
}

/** The JSON object in the body of a request; empty for an empty body; null for anything else. */
async function bodyOf(c: Context): Promise<{ readonly [key: string]: unknown } | null> {
  const text = await c.req.text();
  if (text.trim() === '') return {};
  const value: unknown = parseJsonMessage(text);
  return isObject(value) ? { ...value } : null;
}

/** Adds OpenEnv's routes under `at`. At the root, `/reset`, `/step` and `/state` belong to the ALFWorld contract. */
function mountOpenEnv(
  app: Hono,
  at: string,
  { choice, idle, open }: { readonly choice: HouseChoice; readonly idle: number; readonly open: { games: number } },
): void {
  app.get(`${at}/health`, (c) => c.json({ status: 'healthy' }));
  app.get(`${at}/schema`, (c) => c.json(OPENENV_SCHEMAS));
  app.get(`${at}/metadata`, (c) =>
    c.json({ name: 'household', description: 'A text household with six kinds of tasks, in the words of ALFWorld.' }),
  );
  if (at !== '') {
    const once = (type: 'reset' | 'step') => async (c: Context) => {
      const body = await bodyOf(c);
      const game = new OpenEnvGame(choice);
      const { type: kind, data } = await game.answer({ type, data: type === 'step' ? body?.['action'] : body });
      return kind === 'error' ? c.json({ detail: data }, 422) : c.json(data);
    };
    app.post(`${at}/reset`, once('reset'));
    app.post(`${at}/step`, once('step'));
    app.get(`${at}/state`, async (c) => c.json((await new OpenEnvGame(choice).answer({ type: 'state' })).data));
  }
  app.get(
    `${at}/ws`,
    upgradeWebSocket(() => {
      const game = new OpenEnvGame(choice);
      let timer: NodeJS.Timeout | undefined;
      let isCounted = false;
      let last: Promise<void> = Promise.resolve();
      const end = () => {
        clearTimeout(timer);
        if (isCounted) open.games--;
        isCounted = false;
      };
      return {
        onOpen(_, socket) {
          const send = (message: object) => socket.send(JSON.stringify(message));
          if (open.games >= MAX_GAMES) {
            send({ type: 'error', data: { message: `${MAX_GAMES} games are open`, code: 'CAPACITY_REACHED' } });
            socket.close();
            return;
          }
          open.games++;
          isCounted = true;
          timer = setTimeout(() => socket.close(), idle);
        },
        onMessage({ data }, socket) {
          if (!isCounted) return;
          timer?.refresh();
          const text = typeof data === 'string' ? data : '';
          if (text.length > MAX_BYTES) return socket.close();
          last = last
            .then(async () => {
              const answer = await game.answerText(text);
              if (answer === null) socket.close();
              else socket.send(JSON.stringify(answer));
            })
            .catch(() => socket.close(1011, 'the world failed'));
        },
        onClose: end,
        onError: end,
      };
    }),
  );
}
