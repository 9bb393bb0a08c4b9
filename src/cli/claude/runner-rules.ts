import { runCommand } from '../../daemon/run-command.ts';
import type { Io } from '../io.ts';

/**
 * Claude Code's permissions with hopgate's runner among what needs no question, and the `exit` behind it: what is left to ask about is the agent's
 * own command, which stands after these two.
 */
export function withRunner(permissions: object | undefined, env: Io['env']): { readonly [key: string]: unknown } {
  const { allow } = (permissions ?? {}) as { readonly allow?: unknown };
  return { ...permissions, allow: [...(Array.isArray(allow) ? allow : []), ...runnerRules(env)] };
}

export const runnerRules = (env: Io['env']): readonly string[] => [`Bash(${runCommand(env)} *)`, 'Bash(exit)'];
