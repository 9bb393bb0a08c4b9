import { isRunOf } from '../../../gate/commands/choose-command.ts';
import type { Session } from '../../../session/session.ts';
import { effectsOfMode } from '../../../spec/mode-way.ts';
import { getOwn } from '../../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../../spec/policy/argument-roles.ts';
import { BACKGROUND_TOOL_ID } from '../../../spec/policy/command-tools.ts';
import type { Fields, Mode, ProjectConfig, SpecSet, ToolSpec } from '../../../spec/types.ts';

interface CommandTool {
  readonly tool: ToolSpec;
  /** The parameter that takes the command line, or the sub-command. */
  readonly line: string;
  /** The one program that the tool runs, and the parameter for further words; null if it runs any program. */
  readonly program: { readonly name: string; readonly rest: string } | null;
}

/**
 * Derives from the roles of its parameters how a tool takes commands: one `command` parameter takes a command line; two
 * take the sub-command and the arguments of the one program that the id ends with (`bash-git` runs git). null if it
 * takes no command, or requires more than a command, or runs it in the background.
 */
function commandTool(tool: ToolSpec): CommandTool | null {
  if (tool.id === BACKGROUND_TOOL_ID) return null;
  const [line, rest] = tool.parameters.filter(({ role }) => ARGUMENT_ROLE_FACTS[role].runsCommands);
  if (!line || tool.parameters.some(({ role, required }) => required && !ARGUMENT_ROLE_FACTS[role].runsCommands))
    return null;
  const name = tool.id.split('-').at(-1) ?? tool.id;
  return { tool, line: line.name, program: rest ? { name, rest: rest.name } : null };
}

/** The tools that run only commands from hopgate.yaml: each function returns the argument for a command, or null. */
const CONFIGURED: { readonly [tool: string]: (config: ProjectConfig, command: string) => string | null } = {
  'bash-test': ({ test }, command) => (test.some(({ run }) => isRunOf(run, command.split(/\s+/))) ? command : null),
  install: ({ install = [] }, command) =>
    install.some(({ run }) => isRunOf(run, command.split(/\s+/))) ? command : null,
  'bash-deploy': ({ deploy }, command) =>
    Object.hasOwn(deploy, command)
      ? command
      : (Object.keys(deploy).find((name) => isRunOf(deploy[name]?.run ?? [], command.split(/\s+/))) ?? null),
};

export interface ShellRoutingContext {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  /** The tools that may be called now; default: the tools of the peripheral. */
  readonly tools?: readonly string[];
}

/** The session's peripheral, mode and tools, for {@link routeShellCommand}. An observe-only session has every tool. */
export const shellRoutingOf = (session: Session): Pick<ShellRoutingContext, 'peripheral' | 'mode' | 'tools'> => ({
  peripheral: session.state.peripheral,
  mode: session.observeOnly ? null : session.state.mode,
  ...(session.observeOnly ? { tools: session.available().tools } : {}),
});

/**
 * Chooses the tool, and its arguments, for a command that an agent gave to its client's shell. The tool decides what
 * may run, so a command that fits no tool is passed unchanged to one that refuses it. If the peripheral has no command
 * tool, the catalogue's tool of the lowest rank (a plain shell) is chosen; the gate then says where it is available.
 */
export function routeShellCommand(
  command: string,
  context: ShellRoutingContext,
): { readonly tool: string; readonly args: Fields } {
  const { specs, config, peripheral, mode, tools } = context;
  const here = commandTools(specs, tools ?? ((peripheral !== null && specs.peripherals[peripheral]?.tools) || []));
  const candidates = here.length > 0 ? here : commandTools(specs, Object.keys(specs.tools));
  const text = command.trim();
  for (const { tool, line, program } of here) {
    const called = program && programCall(text, program.name);
    if (program && called)
      return { tool: tool.id, args: { [line]: called.sub, ...(called.rest ? { [program.rest]: called.rest } : {}) } };
    const configured = CONFIGURED[tool.id]?.(config, text) ?? null;
    if (configured !== null) return { tool: tool.id, args: { [line]: configured } };
  }
  const allowed = ({ tool }: CommandTool) =>
    specs.modeGate && mode ? effectsOfMode(specs.modeGate, mode).includes(tool.effect) : true;
  // Prefers a shell for any command line, then an effect that the mode allows, then a tool that acts.
  const rank = (each: CommandTool) =>
    (each.program ? 8 : 0) +
    (Object.hasOwn(CONFIGURED, each.tool.id) ? 4 : 0) +
    (allowed(each) ? 0 : 2) +
    (each.tool.effect === 'act' ? 0 : 1);
  const [best] = candidates.toSorted((a, b) => rank(a) - rank(b));
  return best ? { tool: best.tool.id, args: { [best.line]: command } } : { tool: 'bash', args: { command } };
}

/** The shell form of a call to a tool that takes commands; null for other tools. */
export function toShellCommand(
  { tool: id, args }: { readonly tool: string; readonly args: Fields },
  { tools }: SpecSet,
  { deploy }: ProjectConfig,
): string | null {
  const tool = getOwn(tools, id);
  const taking = tool && commandTool(tool);
  if (!taking) return null;
  const text = (name: string): string => String(args[name] ?? '');
  if (taking.program) return [taking.program.name, text(taking.line), text(taking.program.rest)].join(' ').trim();
  const configured = id === 'bash-deploy' ? getOwn(deploy, text(taking.line)) : undefined;
  return configured ? configured.run.join(' ') : text(taking.line);
}

const commandTools = (specs: SpecSet, ids: readonly string[]): readonly CommandTool[] =>
  ids.flatMap((id) => {
    const tool = Object.hasOwn(specs.tools, id) ? specs.tools[id] : undefined;
    const taking = tool && commandTool(tool);
    return taking ? [taking] : [];
  });

/** Splits `git commit -m x` into the sub-command and the unchanged rest; null if the command calls another program. */
function programCall(text: string, program: string): { readonly sub: string; readonly rest: string } | null {
  const [first = '', sub = ''] = text.split(/\s+/, 2);
  if (first !== program) return null;
  const after = text.slice(first.length).trimStart();
  return { sub, rest: after.slice(sub.length).trim() };
}
