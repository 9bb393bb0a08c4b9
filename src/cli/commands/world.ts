import { resolve } from 'node:path';
import { Option } from 'commander';
import { explainSystemError } from '../../base/system-error.ts';
import { TASK_TYPES, type TaskType, type Wording } from '../../world/house.ts';
import type { HouseChoice } from '../../world/household-environment.ts';
import type { CliCommand } from '../cli-command.ts';
import { CliError, type Io, print, printJson, printRemark, printResult, usageError } from '../io.ts';
import { onTerminationSignal } from '../on-signal.ts';
import { wholeNumberParser } from '../shared-options.ts';

const WORLD_PORT = 3456;

interface Options {
  readonly port: number;
  readonly seed: number;
  readonly task?: TaskType;
  readonly wording: Wording;
  readonly asks?: boolean;
  readonly game?: readonly string[];
  readonly host: string;
  readonly export?: string;
  readonly walkthrough?: boolean;
  readonly story?: boolean;
  readonly root?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Serves a text household on this machine: POST /reset, POST /step and GET /state as the ALFWorld server, and OpenEnv over the WebSocket /ws. Every house can be won. All clients of /reset and /step play one game; each WebSocket has its own. Ctrl-C ends it.',
    )
    .option('--port <n>', 'the port; 0 takes a free one', wholeNumberParser(65_535), WORLD_PORT)
    .option('--seed <n>', 'the seed of the first house; the next one has the next seed', wholeNumberParser(2 ** 31), 1)
    .addOption(new Option('--task <type>', 'the kind of task; by default the seed chooses').choices(TASK_TYPES))
    .addOption(
      new Option('--wording <version>', 'the words of commands: current (move O to R) or old (put O in/on R)')
        .choices(['current', 'old'])
        .default('current'),
    )
    .option('--asks', 'houses with a goal that only a person knows in full; prints what that person must say')
    .option('--game <file...>', 'play these files instead: game.tw-pddl or a PDDL problem')
    .option('--host <address>', 'listen on this address; others than 127.0.0.1 let other machines play', '127.0.0.1')
    .addOption(
      new Option('--export <dir>', 'write the first house as game.tw-pddl and traj_data.json, and end').conflicts([
        'port',
        'host',
        'walkthrough',
      ]),
    )
    .addOption(
      new Option('--walkthrough', 'print commands that win the first house, and end').conflicts(['port', 'host']),
    )
    .addOption(
      new Option(
        '--story',
        'play a story and end: a scripted agent gets stuck in a house, asks a person, comes back and wins',
      ).conflicts(['port', 'host', 'task', 'wording', 'asks', 'game', 'export', 'walkthrough']),
    )
    .option('--root <dir>', 'with --story: the repository of the session; by default a temporary folder')
    .examples(
      'hopgate world',
      'hopgate world --port 3456 --seed 7 --task pick_cool_then_place_in_recep',
      'hopgate world --asks',
      'hopgate world --game ~/games/trial/game.tw-pddl',
      'hopgate world --seed 7 --export house-7',
      'hopgate world --seed 7 --walkthrough',
      'hopgate world --story',
    )
    .action((options: Options) => world(io, options));
}

async function world(io: Io, options: Options): Promise<void> {
  if (options.story) {
    const { playStory } = await import('../world/play-story.ts');
    return playStory(io, options);
  }
  if (options.root !== undefined) throw usageError('only --story uses --root', 'Leave it out, or add --story.');
  const choice = await choiceOf(io, options);
  const { HouseholdEnvironment } = await import('../../world/household-environment.ts');
  const first = new HouseholdEnvironment(choice);
  await first.reset().catch((error: Error) => {
    throw usageError(error.message, 'Choose another --task.', 'no-such-house');
  });
  const { house } = first.game!;
  if (options.export !== undefined) {
    const { exportHouse } = await import('../../world/game-file.ts');
    const file = await exportHouse(house, resolve(io.cwd, options.export));
    return printResult(io, { game: house.id, file }, `${house.id} is in ${file}`);
  }
  if (options.walkthrough) {
    const { oraclePlan } = await import('../../world/oracle.ts');
    const commands = oraclePlan(house);
    if (!commands) throw new CliError('no-walkthrough', `no simple plan wins ${house.id}`, 'Search for one yourself.');
    return printResult(io, { game: house.id, commands }, commands.join('\n'));
  }
  const { serveWorld } = await import('../../world/serve/world-server.ts');
  const server = await serveWorld({ choice, port: options.port, host: options.host }).catch(
    (error: NodeJS.ErrnoException) => {
      const why = explainSystemError(error)?.message ?? error.message;
      const isHostWrong = error.syscall === 'getaddrinfo' || error.code === 'EADDRNOTAVAIL';
      const remedy = `Choose another ${isHostWrong ? '--host' : '--port'}.`;
      throw new CliError('cannot-listen', `cannot listen on ${options.host}:${options.port}: ${why}`, remedy);
    },
  );
  onTerminationSignal(() => void server.close());
  const { task, id, hint } = house;
  if (io.json) printJson(io, { address: server.address, game: id, task: task.goal, ...(hint ? { hint } : {}) });
  else {
    print(io, `The world is at ${server.address}. POST /reset starts ${id}: ${task.goal}.`);
    if (hint) print(io, `Only you know this: ${hint}.`);
    printRemark(io, 'Ctrl-C ends it.');
  }
  await server.ended;
}

async function choiceOf(io: Io, { seed, task, wording, asks, game = [] }: Options): Promise<HouseChoice> {
  const { GameFileError, loadHouse } = await import('../../world/game-file.ts');
  const houses = await Promise.all(game.map((file) => loadHouse(resolve(io.cwd, file)))).catch((error: unknown) => {
    if (!(error instanceof GameFileError)) throw error;
    throw usageError(error.message, 'Choose a game.tw-pddl or a PDDL problem of ALFRED.', 'invalid-game');
  });
  return { seed, wording, houses, ...(task ? { task } : {}), ...(asks ? { asks } : {}) };
}
