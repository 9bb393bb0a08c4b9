import type { CommandEnv } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { redactor } from '../upstream/environment.ts';

/** The variables of a configured command, and the function that redacts the operator's values from its results. */
export interface FilledEnv {
  readonly env: { readonly [name: string]: string };
  readonly clean: (text: string) => string;
  readonly cleanResult: (result: CommandResult) => CommandResult;
}

/**
 * Fills the operator's values into a command's variables. A variable that refers to an unset one is left out, as it
 * would be outside.
 */
export function fillEnv(stated: CommandEnv | undefined, operator: NodeJS.ProcessEnv): FilledEnv {
  const secrets = new Map<string, string>();
  const env: { [name: string]: string } = {};
  for (const [name, text] of Object.entries(stated ?? {})) {
    let isWhole = true;
    const value = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (reference, from: string) => {
      const taken = operator[from];
      isWhole &&= taken !== undefined;
      if (taken !== undefined) secrets.set(reference, taken);
      return taken ?? '';
    });
    if (isWhole) env[name] = value;
  }
  const clean = redactor({ secrets });
  const cleanResult = (result: CommandResult): CommandResult =>
    secrets.size === 0 ? result : { ...result, stdout: clean(result.stdout), stderr: clean(result.stderr) };
  return { env, clean, cleanResult };
}
