import { excerpt } from '../../base/text.ts';
import type { InstallCommand, Json, ProjectConfig } from '../../spec/types.ts';
import { type ArgumentRefusal, isArgumentRefusal, refuseArgument, refuseArgumentByScope } from './argument-refusal.ts';
import { splitCommand } from './split-command.ts';

/** Placeholder in a configured test command: a call may replace it by words of its own. */
const ARGUMENTS = '{args}';

type TestCommand = ProjectConfig['test'][number];

export interface ChosenTestCommand {
  readonly argv: readonly string[];
  readonly config: TestCommand;
  /** True if the call added words at `{args}`, so that possibly not all tests run. */
  readonly narrowed: boolean;
  /** The configured test commands that the call does not run in full. */
  readonly others: readonly string[];
}

/** Splits a command argument into words, without expansion; a list is returned as it is. */
export function splitCommandArg(
  argument: string,
  value: Json | undefined,
): { readonly words: readonly string[] } | ArgumentRefusal {
  const again = 'Give one simple command: words and quotes, without operators, $ or globs; or a list of words.';
  if (Array.isArray(value)) {
    const words = value.filter((word) => typeof word === 'string');
    if (words.length === value.length && words.length > 0 && !words.some((word) => word.includes('\0')))
      return { words };
    return refuseArgument(argument, `"${argument}" must be a list of strings.`, again);
  }
  if (typeof value !== 'string')
    return refuseArgument(argument, `"${argument}" must be a string or a list of strings.`, again);
  const split = splitCommand(value);
  return split.ok
    ? { words: split.words }
    : refuseArgument(argument, `"${argument}" cannot be run: ${split.reason}.`, again);
}

/** Finds the configured test command that a call names. A call without a command means all of them. */
export function chooseTestCommand(
  configured: readonly TestCommand[],
  command: Json | undefined,
): readonly ChosenTestCommand[] | ArgumentRefusal {
  if (configured.length === 0)
    return refuseArgument(
      'command',
      'No test command is configured for this repository.',
      'Ask the operator to set test: in hopgate.yaml (`hopgate init` proposes one), or, if it is set there, to trust the file (`hopgate trust`).',
    );
  const inFull = (config: TestCommand) => ({ argv: fixedWords(config.run), config, narrowed: false });
  const othersThan = (chosen: TestCommand | null) =>
    configured.filter((each) => each !== chosen).map(({ run }) => fixedWords(run).join(' '));
  if (command === undefined || command === null) return configured.map((each) => ({ ...inFull(each), others: [] }));
  const requested = splitCommandArg('command', command);
  if (isArgumentRefusal(requested)) return requested;
  const named = configured.find(
    ({ run }) => sameWords(requested.words, fixedWords(run)) || sameWords(requested.words, withArguments(run, [])),
  );
  if (named) return [{ ...inFull(named), others: othersThan(named) }];
  for (const config of configured) {
    const added = addedWords(config.run, requested.words);
    if (added) return [{ argv: withArguments(config.run, added), config, narrowed: true, others: othersThan(null) }];
  }
  return refuseArgumentByScope(
    'command',
    `"${excerpt(requested.words.join(' '), 200)}" is not a configured test command.`,
    `Run one of: ${configured.map(({ run }) => run.join(' ')).join(' | ')}.`,
  );
}

/** The words that a call has in place of `{args}`; null if the call names another command. */
function addedWords(run: readonly string[], words: readonly string[]): readonly string[] | null {
  const at = run.indexOf(ARGUMENTS);
  if (at === -1) return null;
  const before = run.slice(0, at);
  const after = run.slice(at + 1);
  const end = words.length - after.length;
  if (end <= at || !sameWords(words.slice(0, at), before) || !sameWords(words.slice(end), after)) return null;
  return words.slice(at, end);
}

/** True if words are a configured command, with any words in place of `{args}`. */
export const isRunOf = (run: readonly string[], words: readonly string[]): boolean =>
  sameWords(words, fixedWords(run)) || addedWords(run, words) !== null;

const withArguments = (run: readonly string[], words: readonly string[]): string[] =>
  run.flatMap((word) => (word === ARGUMENTS ? words : [word]));

/** The configured command without `{args}`, and without the `--` before it. */
function fixedWords(run: readonly string[]): string[] {
  return run.filter((word, at) => word !== ARGUMENTS && !(word === '--' && run[at + 1] === ARGUMENTS));
}

const sameWords = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word, at) => word === b[at]);

/** Finds the configured deploy command that a call names, by its name or its exact words. */
export function chooseDeployCommand(
  configured: ProjectConfig['deploy'],
  argument: string,
  command: Json | undefined,
): { readonly name: string; readonly command: ProjectConfig['deploy'][string] } | ArgumentRefusal {
  const names = Object.keys(configured);
  if (names.length === 0)
    return refuseArgumentByScope(
      argument,
      'No deploy command is configured for this repository.',
      'Ask the operator to set deploy: in hopgate.yaml, or, if it is set there, to trust the file (`hopgate trust`).',
    );
  const list = `Configured are: ${names.map((name) => `${name} (${configured[name]!.run.join(' ')})`).join(' | ')}.`;
  const [word, ...more] = [command].flat();
  if (more.length === 0 && typeof word === 'string' && Object.hasOwn(configured, word))
    return { name: word, command: configured[word]! };
  const words = splitCommandArg(argument, command);
  const name = isArgumentRefusal(words)
    ? undefined
    : names.find((each) => sameWords(configured[each]!.run, words.words));
  if (name !== undefined) return { name, command: configured[name]! };
  return refuseArgumentByScope(
    argument,
    `"${excerpt([command ?? ''].flat().join(' '), 200)}" is not a configured deploy command.`,
    list,
  );
}

/** Finds the configured install command that a call names. If it names none, the only configured one is meant. */
export function chooseInstallCommand(
  configured: readonly InstallCommand[],
  command: Json | undefined,
): InstallCommand | ArgumentRefusal {
  const [first] = configured;
  if (first === undefined)
    return refuseArgumentByScope(
      'command',
      'No install command is configured for this repository, and commands have no network.',
      'Ask the operator to install the dependencies or to set install: in hopgate.yaml. If it is set there, ask them to trust the file (`hopgate trust`).',
    );
  const list = `Run one of: ${configured.map(({ run }) => run.join(' ')).join(' | ')}.`;
  if (command === undefined || command === null) {
    if (configured.length === 1) return first;
    return refuseArgumentByScope('command', 'The call names none of the configured install commands.', list);
  }
  const words = splitCommandArg('command', command);
  if (isArgumentRefusal(words)) return words;
  const named = configured.find(({ run }) => sameWords(run, words.words));
  if (named) return named;
  return refuseArgumentByScope(
    'command',
    `"${excerpt(words.words.join(' '), 200)}" is not a configured install command.`,
    `${list} To add a package, change the manifest and its lock file, or ask the operator.`,
  );
}
