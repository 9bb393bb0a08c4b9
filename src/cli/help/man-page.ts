import type { EventEmitter } from 'node:events';
import type { Command } from 'commander';

/** Escapes text for roff, so that it is printed unchanged. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');

/** The lines of an `Examples:` section of the help. */
function examplesOf(command: Command): readonly string[] {
  let text = '';
  (command as unknown as EventEmitter).emit('afterHelp', {
    error: false,
    command,
    write: (part: string) => (text += part),
  });
  return [...text.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line);
}

function termsOf(command: Command): readonly string[] {
  const help = command.createHelp();
  const terms = [
    ...help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)]),
    ...help.visibleOptions(command).map((one) => [help.optionTerm(one), help.optionDescription(one)]),
  ];
  return terms.map(([term = '', text = '']) => `.TP\n.B ${roff(term)}\n${roff(text)}`);
}

function sectionOf(command: Command, program: string): readonly string[] {
  const name = `${program} ${command.name()}`;
  const examples = examplesOf(command);
  const nested = command.createHelp().visibleCommands(command).filter(isNotHelp);
  return [
    `.SS ${roff(`${name} ${command.usage()}`)}`,
    roff(command.description() || command.summary()),
    ...termsOf(command),
    ...(examples.length === 0 ? [] : ['.PP\nExamples:\n.nf', ...examples.map((line) => roff(`    ${line}`)), '.fi']),
    ...nested.flatMap((one) => sectionOf(one, name)),
  ];
}

const isNotHelp = (command: Command): boolean => command.name() !== 'help';

/** Renders the manual page of a program in roff. All commands must be loaded. */
export function renderManPage(program: Command): string {
  const name = program.name();
  const commands = program.createHelp().visibleCommands(program).filter(isNotHelp);
  return [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${program.version()}" "User Commands"`,
    '.SH NAME',
    roff(`${name} - limits what an AI agent can do at each moment of its work`),
    '.SH SYNOPSIS',
    `.B ${name}`,
    roff('[--json] command [options] [arguments]'),
    '.SH DESCRIPTION',
    roff(program.description()),
    '.SH OPTIONS',
    ...termsOf(program),
    '.SH COMMANDS',
    ...commands.flatMap((command) => sectionOf(command, name)),
    '.SH EXIT STATUS',
    ...[
      ['0', 'success'],
      ['1', 'a call was refused, or a check failed'],
      ['2', 'wrong usage'],
    ].map(([code, text]) => `.TP\n.B ${code}\n${text}`),
    '.SH ENVIRONMENT',
    ...[
      ['XDG_STATE_HOME', 'the folder of the evidence, approvals and keys (default: ~/.local/state)'],
      ['NO_COLOR, FORCE_COLOR', 'never or always use colours'],
      ['HOPGATE_DAEMON', '"off" answers hooks without the daemon'],
      ['HOPGATE_DEBUG', '"1" prints the stack of an error'],
    ].map(([variable, text = '']) => `.TP\n.B ${variable}\n${roff(text)}`),
    '',
  ].join('\n');
}
