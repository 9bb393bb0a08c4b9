import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { register as approve } from './commands/clients/approve.ts';
import { register as claude } from './commands/clients/claude.ts';
import { register as codex } from './commands/clients/codex.ts';
import { register as daemon } from './commands/clients/daemon.ts';
import { register as install } from './commands/clients/install.ts';
import { register as mcp } from './commands/clients/mcp.ts';
import { register as uninstall } from './commands/clients/uninstall.ts';
import { register as upstream } from './commands/clients/upstream.ts';
import { register as doctor } from './commands/doctor.ts';
import { register as activity } from './commands/evidence/activity.ts';
import { register as erase } from './commands/evidence/erase.ts';
import { register as infer } from './commands/evidence/infer.ts';
import { register as log } from './commands/evidence/log.ts';
import { register as par } from './commands/evidence/par.ts';
import { register as replay } from './commands/evidence/replay.ts';
import { register as seal } from './commands/evidence/seal.ts';
import { register as sessions } from './commands/evidence/sessions.ts';
import { register as thread } from './commands/evidence/thread.ts';
import { register as verify } from './commands/evidence/verify.ts';
import { register as init } from './commands/init.ts';
import { register as resume } from './commands/resume.ts';
import { register as run } from './commands/run.ts';
import { register as shell } from './commands/shell.ts';
import { register as check } from './commands/specs/check.ts';
import { register as explain } from './commands/specs/explain.ts';
import { register as generate } from './commands/specs/generate.ts';
import { register as graph } from './commands/specs/graph.ts';
import { register as inspect } from './commands/specs/inspect.ts';
import { register as test } from './commands/specs/test.ts';
import { register as trust } from './commands/trust.ts';
import { fail } from './fail.ts';
import { CliError, type Io } from './io.ts';

/** The commands, in the order of the help. */
const COMMANDS = [
  run,
  shell,
  claude,
  codex,
  mcp,
  install,
  uninstall,
  approve,
  upstream,
  init,
  trust,
  check,
  test,
  explain,
  doctor,
  sessions,
  log,
  activity,
  erase,
  thread,
  par,
  verify,
  seal,
  infer,
  replay,
  resume,
  generate,
  graph,
  inspect,
  daemon,
];

/** Creates hopgate's command line for one {@link Io}; parse it with {@link runCli}. */
export function createProgram(io: Io): Command {
  const program = new Command('hopgate')
    .description(
      'Puts an AI agent inside peripherals: capability envelopes, lawful hops, a mode gate, and evidence of it all.',
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
  for (const register of COMMANDS) register(program, io);
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
    await createProgram(io).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) onCommander(argv, io, error);
    else fail(io, error);
  }
  return io.exitCode;
}

function onCommander(argv: readonly string[], io: Io, error: CommanderError): void {
  if (error.exitCode === 0) return; // --help and --version have already printed their text
  io.json ||= argv.includes('--json');
  if (error.code === 'commander.help') {
    io.exitCode = 2; // no command: commander wrote the help to the error stream, which is silenced
    io.stderr.write(createProgram(io).helpInformation());
    return;
  }
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  fail(io, new CliError('usage', message, 'Run "hopgate --help", or "hopgate <command> --help".', { exitCode: 2 }));
}
