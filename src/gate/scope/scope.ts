import { shorten } from '../../base/text.ts';
import { ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { ArgumentRole, Json, ProjectConfig, ScopeRule, ToolSpec } from '../../spec/types.ts';
import type { Arguments } from '../arguments.ts';
import type { Denial } from '../denial.ts';
import { isMasked, isProtected } from './masks.ts';
import { locatePath, within } from './paths.ts';
import { MASKED, PROTECTED } from './refusals.ts';
import { unwritable } from './writable.ts';

export interface ScopeProblem {
  readonly code: 'out-of-scope' | 'invalid-action';
  readonly about: Denial['about'];
}

interface Call {
  readonly tool: ToolSpec;
  readonly args: Arguments;
  readonly scope: ScopeRule;
  readonly config: ProjectConfig;
  readonly root: string;
  /** Root-relative files that the session's entries name. */
  readonly files: readonly string[];
}

const shown = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return shorten(text, 200);
};

/**
 * Returns the first argument that the scope does not grant, judged by its role; null if all are in scope. Paths are
 * judged by their text alone: the backend follows links and judges the real path by the same rule.
 */
export function scopeProblem(call: Call): ScopeProblem | null {
  for (const parameter of call.tool.parameters) {
    const value = call.args[parameter.name];
    const why = value === undefined ? absentProblem(call, parameter.role) : roleProblem(call, parameter.role, value);
    if (!why) continue;
    return {
      code: why.invalid ? 'invalid-action' : 'out-of-scope',
      about: {
        argument: parameter.name,
        ...(value === undefined ? {} : { value: shown(value) }),
        why: why.why,
        scope: why.scope,
        ...(why.remedy ? { remedy: why.remedy } : {}),
      },
    };
  }
  return null;
}

interface Why {
  readonly why: string;
  readonly scope: readonly string[];
  readonly invalid?: boolean;
  readonly remedy?: string;
}

/** An absent path means the root, so the scope must grant reading it. */
function absentProblem({ scope }: Call, role: ArgumentRole): Why | null {
  if (ROLE_FACTS[role].absentMeansRoot && scope.read !== 'root')
    return { why: 'this scope does not grant reading the whole tree', scope: [] };
  return null;
}

function roleProblem(call: Call, role: ArgumentRole, value: Json): Why | null {
  switch (role) {
    case 'path:read':
    case 'path:write':
      for (const path of Array.isArray(value) ? value : [value]) {
        const why = pathProblem(call, role, path);
        if (why) return why;
      }
      return null;
    case 'command':
      return call.scope.command === 'none' ? { why: 'this scope runs no commands', scope: [] } : null;
    case 'url':
      return call.scope.url === 'none' ? { why: 'this scope fetches nothing', scope: [] } : null;
    case 'text':
      return null;
    default:
      return role satisfies never;
  }
}

function pathProblem({ scope, config, root, files }: Call, role: 'path:read' | 'path:write', value: Json): Why | null {
  const located = locatePath(root, value);
  if (!located.ok) {
    const outside = located.why.includes('outside');
    return {
      why: located.why,
      scope: outside ? ['the root'] : [],
      invalid: !outside,
      remedy: located.why.includes('control character')
        ? 'rename the file; until then, only a shell command with a glob (cat dir/*) can name it'
        : 'name a path inside the root',
    };
  }
  if (isMasked(located.path, config.mask)) {
    return { ...MASKED, scope: [] };
  }
  if (role === 'path:write') {
    if (isProtected(located.path) || (config.specs !== 'default' && within(located.path, [config.specs]))) {
      return { ...PROTECTED, scope: scope.write };
    }
    if (scope.write.length === 0) return { why: 'this scope writes nothing', scope: [] };
    const why = unwritable(located.path, scope.write);
    return why === null ? null : { why: `it ${why}`, scope: scope.write };
  }
  if (scope.read === 'none') return { why: 'this scope reads no files', scope: [] };
  if (scope.read === 'session-log' && !within(located.path, files)) {
    return { why: 'only files that this session has named can be read here', scope: files.slice(0, 20) };
  }
  return null;
}
