import type { ToolCall } from '../../ports/tool-backend.ts';
import type { CommandAccess, CommandVariables } from '../../spec/types.ts';
import { runOperatorProgram } from '../git/credentials/credential-helper.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import { makeSecretRedactor, writtenFormsOfSecrets } from '../upstream/server-env.ts';
import { failedToolStop, type ToolStop } from '../workspace/tool-stop.ts';

/** The variables of a configured command, and the functions that redact the operator's values from its results. */
export interface FilledCommandEnv {
  readonly env: { readonly [name: string]: string };
  /** The operator's variables that the configuration refers to and that are not set. */
  readonly unset: readonly string[];
  readonly clean: (text: string) => string;
  /** True if the output may be shown while the command runs, because it needs no redaction. */
  readonly mayShowOutput: boolean;
  readonly cleanResult: (result: CommandResult) => CommandResult;
  /** Replaces a `host:port` that contains a secret value; case is ignored, because host names are in lower case. */
  readonly cleanHost: (host: string) => string;
}

type Secrets = ReadonlyMap<string, string>;

/**
 * Fills the operator's values into a command's variables. A variable that refers to an unset variable is left out.
 * @param secretValues values of variables that the operator's programs printed: see {@link askForSecrets}
 * @param hidden further texts that no result may show
 */
export function fillCommandEnv(
  stated: CommandVariables | undefined,
  operator: NodeJS.ProcessEnv,
  secretValues: Secrets = new Map(),
  hidden: readonly string[] = [],
): FilledCommandEnv {
  const secrets = new Map([...secretValues].map(([name, value]) => [`\${${name}}`, value]));
  for (const [at, text] of hidden.entries()) secrets.set(`[key ${at + 1}]`, text);
  const env: { [name: string]: string } = Object.fromEntries(secretValues);
  const unset = new Set<string>();
  for (const [name, text] of Object.entries(stated ?? {})) {
    let isWhole = true;
    const value = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (reference, from: string) => {
      const operatorValue = operator[from];
      isWhole &&= operatorValue !== undefined;
      if (operatorValue === undefined) unset.add(from);
      else secrets.set(reference, operatorValue);
      return operatorValue ?? '';
    });
    if (isWhole) env[name] = value;
  }
  const clean = makeSecretRedactor({ secrets });
  const cleanResult = (result: CommandResult): CommandResult =>
    secrets.size === 0 ? result : { ...result, stdout: clean(result.stdout), stderr: clean(result.stderr) };
  const forms = writtenFormsOfSecrets(secrets).map(([, form]) => form.toLowerCase());
  const cleanHost = (host: string) =>
    forms.some((form) => host.toLowerCase().includes(form)) ? '(a name that contains a secret)' : host;
  return { env, unset: [...unset], clean, mayShowOutput: secrets.size === 0, cleanResult, cleanHost };
}

const SECONDS = 60;

/** Asks the operator's programs for the values of a command's `secrets`; they run outside the sandbox. */
export async function askForSecrets(
  stated: CommandAccess['secrets'],
  { signal }: Pick<ToolCall, 'signal'>,
  key: string,
): Promise<Secrets | ToolStop> {
  const values = new Map<string, string>();
  for (const [name, command] of Object.entries(stated ?? {})) {
    const answer = await runOperatorProgram(
      command,
      '',
      AbortSignal.any([signal, AbortSignal.timeout(SECONDS * 1000)]),
    );
    if (signal.aborted) return { stop: ABORTED_OUTCOME };
    const value = (answer ?? '').split('\n')[0]!.replace(/\r$/, '');
    if (value === '' || value.includes('\0'))
      return failedToolStop(
        'no-credential',
        `${key}.secrets.${name}: ${command[0]} ${answer === null ? 'failed' : 'printed no value'}; ask the operator to run it, and to fix it.`,
      );
    values.set(name, value);
  }
  return values;
}
