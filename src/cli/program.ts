import { type Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { CliCommand } from './cli-command.ts';
import { CLI_COMMANDS } from './command-list.ts';
import { type Io, usageError } from './io.ts';
import { reportError } from './report-error.ts';

/**
 * Creates hopgate's command line for one {@link Io}; parse it with {@link runCli}.
 * @param named the commands whose options are needed (default: all); the others have only a name and a summary
 */
export async function createCliProgram(io: Io, named?: readonly string[]): Promise<CliCommand> {
  const program = new CliCommand('hopgate')
    .description(
      'Limits an AI agent to the tools and files that its current task needs, and records evidence of every call.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .option('--json', 'print JSON instead of text')
    .addHelpText(
      'after',
      "\nExit codes: 0 ok, 1 refused or violated, 2 usage.\nRun 'hopgate <command> --help' for examples.",
    )
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: () => {}, // runCli prints the error, with or without --json
      getOutHasColors: () => io.color,
      getErrHasColors: () => io.color,
    })
    .exitOverride()
    .hook('preAction', () => {
      io.json = program.opts<{ json?: boolean }>().json === true;
    });
  for (const { name, summary, hidden = false, load } of CLI_COMMANDS) {
    const command = program.command(name, { hidden }).summary(summary);
    if (named === undefined || named.includes(name)) (await load()).configureCommand(command, io);
  }
  return program;
}

/**
 * Runs one command line (without node and script) and returns the exit code: 0 ok, 1 refused or violated, 2 usage.
 * Never throws.
 *
 * @example await runCli(['check', 'specs', '--json'], processIo())
 */
export async function runCli(argv: readonly string[], io: Io): Promise<0 | 1 | 2> {
  try {
    await (await createCliProgram(io, commandsIn(argv))).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) await onCommander(argv, io, error);
    else reportError(io, error);
  }
  return io.exitCode;
}

/** The commands that a command line may name: `check …`, `help check`, `complete -- check …`; undefined means all. */
function commandsIn(argv: readonly string[]): readonly string[] | undefined {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, 2);
  return words[0] === 'man' ? undefined : words;
}

async function onCommander(argv: readonly string[], io: Io, error: CommanderError): Promise<void> {
  if (error.exitCode === 0) return; // --help and --version have already printed their text
  io.json ||= argv.includes('--json');
  if (error.code === 'commander.help') {
    io.exitCode = 2; // No command: commander wrote the help to the error stream, which is silenced.
    io.stderr.write((await commandOf(argv, io)).command.helpInformation());
    return;
  }
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  const help = `Run "${(await commandOf(argv, io)).name} --help".`;
  reportError(io, usageError(message, /'session'/.test(message) ? `"hopgate sessions" lists them. ${help}` : help));
}

/** The command that a command line names, such as `hopgate upstream list`; `hopgate` if it names none. */
async function commandOf(argv: readonly string[], io: Io) {
  let command: Command = await createCliProgram(io, commandsIn(argv));
  const names = [command.name()];
  for (const word of argv.filter((each) => !each.startsWith('-'))) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    names.push(next.name());
    command = next;
  }
  return { command, name: names.join(' ') };
}
