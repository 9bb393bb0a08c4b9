import { isDeepStrictEqual } from 'node:util';
import { isGuardHookCommand } from '../../adapters/claude-code/plugin/claude-hook-config.ts';
import { isObject, type Json, listOf } from '../../base/json.ts';
import { parseJsonObject, setJsonKey } from './json-settings.ts';

type Groups = { readonly [event: string]: readonly unknown[] };

/**
 * Replaces hopgate's hooks in a settings file by `guard`, and keeps all other hooks. If nothing has to change, the text
 * stays the same, byte for byte.
 * @throws CliError `bad-json`
 */
export function replaceHopgateHooks(text: string | null, path: string, guard: Groups): string | null {
  const hooksBefore = text === null || text.trim() === '' ? undefined : parseJsonObject(text, path)['hooks'];
  // Claude Code also ignores hooks that are not an object.
  if (hooksBefore !== undefined && !isObject(hooksBefore)) return text;
  const others = withoutOurs(hooksBefore ?? {});
  const hooks: { [event: string]: unknown } = { ...others };
  for (const [event, groups] of Object.entries(guard)) hooks[event] = [...listOf(others[event] as Json), ...groups];
  if (isDeepStrictEqual(hooks, hooksBefore ?? {})) return text;
  return setJsonKey(text, path, 'hooks', Object.keys(hooks).length > 0 ? (hooks as never) : undefined);
}

/** Removes hopgate's hooks, and each event that has no other hooks. */
function withoutOurs(hooks: { readonly [event: string]: unknown }): { readonly [event: string]: unknown } {
  const others = Object.entries(hooks).flatMap(([event, groups]) => {
    if (!Array.isArray(groups) || !groups.some(isHopgateGroup)) return [[event, groups] as const];
    const others = groups.filter((group) => !isHopgateGroup(group));
    return others.length > 0 ? [[event, others] as const] : [];
  });
  return Object.fromEntries(others);
}

const isHopgateGroup = (group: unknown): boolean =>
  isObject(group) &&
  listOf(group['hooks'] as Json).some((hook) => isObject(hook) && isGuardHookCommand(hook['command']));
