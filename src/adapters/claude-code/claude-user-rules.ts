import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFileNames } from '../../base/files.ts';
import { fieldsOf } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import type { ArgumentRole, ToolSpec } from '../../spec/types.ts';

const MANAGED = ['/etc/claude-code', '/Library/Application Support/ClaudeCode'];

/** By role: the tools of Claude Code that take such an argument, under the names that rules use. */
const TOOLS_OF_ROLE: { readonly [role in ArgumentRole]?: readonly string[] } = {
  'path:read': ['Read'],
  'path:write': ['Edit', 'Write'],
  command: ['Bash'],
  url: ['WebFetch'],
};

/**
 * Finds a rule of the user that concerns a tool of hopgate's MCP server, such as `grep` or a user's own tool. Claude
 * Code cannot apply such a rule to that tool, because the rule names another one: a tool of Claude Code that takes the
 * same kind of argument, or the tool of another MCP server that hopgate calls. Returns the name in the rule; undefined
 * if there is no such rule.
 * @param user the folder of the user's own settings
 */
export function findRuledTool(
  { parameters, upstream }: ToolSpec,
  root: string,
  user: string,
  env: Env,
): string | undefined {
  const server = upstream && `mcp__${upstream.server}`;
  return [
    ...parameters.flatMap(({ role }) => TOOLS_OF_ROLE[role] ?? []),
    ...(upstream ? [`${server}__${upstream.tool}`, `${server}__*`, `${server}`] : []),
  ].find((name) => hasUserPermissionRule(name, root, user, env));
}

/**
 * True if a settings file of Claude Code has a rule that denies calls of a tool or asks about them. The rule is not
 * matched against a call, because only Claude Code knows its syntax. An existing file that cannot be read counts as
 * having such a rule.
 * @param user the folder of the user's own settings
 */
function hasUserPermissionRule(tool: string, root: string, user: string, env: Env): boolean {
  // Rules from the command line of `hopgate claude`.
  if (env['HOPGATE_CLAUDE_RULES']) return true;
  const files = [
    join(user, 'settings.json'),
    join(root, '.claude', 'settings.json'),
    join(root, '.claude', 'settings.local.json'),
    ...MANAGED.flatMap((folder) => [
      join(folder, 'managed-settings.json'),
      ...listFileNames(join(folder, 'managed-settings.d')).map((name) => join(folder, 'managed-settings.d', name)),
    ]),
  ];
  return files.some((file) => rulesIn(file).some((rule) => rule === tool || rule.startsWith(`${tool}(`)));

  function rulesIn(file: string): readonly string[] {
    try {
      const { deny, ask } = fieldsOf(fieldsOf(JSON.parse(readFileSync(file, 'utf8')))['permissions']);
      return [deny, ask].flatMap((rules) => (Array.isArray(rules) ? rules.map(String) : []));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' || code === 'ENOTDIR' ? [] : [tool];
    }
  }
}
