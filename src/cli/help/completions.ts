import type { Command, Option } from 'commander';

export interface Completion {
  readonly word: string;
  /** A short description next to the id in the shell's menu; empty if there is none. */
  readonly about: string;
}

type ListSessions = (root: string) => Promise<readonly Completion[]>;

/**
 * Completes the last of the words that follow the program's name. An empty list means that the shell should complete
 * file names.
 * @param program the program, in which the named command must be loaded
 * @example await completeWords(program, ['graph', '--format', 's'], sessions) // svg, stately
 */
export async function completeWords(
  program: Command,
  words: readonly string[],
  sessions: ListSessions,
): Promise<readonly Completion[]> {
  if (words[0] === 'help' && words.length > 1) return completeWords(program, words.slice(1), sessions);
  // bash splits "--format=svg" into three words.
  const typed = words.filter((word) => word !== '=');
  const last = words.at(-1) === '=' ? '' : (typed.pop() ?? '');
  const { command, pending, operands, root } = walk(program, typed);
  const [, option, value] = /^(--[\w-]+)=(.*)$/s.exec(last) ?? [];
  const joined = option === undefined ? undefined : optionsOf(command).find((one) => one.long === option);
  const starting = (found: readonly Completion[], prefix: string, before = ''): readonly Completion[] =>
    found.filter(({ word }) => word.startsWith(prefix)).map(({ word, about }) => ({ word: `${before}${word}`, about }));

  if (joined !== undefined) return starting(await valuesOf(joined, root, sessions), value ?? '', `${option}=`);
  if (pending !== null) return starting(await valuesOf(pending, root, sessions), last);
  if (last.startsWith('-'))
    return starting(
      optionsOf(command).map((one) => ({ word: one.long ?? one.short ?? '', about: one.description })),
      last,
    );
  const nested = command.createHelp().visibleCommands(command);
  if (nested.length > 0 && operands === 0)
    return starting(
      nested.map((one) => ({ word: one.name(), about: one.summary() || one.description() })),
      last,
    );
  const argument = command.registeredArguments[Math.min(operands, command.registeredArguments.length - 1)];
  if (argument === undefined || (operands > 0 && !argument.variadic && operands >= command.registeredArguments.length))
    return [];
  if (argument.argChoices) return starting(argument.argChoices.map(asCompletion), last);
  return argument.name() === 'session' ? starting(await sessions(root), last) : [];
}

const asCompletion = (word: string): Completion => ({ word, about: '' });

const optionsOf = (command: Command): readonly Option[] => {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
};

async function valuesOf(option: Option, root: string, sessions: ListSessions): Promise<readonly Completion[]> {
  if (option.argChoices) return option.argChoices.map(asCompletion);
  return option.long === '--session' ? sessions(root) : [];
}

/** Finds the command that the next word belongs to, by following the complete words. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let pending: Option | null = null;
  let operands = 0;
  let root = '.';
  for (const word of words) {
    const named: Option | null = pending;
    pending = null;
    if (named !== null) {
      if (named.long === '--root') root = word;
      continue;
    }
    if (word.startsWith('-')) {
      const option = optionsOf(command).find((one) => one.long === word || one.short === word);
      if (option?.required) pending = option;
      if (word.startsWith('--root=')) root = word.slice('--root='.length);
      continue;
    }
    const nested = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (nested === undefined) operands += 1;
    else command = nested;
  }
  return { command, pending, operands, root };
}
