import { storedCallCommand } from '../../daemon/run-command.ts';
import type { Io } from '../io.ts';

/**
 * Adds hopgate's run command, and the `exit` after it, to the allowed commands of Claude Code's permissions. Claude
 * Code asks about each part of `<run command> …; exit; <command>`, so the user is then asked only about the last part.
 */
export function allowRunCommand(permissions: object | undefined, env: Io['env']): Permissions {
  const rules = runCommandRules(env);
  const allow = allowed(permissions);
  return { ...permissions, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] };
}

/** Removes the run command's rules from the permissions, and the `allow` list too if it is then empty. */
export function removeRunCommand(permissions: object, env: Io['env']): Permissions {
  const rules: readonly unknown[] = runCommandRules(env);
  const [ownRule] = rules;
  const allow = allowed(permissions);
  if (!allow.includes(ownRule)) return { ...permissions };
  const { allow: _, ...others } = permissions as Permissions;
  const remaining = allow.filter((rule) => !rules.includes(rule));
  return remaining.length > 0 ? { ...permissions, allow: remaining } : others;
}

type Permissions = { readonly [key: string]: unknown };

function allowed(permissions: object = {}): readonly unknown[] {
  const { allow } = permissions as Permissions;
  return Array.isArray(allow) ? allow : [];
}

const runCommandRules = (env: Io['env']): readonly string[] => [`Bash(${storedCallCommand(env)} *)`, 'Bash(exit)'];
