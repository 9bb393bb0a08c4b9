import { shorten } from '../../base/text.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { ArgumentRole, Json, ToolParameter } from '../../spec/types.ts';
import type { ArgumentRefusal } from '../commands/argument-refusal.ts';
import { type CommandCall, commandProblem } from '../commands/judge-command.ts';
import type { Denial } from '../denial.ts';
import { urlProblem } from './judge-url.ts';
import { isPathWithinAny, locatePath } from './locate-path.ts';
import { isMaskedByConfig, isWriteProtected } from './masks.ts';
import { CONTROL_CHARACTER_REMEDY, MASKED_PATH_REFUSAL, PROTECTED_PATH_REFUSAL } from './path-refusals.ts';
import { resourceProblem } from './resource-problem.ts';
import { writePathReason } from './write-paths.ts';

/** The code of an argument's refusal, and the details for the denial. */
interface ScopeProblem {
  readonly code: 'out-of-scope' | 'invalid-action';
  readonly about: Denial['about'];
}

interface Call extends CommandCall {
  /** Root-relative files that the session's entries name. */
  readonly files: readonly string[];
}

const showArgument = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return shorten(text, 200);
};

/**
 * Returns the problem of the first argument that the scope does not grant, judged by its role; null if all are in
 * scope. Paths are judged by their text alone: the backend follows links and judges the real path by the same rule.
 */
export function scopeProblem(call: Call): ScopeProblem | null {
  let commands = false;
  for (const parameter of call.tool.parameters) {
    const value = call.args[parameter.name];
    // The arguments that form one command are judged together, in place of the first of them.
    const isFirst: boolean = ARGUMENT_ROLE_FACTS[parameter.role].runsCommands && !commands;
    commands ||= isFirst;
    const why = isFirst
      ? toArgumentProblem(commandProblem(call))
      : value === undefined
        ? absentProblem(call, parameter.role)
        : roleProblem(call, parameter, value);
    if (why) return problemOf(why, parameter.name, value);
  }
  const why = commands ? null : toArgumentProblem(commandProblem(call));
  return why && problemOf(why);
}

function problemOf(
  { why, scope, invalid = false, remedy, argument, element }: ArgumentProblem,
  parameter?: string,
  given?: Json,
): ScopeProblem {
  const value = element ?? given;
  return {
    code: invalid ? 'invalid-action' : 'out-of-scope',
    about: {
      argument: argument ?? parameter ?? '',
      ...(value === undefined || argument !== undefined ? {} : { value: showArgument(value) }),
      why,
      scope,
      ...(remedy ? { remedy } : {}),
    },
  };
}

interface ArgumentProblem {
  readonly why: string;
  readonly scope: readonly string[];
  readonly invalid?: boolean;
  readonly remedy?: string;
  /** The name of the refused argument, if the reason quotes its value. */
  readonly argument?: string;
  /** The refused element, if the argument is a list. */
  readonly element?: Json;
}

function toArgumentProblem(problem: ArgumentRefusal | null): ArgumentProblem | null {
  if (!problem) return null;
  const { code, message, argument, remedy } = problem.refusal;
  return { why: message, scope: [], invalid: code === 'invalid-action', remedy, argument };
}

/** The problem of an absent path: it means the root, so the scope must grant reading the root. */
function absentProblem({ scope }: Call, role: ArgumentRole): ArgumentProblem | null {
  if (ARGUMENT_ROLE_FACTS[role].absentMeansRoot && scope.read !== 'root')
    return { why: 'the scope of the peripheral does not grant reading the whole root', scope: [] };
  return null;
}

function roleProblem(call: Call, { name, role }: ToolParameter, value: Json): ArgumentProblem | null {
  switch (role) {
    case 'path:read':
    case 'path:write':
      for (const path of Array.isArray(value) ? value : [value]) {
        const why = pathProblem(call, role, path);
        if (why) return { ...why, element: path };
      }
      return null;
    case 'url':
      if (call.scope.url === 'none') return { why: 'the scope of the peripheral allows no URLs', scope: [] };
      return toArgumentProblem(urlProblem(name, value, call.config.web.allow));
    case 'resource': {
      const patterns = call.scope.resource ?? [];
      const problem = resourceProblem(value, patterns);
      return problem && { ...problem, scope: patterns };
    }
    case 'agency': {
      const named = call.scope.agency?.map(({ to }) => to) ?? [];
      if (named.includes(value as string)) return null;
      const others = 'ask the author of the spec to add { agency: <id> } under delegates of this peripheral';
      const remedy = named.length > 0 ? `name one of: ${named.join(', ')}; or ${others}` : others;
      return { why: 'the present peripheral may start no agents there', scope: named, remedy };
    }
    case 'command':
    case 'text':
      return null;
    default:
      return role satisfies never;
  }
}

function pathProblem(
  { scope, config, root, files }: Call,
  role: 'path:read' | 'path:write',
  value: Json,
): ArgumentProblem | null {
  const located = locatePath(root, value);
  if (!located.ok) {
    const outside = located.fault === 'outside';
    return {
      why: located.why,
      scope: outside ? ['the root'] : [],
      invalid: !outside,
      remedy: located.fault === 'control-character' ? CONTROL_CHARACTER_REMEDY : 'Name a path inside the root.',
    };
  }
  if (isMaskedByConfig(located.path, config.mask)) return { ...MASKED_PATH_REFUSAL, scope: [] };
  if (role === 'path:write') {
    if (isWriteProtected(located.path) || (config.specs !== 'default' && isPathWithinAny([config.specs], located.path)))
      return { ...PROTECTED_PATH_REFUSAL, scope: scope.write };
    if (scope.write.length === 0) return { why: 'the scope of the peripheral allows no writes', scope: [] };
    const why = writePathReason(located.path, scope.write);
    return why === null ? null : { why: `it ${why}`, scope: scope.write };
  }
  if (scope.read === 'none') return { why: 'this scope reads no files', scope: [] };
  if (scope.read === 'session-log' && !files.includes(located.path))
    return { why: 'only files that this session has named can be read here', scope: files.slice(0, 20) };
  return null;
}
