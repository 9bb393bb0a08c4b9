import { getOwn } from '../../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../../spec/policy/argument-roles.ts';
import { COMMAND_TOOLS } from '../../../spec/policy/command-tools.ts';
import type { Fields, Json, ProjectConfig, ScopeRule, ToolSpec } from '../../../spec/types.ts';
import {
  gitArgumentsRefusalReason,
  gitCommandRefusalReason,
  invalidActionReason,
  outOfScopeReason,
  type RefusalReason,
} from './audited-git.ts';
import { readCommandWords } from './audited-words.ts';

const ARGS_PLACEHOLDER = '{args}';

/** The configured test command that the words form; `narrowed` if arguments were added. */
export function matchTestCommand(
  words: readonly string[],
  tests: ProjectConfig['test'],
): { readonly narrowed: boolean } | null {
  for (const { run } of tests) {
    const at = run.indexOf(ARGS_PLACEHOLDER);
    const plain = run.filter((word) => word !== ARGS_PLACEHOLDER);
    if (isCommand(words, plain) || isCommand(words, fullTestCommandWords(run))) return { narrowed: false };
    if (at < 0 || words.length < plain.length) continue;
    const tail = plain.slice(at);
    const begins = plain.slice(0, at).every((word, i) => word === words[i]);
    const ends = tail.every((word, i) => word === words[words.length - tail.length + i]);
    if (begins && ends) return { narrowed: true };
  }
  return null;
}

/**
 * The words of a configured test command without its placeholder for arguments, and without a `--` directly before the
 * placeholder.
 */
export const fullTestCommandWords = (run: readonly string[]): readonly string[] =>
  run.filter((word, index) => word !== ARGS_PLACEHOLDER && !(word === '--' && run[index + 1] === ARGS_PLACEHOLDER));

const isCommand = (words: readonly string[], command: readonly string[]): boolean =>
  words.length === command.length && command.every((word, i) => word === words[i]);

/** A call of a tool with arguments of the role `command`. */
interface AuditedCommand {
  readonly tool: ToolSpec;
  readonly args: Fields;
  readonly scope: ScopeRule;
  readonly config: ProjectConfig;
  readonly root: string;
  readonly unsafeNoSandbox: boolean;
  /** The commit message that the visit's context demands; null if it demands none. */
  readonly message: string | null;
}

/** The reason why the scope and the configured commands forbid a call's command; null if they allow it. */
export function commandRefusalReason(call: AuditedCommand): RefusalReason | null {
  const { tool, args, scope, config } = call;
  const { command } = scope;
  const all = tool.parameters.filter(({ role }) => ARGUMENT_ROLE_FACTS[role].runsCommands).map(({ name }) => name);
  const present = all.filter((name) => args[name] !== undefined);
  if (tool.upstream) return present.length === 0 ? null : upstreamReason(call);
  const listed = getOwn(COMMAND_TOOLS, tool.id);
  if (!listed && present.length === 0) return null;
  if (command === 'none') return outOfScopeReason('the scope grants no commands');
  if (!listed) return ownReason(call, present, all.length > 1);
  if (!listed.runsIn.includes(command)) return outOfScopeReason(`the tool runs only where the scope ${listed.needs}`);
  // A tool of hopgate runs the command in this argument, whatever parameters the spec declares.
  const value = args[listed.argument];
  if (listed.runs === 'a shell') return value === undefined ? null : lineReason(value);
  if (listed.runs === 'tests') return testReason(value, config);
  if (listed.runs === 'installs') return installReason(value, config);
  if (listed.runs === 'deployments') return deployReason(value, config);
  listed.runs satisfies 'git';
  return gitArgumentsRefusalReason(value, args['args'], { ...call, command });
}

/**
 * Judges a tool of the user's own. The tool's name ends with the program that it runs; if it takes several arguments,
 * they are the words after the program.
 */
function ownReason(call: AuditedCommand, names: readonly string[], hasProgram: boolean): RefusalReason | null {
  const { tool, args, scope, config } = call;
  const { command } = scope;
  if (command === 'read-only' || command === 'contained')
    return names.map((name) => lineReason(args[name])).find((reason) => reason !== null) ?? null;
  const read = names.map((name) => readCommandWords(args[name]));
  if (read.includes(null)) return NOT_SIMPLE;
  const words = [...(hasProgram ? tool.id.split('-').slice(-1) : []), ...read.flatMap((each) => each ?? [])];
  if (command === 'test') return testReason(words, config);
  return words[0] === 'git'
    ? gitCommandRefusalReason(words.slice(1), { ...call, command })
    : deployReason(words, config);
}

/** A command of an upstream tool is allowed only if the upstream's server sandboxes its commands. */
function upstreamReason({ tool, scope, config, unsafeNoSandbox }: AuditedCommand): RefusalReason | null {
  const server = config.upstream?.[tool.upstream?.server ?? ''];
  const isSandboxed = (server?.contained ?? false) || unsafeNoSandbox;
  const mayRun = scope.command === 'contained' || scope.command === 'read-only';
  return mayRun && isSandboxed ? null : outOfScopeReason('the commands of the upstream server are not sandboxed');
}

const NOT_SIMPLE = invalidActionReason(
  'the text is not one simple command: it may have words and quotes, and no shell syntax',
);

/** The maximum length of an argument that the kernel accepts, in bytes. */
const MAX_BYTES = 131_071;

function lineReason(value: Json | undefined): RefusalReason | null {
  const parts = Array.isArray(value) ? value : [value];
  const fits = parts.every(
    (part) =>
      typeof part === 'string' && !part.includes('\0') && part.isWellFormed() && Buffer.byteLength(part) <= MAX_BYTES,
  );
  return fits && parts.some((part) => String(part).trim() !== '')
    ? null
    : invalidActionReason('the text is not a command line');
}

function testReason(command: Json | undefined, { test }: ProjectConfig): RefusalReason | null {
  if (test.length === 0) return invalidActionReason('no test command is configured');
  if (command === undefined) return null;
  const words = readCommandWords(command);
  if (words === null) return NOT_SIMPLE;
  return matchTestCommand(words, test) ? null : outOfScopeReason('the command is not a configured test command');
}

function installReason(command: Json | undefined, { install = [] }: ProjectConfig): RefusalReason | null {
  if (command === undefined)
    return install.length === 1 ? null : outOfScopeReason('the command is not a configured install command');
  if (install.length === 0) return outOfScopeReason('no install command is configured');
  const words = readCommandWords(command);
  if (words === null) return NOT_SIMPLE;
  return install.some(({ run }) => isCommand(words, run))
    ? null
    : outOfScopeReason('the command is not a configured install command');
}

function deployReason(command: Json | undefined, { deploy }: ProjectConfig): RefusalReason | null {
  const [name, ...more] = Array.isArray(command) ? command : [command];
  if (more.length === 0 && typeof name === 'string' && Object.hasOwn(deploy, name)) return null;
  const words = readCommandWords(command);
  const isConfigured = words !== null && Object.values(deploy).some(({ run }) => isCommand(words, run));
  return isConfigured ? null : outOfScopeReason('the command is not a configured deploy command');
}
