import { own } from '../../../spec/names.ts';
import { ROLE_FACTS } from '../../../spec/policy/argument-roles.ts';
import type { Json, Mode, ProjectConfig, SpecSet, ToolSpec } from '../../../spec/types.ts';

/** A tool of a spec set that takes commands. */
interface CommandTool {
  readonly tool: ToolSpec;
  /** The parameter that takes the command line, or the sub-command. */
  readonly line: string;
  /** Set where it runs one program: the program, and the parameter that takes the words after the sub-command. */
  readonly program: { readonly name: string; readonly rest: string } | null;
}

/**
 * How a tool takes commands, by its parameters' roles: with one `command` parameter it takes a command line; with two it runs the one program
 * that its id ends with (`bash-git` runs git), by sub-command and arguments. null: it takes none, or needs more than a command.
 */
function commandTool(tool: ToolSpec): CommandTool | null {
  const [line, rest] = tool.parameters.filter(({ role }) => ROLE_FACTS[role].runsCommands);
  if (!line || tool.parameters.some(({ role, required }) => required && !ROLE_FACTS[role].runsCommands)) return null;
  const name = tool.id.split('-').at(-1) ?? tool.id;
  return { tool, line: line.name, program: rest ? { name, rest: rest.name } : null };
}

/** Tools of hopgate's own that run nothing but what hopgate.yaml lists; they serve other commands only where no other tool is. */
const CONFIGURED: { readonly [tool: string]: (config: ProjectConfig, command: string) => string | null } = {
  'bash-test': ({ test }, command) => (test.some(({ run }) => isRunOf(run, command)) ? command : null),
  'bash-deploy': ({ deploy }, command) =>
    Object.hasOwn(deploy, command)
      ? command
      : (Object.keys(deploy).find((name) => isRunOf(deploy[name]?.run ?? [], command)) ?? null),
};

export interface ShellRoute {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  readonly peripheral: string | null;
  readonly mode: Mode | null;
}

/** The ids of a peripheral's tools that a client's shell tool can reach, in the order of the spec. */
export const shellTools = (specs: SpecSet, tools: readonly string[]): readonly string[] =>
  commandTools(specs, tools).map(({ tool }) => tool.id);

/**
 * Which tool of the peripheral takes a command that an agent gave to its client's shell, and with which arguments. It only chooses: the tool that
 * is chosen decides what may run, so that a command which fits no tool goes as it is to one that refuses it. Outside of its envelope a command
 * goes to the catalogue's plainest shell, for the gate to say where that is open.
 */
export function routeCommand(
  command: string,
  context: ShellRoute,
): { readonly tool: string; readonly args: { readonly [name: string]: Json } } {
  const { specs, config, peripheral, mode } = context;
  const here = commandTools(specs, (peripheral !== null && specs.peripherals[peripheral]?.tools) || []);
  const candidates = here.length > 0 ? here : commandTools(specs, Object.keys(specs.tools));
  const text = command.trim();
  for (const { tool, line, program } of here) {
    const said = program && programCall(text, program.name);
    if (program && said)
      return { tool: tool.id, args: { [line]: said.sub, ...(said.rest ? { [program.rest]: said.rest } : {}) } };
    const configured = CONFIGURED[tool.id]?.(config, text) ?? null;
    if (configured !== null) return { tool: tool.id, args: { [line]: configured } };
  }
  const allowed = ({ tool }: CommandTool) =>
    specs.modeGate && mode ? specs.modeGate.effects[mode].includes(tool.effect) : true;
  const rank = (each: CommandTool) =>
    (each.program ? 8 : 0) +
    (Object.hasOwn(CONFIGURED, each.tool.id) ? 4 : 0) +
    (allowed(each) ? 0 : 2) +
    (each.tool.effect === 'act' ? 0 : 1);
  const [best] = candidates.toSorted((a, b) => rank(a) - rank(b));
  return best ? { tool: best.tool.id, args: { [best.line]: command } } : { tool: 'bash', args: { command } };
}

/** A call of a tool that takes commands, as one types it in a shell; null: it takes none. */
export function commandOf(
  { tool: id, args }: { readonly tool: string; readonly args: { readonly [name: string]: Json } },
  { tools }: SpecSet,
  { deploy }: ProjectConfig,
): string | null {
  const tool = own(tools, id);
  const taking = tool && commandTool(tool);
  if (!taking) return null;
  const text = (name: string): string => String(args[name] ?? '');
  if (taking.program) return [taking.program.name, text(taking.line), text(taking.program.rest)].join(' ').trim();
  const configured = id === 'bash-deploy' ? own(deploy, text(taking.line)) : undefined;
  return configured ? configured.run.join(' ') : text(taking.line);
}

const commandTools = (specs: SpecSet, ids: readonly string[]): readonly CommandTool[] =>
  ids.flatMap((id) => {
    const tool = Object.hasOwn(specs.tools, id) ? specs.tools[id] : undefined;
    const taking = tool && commandTool(tool);
    return taking ? [taking] : [];
  });

/** `git commit -m x` as sub-command and the rest, as it stands; null if the command calls another program. */
function programCall(text: string, program: string): { readonly sub: string; readonly rest: string } | null {
  const [first = '', sub = ''] = text.split(/\s+/, 2);
  if (first !== program) return null;
  const after = text.slice(first.length).trimStart();
  return { sub, rest: after.slice(sub.length).trim() };
}

/** Whether a command line is a configured command, as far as plain words tell; `{args}` stands for any further ones. */
function isRunOf(run: readonly string[], command: string): boolean {
  const words = command.split(/\s+/);
  const at = run.indexOf('{args}');
  const plain = run.filter((word, index) => word !== '{args}' && !(word === '--' && run[index + 1] === '{args}'));
  const same = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((word, i) => word === b[i]);
  if (same(words, plain)) return true;
  const after = run.length - at - 1;
  return (
    at >= 0 &&
    words.length >= run.length &&
    same(words.slice(0, at), run.slice(0, at)) &&
    same(words.slice(words.length - after), run.slice(at + 1))
  );
}
