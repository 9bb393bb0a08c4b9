import { runCommand } from '../../daemon/run-command.ts';
import type { Io } from '../io.ts';

/**
 * Adds hopgate's runner, and the `exit` after it, to the allowed commands of Claude Code's permissions. The user is
 * then asked only about the agent's own command, which follows these two.
 */
export function withRunner(permissions: object | undefined, env: Io['env']): Permissions {
  const rules = runnerRules(env);
  const allow = allowed(permissions);
  return { ...permissions, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] };
}

/** Removes the runner's rules from the permissions, and the `allow` list too if it is then empty. */
export function withoutRunner(permissions: object, env: Io['env']): Permissions {
  const rules: readonly unknown[] = runnerRules(env);
  const [runner] = rules;
  const allow = allowed(permissions);
  if (!allow.includes(runner)) return { ...permissions };
  const { allow: _, ...others } = permissions as Permissions;
  const left = allow.filter((rule) => !rules.includes(rule));
  return left.length > 0 ? { ...permissions, allow: left } : others;
}

type Permissions = { readonly [key: string]: unknown };

function allowed(permissions: object = {}): readonly unknown[] {
  const { allow } = permissions as Permissions;
  return Array.isArray(allow) ? allow : [];
}

const runnerRules = (env: Io['env']): readonly string[] => [`Bash(${runCommand(env)} *)`, 'Bash(exit)'];
