import { getOrInsert } from '../../base/get-or-insert.ts';
import { asJson, type Fields, fieldsOf, isObject, type Json } from '../../base/json.ts';
import { judgeUrl } from '../../gate/scope/judge-url.ts';
import type { ToolBackend, ToolCall, ToolOutcome, ToolReport } from '../../ports/tool-backend.ts';
import { type GameChoice, type WorldEnvironment, WorldError } from '../../ports/world-environment.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import { reportIfAborted } from '../tool-outcomes.ts';
import { AlfworldClient } from './alfworld-client.ts';
import { OpenEnvClient } from './openenv-client.ts';
import { COMMAND_LIST_KINDS, type CommandListKind, renderWorldTurn, wasCommandRefused } from './render-turn.ts';
import { carriedObjectsAfter, type SavedWorldGame, WorldGame } from './world-game.ts';

/** The field of session state that keeps the game; it travels with the session. */
const STATE = 'alfworld-state';
/** Maximum length of a log in the session state; a longer game can be compared, but not played again. */
const MAX_LOG = 24_000;

/** The household in this process, for peripherals whose config names no server. */
export interface LocalWorld {
  readonly open: (settings: Fields) => WorldEnvironment;
  /** The game for a request in words; null if no house has such a task. `seed` chooses one of several. */
  readonly gameFor: (words: string, seed: number) => string | null;
}

interface StoredGame {
  readonly world: string;
  readonly carried: string | null;
  readonly saved: SavedWorldGame;
}

/** Thrown if a command is not played; the message states the reason and the next step for the agent. */
class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The backend of `alfworld-action`: one command in the session's world. The peripheral's config chooses the world
 * (`alfworld-server`: an address of an ALFWorld server, `ws://…` of an OpenEnv server, or none for the household in
 * this process) and `commands` (always, on-refusal, never). Before each command the world's state is compared with the
 * session's.
 */
export function worldBackend(home: LocalWorld): ToolBackend {
  const worlds = new Map<string, WorldEnvironment>();
  const worldOf = (call: ToolCall, settings: Fields): WorldEnvironment => {
    const server = settings['alfworld-server'];
    const address = typeof server === 'string' && server !== 'household' ? server : null;
    const key = `${call.sessionId} ${address ?? 'household'}`;
    return getOrInsert(worlds, key, () => (address === null ? home.open(settings) : clientOf(address, call)));
  };
  return {
    ...LAZY_BACKENDS.environment,
    async run(call) {
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      const settings = call.envelope.settings ?? {};
      try {
        return await play(call, settings, worldOf(call, settings), home);
      } catch (error) {
        if (error instanceof Refusal) return failedReport(error.code, error.message);
        if (error instanceof WorldError) return failedReport(`world-${error.code}`, messageWithRemedy(error));
        throw error;
      }
    },
    async close() {
      for (const world of worlds.values()) await world.close();
      worlds.clear();
    },
  };
}

const failedReport = (code: string, message: string): ToolReport => ({
  outcome: { status: 'failed', code, message },
  effects: [],
});

const messageWithRemedy = ({ code, message }: WorldError): string =>
  ({
    unreachable: `${message}. Start the world ("hopgate world"), then try again: the game continues if it is the same world.`,
    'no-game': message,
    'game-over': `${message}. Leave, or start another game with the argument task.`,
    'no-such-game': message,
    'invalid-answer': `${message}. Check alfworld-server in the peripheral's config.`,
  })[code];

async function play(call: ToolCall, settings: Fields, world: WorldEnvironment, home: LocalWorld): Promise<ToolReport> {
  const { action, task } = call.args as { readonly action: string; readonly task?: string };
  const word = /^\s*(bell|whistle|hop-out)\b/.exec(action)?.[1] as keyof typeof INSTEAD | undefined;
  if (word) throw new Refusal('not-a-command', `The world knows no ${word}. ${INSTEAD[word]}`);
  const game = new WorldGame(world);
  const stored = storedGameIn(call.state?.[STATE]);
  const notices: string[] = [];
  let carried = stored?.carried ?? null;
  let opening: string | undefined;
  let isStarted = false;
  if (stored && task === undefined) {
    if (stored.world !== world.name)
      throw new Refusal(
        'world-lost',
        `Your game is at ${stored.world}, and the config names ${world.name} now. ${START_ANOTHER}`,
      );
    const resumption = await game.resume(stored.saved);
    if (resumption.kind === 'lost')
      throw new Refusal('world-lost', `Your game cannot continue: ${resumption.why}. ${START_ANOTHER}`);
    if (resumption.kind === 'replayed')
      notices.push(
        `The world had lost your game. The game was started again, and your ${resumption.steps} commands had the same answers.`,
      );
  } else {
    const first = await game.reset(choiceOf(task, settings, home));
    carried = null;
    // A new game's first observation is the answer to `look`, so `look` need not be played.
    isStarted = action.trim() === 'look';
    if (!isStarted) opening = first.observation;
  }
  const turn = isStarted ? game.turn! : await game.step(action);
  carried = carriedObjectsAfter(carried, turn.observation);
  const saved = game.snapshot()!;
  const list = commandListOf(settings);
  const text = renderWorldTurn({ turn, carried, list, notices, ...(opening === undefined ? {} : { opening }) });
  const { observation, steps, done, won, score, maxScore } = turn;
  const result = {
    text,
    source: 'ALFWorld',
    action,
    observation,
    refused: wasCommandRefused(turn),
    task: turn.task,
    step: steps,
    done,
    won,
    score,
    'max-score': maxScore,
    inventory: carried,
  };
  return {
    outcome: { status: 'ok', result } satisfies ToolOutcome,
    effects: [],
    observed: { won, score, 'world-steps': steps },
    state: { [STATE]: stateOf({ world: world.name, carried, saved }) },
  };
}

const START_ANOTHER = 'Start another one with the argument task, for example task: "any".';
const INSTEAD = {
  bell: 'Call the tool "bell".',
  whistle: 'Call the tool "whistle".',
  'hop-out': 'Hop to another peripheral.',
} as const;

/** The game for a task in words; if several match, the config's seed chooses one. */
function choiceOf(task: string | undefined, settings: Fields, home: LocalWorld): GameChoice {
  const { seed, game } = settings;
  const number = typeof seed === 'number' ? seed : undefined;
  if (task === undefined || task.trim() === 'any')
    return task !== undefined ? {} : typeof game === 'string' ? { game } : number === undefined ? {} : { seed: number };
  const named = home.gameFor(task, number ?? 1);
  if (named === null)
    throw new Refusal(
      'no-such-house',
      `No house has the task ${JSON.stringify(task)}. Name a thing and a place, such as "put an apple in the fridge".`,
    );
  return { game: named };
}

function commandListOf(settings: Fields): CommandListKind {
  const { commands = 'always' } = settings;
  const list = COMMAND_LIST_KINDS.find((known) => known === commands);
  if (!list)
    throw new Refusal(
      'invalid-config',
      `commands in the peripheral's config must be one of ${COMMAND_LIST_KINDS.join(', ')}.`,
    );
  return list;
}

function clientOf(address: string, call: ToolCall): WorldEnvironment {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^(?:https?|wss?):$/.test(url.protocol))
    throw new Refusal('invalid-config', `alfworld-server in the peripheral's config is not an address: ${address}`);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const decision = isHere ? null : judgeUrl(url.href.replace(/^ws/, 'http'), call.envelope.config.web.allow);
  if (decision?.ok === false)
    throw new Refusal('invalid-config', `The world is on another machine: ${decision.message}. ${decision.remedy}`);
  const options = { milliseconds: call.tool.limits.seconds * 1_000 };
  return url.protocol.startsWith('ws') ? new OpenEnvClient(address, options) : new AlfworldClient(address, options);
}

/** The state as JSON; a log that is too long is left out. */
function stateOf({ world, carried, saved }: StoredGame): Json {
  const isLong = JSON.stringify(saved.log).length > MAX_LOG;
  return asJson(structuredClone({ world, carried, saved: isLong ? { ...saved, game: null, log: [] } : saved }));
}

function storedGameIn(value: Json | undefined): StoredGame | null {
  const fields = fieldsOf(value);
  return isObject(fields['saved']) && typeof fields['world'] === 'string' ? (fields as unknown as StoredGame) : null;
}
