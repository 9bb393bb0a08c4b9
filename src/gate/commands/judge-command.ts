import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { COMMAND_TOOLS, type CommandTool } from '../../spec/policy/command-tools.ts';
import type { Json, ProjectConfig, ScopeRule, ToolSpec } from '../../spec/types.ts';
import type { CallArguments } from '../bind-arguments.ts';
import { type ArgumentRefusal, isArgumentRefusal, refuseArgument, refuseArgumentByScope } from './argument-refusal.ts';
import { chooseDeployCommand, chooseInstallCommand, chooseTestCommand, splitCommandArg } from './choose-command.ts';
import { judgeGitCommand, readGitWords } from './git-command.ts';

/** A call whose arguments of the role `command` are judged. */
export interface CommandCall {
  readonly tool: ToolSpec;
  readonly args: CallArguments;
  readonly scope: ScopeRule;
  readonly config: ProjectConfig;
  readonly root: string;
  readonly unsafeNoSandbox: boolean;
  /** The commit message in the context of the visit; null if there was none. */
  readonly message: string | null;
}

/**
 * The reason why a scope does not grant the command of a call; null if it does. The rules are the same for tools of
 * hopgate and of a user: a `test` scope runs only the configured test commands, a `deploy` scope only git and the
 * configured deploy commands. The sandbox, not this rule, limits the files that a command may touch.
 */
export function commandProblem(call: CommandCall): ArgumentRefusal | null {
  const { tool, args, scope } = call;
  const names = tool.parameters.filter(({ role }) => ARGUMENT_ROLE_FACTS[role].runsCommands).map(({ name }) => name);
  const present = names.filter((name) => args[name] !== undefined);
  if (tool.upstream) return present[0] === undefined ? null : upstreamProblem(call, present[0]);
  const builtIn = getOwn(COMMAND_TOOLS, tool.id);
  const argument = builtIn?.argument ?? present[0];
  if (argument === undefined) return null;
  if (scope.command === 'none')
    return refuseArgumentByScope(
      argument,
      'this scope runs no commands',
      'Run it in a peripheral whose scope runs commands.',
    );
  return builtIn ? builtInToolProblem(call, builtIn) : userToolProblem(call, present, names.length > 1);
}

/** Judges a command of hopgate's own tool by the argument that its backend reads, not by the declared parameters. */
function builtInToolProblem(call: CommandCall, { argument, runs, runsIn, needs }: CommandTool): ArgumentRefusal | null {
  const { tool, args, scope, config } = call;
  const value = args[argument];
  if (!runsIn.includes(scope.command))
    return refuseArgumentByScope(
      argument,
      `${tool.id} runs only where the scope ${needs}, and this one does not.`,
      `Use ${tool.id} in a peripheral whose scope ${needs}.`,
    );
  if (runs === 'a shell') return value === undefined ? null : commandLineProblem(argument, value);
  if (runs === 'tests') return badArgumentOf(chooseTestCommand(config.test, value));
  if (runs === 'installs') return badArgumentOf(chooseInstallCommand(config.install ?? [], value));
  if (runs === 'deployments') return badArgumentOf(chooseDeployCommand(config.deploy, argument, value));
  runs satisfies 'git';
  return gitProblem(readGitWords(value, args['args']), call);
}

const badArgumentOf = (chosen: object): ArgumentRefusal | null => (isArgumentRefusal(chosen) ? chosen : null);

function gitProblem(
  read: { readonly words: readonly string[] } | ArgumentRefusal,
  call: CommandCall,
): ArgumentRefusal | null {
  if (isArgumentRefusal(read)) return read;
  const { scope, config, root, message } = call;
  const { git, mask } = config;
  return badArgumentOf(judgeGitCommand(read.words, { command: scope.command, git, root, mask, message }));
}

/**
 * Judges a command of a user's tool. A single argument is the command line. Several are the words after the program,
 * which is the last word of the tool's id.
 */
function userToolProblem(call: CommandCall, names: readonly string[], named: boolean): ArgumentRefusal | null {
  const [argument] = names;
  if (argument === undefined) return null;
  const { tool, args, scope, config } = call;
  if (scope.command === 'read-only' || scope.command === 'contained') {
    for (const name of names) {
      const problem = commandLineProblem(name, args[name]);
      if (problem) return problem;
    }
    return null;
  }
  const words: string[] = named ? [tool.id.slice(tool.id.lastIndexOf('-') + 1)] : [];
  for (const name of names) {
    const read = splitCommandArg(name, args[name]);
    if (isArgumentRefusal(read)) return read;
    words.push(...read.words);
  }
  if (scope.command === 'test') return blameArgument(argument, badArgumentOf(chooseTestCommand(config.test, words)));
  if (words[0] === 'git') return blameArgument(argument, gitProblem({ words: words.slice(1) }, call));
  return badArgumentOf(chooseDeployCommand(config.deploy, argument, words));
}

const blameArgument = (argument: string, problem: ArgumentRefusal | null): ArgumentRefusal | null =>
  problem && { refusal: { ...problem.refusal, argument } };

/** The kernel's limit for one argument of a program (MAX_ARG_STRLEN). */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/** The reason why a text cannot be passed to a program as a command line; null if it can. */
export function commandLineProblem(name: string, value: Json | undefined): ArgumentRefusal | null {
  const again = 'Give one command line, such as "ls -la src | head".';
  const texts = [value].flat();
  if (value === undefined || !texts.every((text) => typeof text === 'string'))
    return refuseArgument(name, `"${name}" must be a string.`, again);
  if (texts.every((text) => text.trim() === '')) return refuseArgument(name, `"${name}" is empty.`, again);
  if (texts.some((text) => text.includes('\0')))
    return refuseArgument(name, `"${name}" contains a NUL character.`, again);
  if (!texts.every((text) => text.isWellFormed()))
    return refuseArgument(name, `"${name}" is not well-formed Unicode.`, again);
  if (texts.some((text) => Buffer.byteLength(text) > MAX_COMMAND_BYTES))
    return refuseArgument(
      name,
      `"${name}" is longer than ${MAX_COMMAND_BYTES} bytes.`,
      'Put the text into a file first.',
    );
  return null;
}

/** The refusal of a command that an upstream runs outside the sandbox; null if its server is `contained`. */
function upstreamProblem({ tool, scope, config, unsafeNoSandbox }: CommandCall, name: string): ArgumentRefusal | null {
  const { command } = scope;
  const contains = command === 'read-only' || command === 'contained';
  const server = getOwn(config.upstream ?? {}, tool.upstream?.server ?? '');
  if (contains && (server?.contained || unsafeNoSandbox)) return null;
  return refuseArgumentByScope(
    name,
    contains
      ? 'The upstream server runs commands outside of the sandbox, and this scope allows them only inside.'
      : 'This scope runs configured commands only, and hopgate itself runs those.',
    contains
      ? "Use hopgate's own shell tools. If the server sandboxes its commands, ask the operator to set contained: true for it."
      : "Use hopgate's own tools for them.",
  );
}
