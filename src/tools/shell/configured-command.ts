import type { Json, ProjectConfig } from '../../spec/types.ts';
import { excerpt } from '../../spec/visible.ts';
import { splitCommand } from '../git/split-command.ts';
import { invalid, outOfScope, type Stop } from '../workspace/outcome.ts';

/** Where a configured test command takes further words. */
const ARGUMENTS = '{args}';

type TestCommand = ProjectConfig['test'][number];

/** A configured test command, as it is to be run. */
export interface ChosenTest {
  readonly argv: readonly string[];
  readonly report: TestCommand['report'];
  /** Words were added where the configuration allows them: perhaps not all tests run. */
  readonly narrowed: boolean;
}

/** The words of a command argument: a list as it is, a text split without expansion. */
export function commandWords(argument: string, value: Json | undefined): { readonly words: readonly string[] } | Stop {
  const again = 'Give one plain command: words and quotes, without operators, $ or globs; or a list of words.';
  if (Array.isArray(value)) {
    const words = value.filter((word) => typeof word === 'string');
    if (words.length === value.length && words.length > 0 && !words.some((word) => word.includes('\0')))
      return { words };
    return invalid(argument, `"${argument}" must be a list of strings.`, again);
  }
  if (typeof value !== 'string')
    return invalid(argument, `"${argument}" must be a string or a list of strings.`, again);
  const split = splitCommand(value);
  return split.ok ? { words: split.words } : invalid(argument, `"${argument}" cannot be run: ${split.reason}.`, again);
}

/** Finds the configured test command that a call names; the first one if it names none. */
export function chooseTest(configured: readonly TestCommand[], command: Json | undefined): ChosenTest | Stop {
  const first = configured[0];
  if (!first)
    return invalid(
      'command',
      'No test command is configured for this repository.',
      'Ask the operator to set test: in hopgate.yaml (`hopgate init` proposes it from what it finds), or, where it is set, to accept the file (`hopgate trust`).',
    );
  if (command === undefined || command === null)
    return { argv: bare(first.run), report: first.report, narrowed: false };
  const given = commandWords('command', command);
  if ('stop' in given) return given;
  for (const { run, report } of configured) {
    if (sameWords(given.words, bare(run)) || sameWords(given.words, withArguments(run, [])))
      return { argv: bare(run), report, narrowed: false };
  }
  for (const { run, report } of configured) {
    const added = addedWords(run, given.words);
    if (added) return { argv: withArguments(run, added), report, narrowed: true };
  }
  return outOfScope(
    'command',
    `"${excerpt(given.words.join(' '), 200)}" is not a configured test command.`,
    `Run one of: ${configured.map(({ run }) => run.join(' ')).join(' | ')}.`,
  );
}

/** The words that a call put in the place of `{args}`; null if it is another command. */
function addedWords(run: readonly string[], words: readonly string[]): readonly string[] | null {
  const at = run.indexOf(ARGUMENTS);
  if (at === -1) return null;
  const before = run.slice(0, at);
  const after = run.slice(at + 1);
  const end = words.length - after.length;
  if (end <= at || !sameWords(words.slice(0, at), before) || !sameWords(words.slice(end), after)) return null;
  return words.slice(at, end);
}

const withArguments = (run: readonly string[], words: readonly string[]): string[] =>
  run.flatMap((word) => (word === ARGUMENTS ? words : [word]));

/** The command without further words, and without the `--` that would announce them. */
function bare(run: readonly string[]): string[] {
  return run.filter((word, at) => word !== ARGUMENTS && !(word === '--' && run[at + 1] === ARGUMENTS));
}

export const sameWords = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word, at) => word === b[at]);
