import type { ArgumentRole, ToolSpec } from '../types.ts';

interface RoleFacts {
  /** The tool runs the argument as a command, or as a part of one. */
  readonly runsCommands: boolean;
  /** The value is an address: the scope must list its host. */
  readonly namesHost: boolean;
  /** A missing argument means the root of the tree, so the scope must grant reading it. */
  readonly absentMeansRoot: boolean;
  /** null is a possible value, if the schema allows it. For other roles null means that the argument is left out. */
  readonly takesNull: boolean;
  /** The call starts an agent elsewhere, so it is recorded before it runs. */
  readonly startsAgent: boolean;
  /** No rule judges the value, so evidence may store a large one as a blob. */
  readonly isUnjudged: boolean;
}

const NOTHING: RoleFacts = {
  runsCommands: false,
  namesHost: false,
  absentMeansRoot: false,
  takesNull: false,
  startsAgent: false,
  isUnjudged: false,
};

/**
 * The yes-or-no facts of each role. The rules for values are in `gate/scope/scope-problem.ts` and in the audit's rules.
 */
export const ROLE_FACTS: { readonly [role in ArgumentRole]: RoleFacts } = {
  'path:read': { ...NOTHING, absentMeansRoot: true },
  'path:write': NOTHING,
  command: { ...NOTHING, runsCommands: true },
  url: { ...NOTHING, namesHost: true },
  resource: NOTHING,
  agency: { ...NOTHING, startsAgent: true },
  text: { ...NOTHING, takesNull: true, isUnjudged: true },
};

export const takesCommand = (tool: ToolSpec | undefined): boolean =>
  tool?.parameters.some(({ role }) => ROLE_FACTS[role].runsCommands) ?? false;
