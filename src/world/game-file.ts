import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { makeFolders, writeNamedFile } from '../base/files.ts';
import { OBJECT_CLASSES, RECEPTACLE_CLASSES } from './alfred-classes.ts';
import { type House, TASK_TYPES } from './house.ts';
import { oraclePlan } from './oracle.ts';
import { writePddlDomain, writeTextWorldGrammar } from './pddl/pddl-domain.ts';
import { PddlError } from './pddl/pddl-expression.ts';
import { houseFromPddl, type PddlProblemOptions, pddlOfHouse } from './pddl/pddl-problem.ts';

const Game = z.looseObject({ pddl_problem: z.string(), grammar: z.string().default('') });
const Trajectory = z.looseObject({
  task_type: z.string(),
  pddl_params: z.looseObject({
    object_target: z.string().default(''),
    parent_target: z.string().nullish(),
    toggle_target: z.string().nullish(),
  }),
  turk_annotations: z.looseObject({ anns: z.array(z.looseObject({ task_desc: z.string() })) }).optional(),
});

/** Thrown if a game file cannot be read. The message names the file and the part. */
export class GameFileError extends Error {
  constructor(file: string, why: string) {
    super(`${file}: ${why}`);
    this.name = 'GameFileError';
  }
}

/** Reads a house from `game.tw-pddl` and `traj_data.json`, with the wording of its grammar. @throws GameFileError */
export function readGame(id: string, game: string, trajectory: string | null = null): House {
  const content = parseFile(id, Game, game);
  const about = trajectory === null ? null : parseFile('traj_data.json', Trajectory, trajectory);
  const goal = /Your task is to: (.+?)\.?"/.exec(content.grammar)?.[1];
  return parseProblem(id, 'pddl_problem, ', content.pddl_problem, {
    id,
    wording: content.grammar.includes('{o} in/on {r}') ? 'old' : 'current',
    ...(goal === undefined || goal === 'UNKNOWN GOAL' ? {} : { goal }),
    ...(about ? { description: about.turk_annotations?.anns[0]?.task_desc ?? '', task: taskOf(about) } : {}),
  });
}

function parseProblem(file: string, part: string, text: string, options: PddlProblemOptions): House {
  try {
    return houseFromPddl(text, options);
  } catch (error) {
    if (error instanceof PddlError) throw new GameFileError(file, `${part}${error.message}`);
    throw error;
  }
}

function taskOf({
  task_type,
  pddl_params: { object_target, parent_target, toggle_target },
}: z.infer<typeof Trajectory>) {
  const type = TASK_TYPES.find((known) => known === task_type);
  const classes = { object: object_target, receptacle: parent_target ?? '', lamp: toggle_target ?? '' };
  return { ...(type ? { type } : {}), ...classes };
}

function parseFile<T extends z.ZodType>(file: string, schema: T, text: string): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new GameFileError(file, `the text is not JSON: ${(error as Error).message}`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw new GameFileError(file, `${issue.path.join('.') || 'the file'}: ${issue.message}`);
}

/**
 * Loads a house from a file: `game.tw-pddl` (with `traj_data.json` in the same folder), or a PDDL problem
 * (`initial_state.pddl`). The file's path is the house's id.
 * @throws GameFileError
 */
export async function loadHouse(path: string): Promise<House> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new GameFileError(path, error.message);
  });
  const trajectory = await readFile(join(dirname(path), 'traj_data.json'), 'utf8').catch(() => null);
  if (text.trimStart().startsWith('{')) return readGame(path, text, trajectory);
  const about = trajectory === null ? null : parseFile('traj_data.json', Trajectory, trajectory);
  return parseProblem(path, '', text, { id: path, ...(about ? { task: taskOf(about) } : {}) });
}

/** The texts of the files of a game, by name, in the form of ALFWorld's data set. */
export function gameFiles(house: House): { readonly [name: string]: string } {
  const { type, description, goal, ...classes } = house.task;
  const spelled = (name: string) =>
    [...OBJECT_CLASSES, ...RECEPTACLE_CLASSES].find((known) => known.toLowerCase() === name.toLowerCase()) ?? name;
  const problem = pddlOfHouse(house);
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return {
    'initial_state.pddl': problem,
    'game.tw-pddl': json({
      pddl_domain: writePddlDomain(house.wording),
      grammar: writeTextWorldGrammar(house.wording, goal),
      pddl_problem: problem,
      solvable: true,
      walkthrough: oraclePlan(house) ?? [],
    }),
    'traj_data.json': json({
      task_id: house.id.replaceAll(/\W+/g, '_'),
      task_type: type,
      pddl_params: {
        object_target: spelled(classes.object),
        parent_target: spelled(classes.receptacle),
        toggle_target: spelled(classes.lamp),
        mrecep_target: '',
        object_sliced: false,
      },
      turk_annotations: { anns: [{ task_desc: description }] },
    }),
  };
}

/** Writes the files of a house into a new folder. Returns the path of its `game.tw-pddl`. */
export async function exportHouse(house: House, folder: string): Promise<string> {
  makeFolders(folder);
  for (const [name, text] of Object.entries(gameFiles(house))) writeNamedFile(join(folder, basename(name)), text);
  return join(folder, 'game.tw-pddl');
}
