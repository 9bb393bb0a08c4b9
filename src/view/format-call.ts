import { isObject } from '../base/json.ts';
import { excerpt } from '../base/text.ts';
import { ARGUMENT_ROLES, type ArgumentRole, type Json } from '../spec/types.ts';

/** Returns the names of a tool's parameters in order; null for an unknown tool. */
export type ParameterOrderOfTool = (tool: string) => readonly string[] | null;

/** By role: names of arguments that are shown first if the order of the parameters is unknown. */
const NAMES: { readonly [role in ArgumentRole]: readonly string[] } = {
  'path:read': ['path'],
  'path:write': ['path'],
  command: ['command', 'sub'],
  url: ['url'],
  resource: ['resource'],
  agency: ['agent', 'peripheral'],
  text: ['name', 'pattern', 'query'],
};
const FIRST_ARGUMENTS = [...new Set(ARGUMENT_ROLES.flatMap((role) => NAMES[role]))];
const MAX_FIRST = 100;
const MAX_OTHER = 40;

/**
 * Spells a call as a command line: the tool, then its arguments in the order of its parameters.
 *
 * @example formatCallAsLine('edit', { new: 'b', old: 'a', path: 'x.ts' }, () => null) // "edit x.ts b a"
 */
export function formatCallAsLine(tool: string, args: Json, order: ParameterOrderOfTool): string {
  const values = Array.isArray(args) ? args : inOrder(args, order(tool) ?? FIRST_ARGUMENTS);
  return [tool, ...values.map((value, at) => word(value, at === 0 ? MAX_FIRST : MAX_OTHER))].join(' ');
}

function inOrder(args: Json, names: readonly string[]): readonly Json[] {
  if (!isObject(args)) return [args];
  const known = names.filter((name) => Object.hasOwn(args, name));
  const rest = Object.keys(args).filter((name) => !known.includes(name));
  return [...known, ...rest].map((name) => args[name]!);
}

/** Spells an argument: a single word without quotes, also a line of words as the first argument; otherwise as JSON. */
function word(value: Json, length: number): string {
  if (Array.isArray(value)) return value.map((one) => word(one, length)).join(' ');
  if (typeof value !== 'string') return excerpt(JSON.stringify(value), length);
  const bare = value !== '' && (length === MAX_FIRST ? !/[\n\r\t]/.test(value) : !/\s/.test(value));
  return excerpt(bare ? value : JSON.stringify(value), length);
}
