import type { ArgumentRole, ToolSpec } from '../types.ts';

interface RoleFacts {
  /** True if the tool runs the argument as a command, or as a part of one. */
  readonly runsCommands: boolean;
  /** True if the value is an address, and the scope must list its host. */
  readonly namesHost: boolean;
  /** True if a missing argument means the root of the tree, which the scope must then let the tool read. */
  readonly absentMeansRoot: boolean;
  /**
   * True if null is a value of the argument where the schema allows null. For other roles null means that the argument
   * is missing.
   */
  readonly takesNull: boolean;
  /** True if the call starts an agent elsewhere. Such a call is recorded before it runs. */
  readonly startsAgent: boolean;
  /** True if no rule judges the value. Evidence may then store a large value as a blob. */
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

/** The yes-or-no facts of each role. The gate's `scope-problem.ts` and the audit's rules judge the values. */
export const ARGUMENT_ROLE_FACTS: { readonly [role in ArgumentRole]: RoleFacts } = {
  'path:read': { ...NOTHING, absentMeansRoot: true },
  'path:write': NOTHING,
  command: { ...NOTHING, runsCommands: true },
  url: { ...NOTHING, namesHost: true },
  resource: NOTHING,
  agency: { ...NOTHING, startsAgent: true },
  text: { ...NOTHING, takesNull: true, isUnjudged: true },
};

export const takesCommandArgument = (tool: ToolSpec | undefined): boolean =>
  tool?.parameters.some(({ role }) => ARGUMENT_ROLE_FACTS[role].runsCommands) ?? false;
