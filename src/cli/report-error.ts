import { explainSystemError } from '../base/system-error.ts';
import { errorText, escapeInvisibleInLines } from '../base/text.ts';
import { operatorRemedy, ProjectError } from '../project/project-error.ts';
import { formatSpecProblems, SpecError } from '../spec/check/spec-problem.ts';
import { CliError, type Io, paint, printJson, printJsonLine } from './io.ts';

/**
 * Prints the error and its remedy, and sets the exit code: 2 for usage, else 1. With `--json` the error is a document
 * on stdout: `{ "error": { code, message, remedy, issues? } }`. `HOPGATE_DEBUG=1` adds the stack.
 */
export function reportError(io: Io, error: unknown): void {
  const { code, message, remedy, exitCode } = describe(error);
  io.exitCode = exitCode;
  if (io.json) {
    const issues = error instanceof SpecError ? { issues: error.issues } : {};
    const short = JSON.stringify({ code, message, remedy, ...issues }, (_, value) =>
      typeof value === 'string' ? shortenLines(value) : value,
    );
    (io.printsJsonLines ? printJsonLine : printJson)(io, { error: JSON.parse(short) });
  } else {
    const text = `${paint(io, 'red', 'hopgate:')} ${escapeInvisibleInLines(shortenLines(message))}\n`;
    io.stderr.write(remedy === '' ? text : `${text}  ${escapeInvisibleInLines(shortenLines(remedy))}\n`);
  }
  if (io.env['HOPGATE_DEBUG'] === '1' && error instanceof Error) io.stderr.write(`${error.stack}\n`);
}

/** Maximum number of characters of a printed line; a longer one, such as a huge argument, loses its middle. */
const MAX_CHARS = 2000;

const shortenLines = (text: string): string =>
  text
    .split('\n')
    .map((line) =>
      line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS / 2)}…${line.slice(-MAX_CHARS / 2)}`.toWellFormed(),
    )
    .join('\n');

interface Description {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly exitCode: 1 | 2;
}

/** The remedy that an error names for the operator; null if it names none. */
export function remedyOf(error: unknown): string | null {
  if (error instanceof CliError) return error.remedy;
  return error instanceof ProjectError ? operatorRemedy(error) : null;
}

const REMEDIES: { readonly [code: string]: string } = {
  'store-failed': 'Run "hopgate doctor" to check the file.',
  'invalid-query': 'Give the cursor that the last page printed, or leave out --after.',
};

function describe(error: unknown): Description {
  if (error instanceof CliError) return error;
  if (error instanceof ProjectError) {
    const { code, message } = error;
    return { code, message, remedy: operatorRemedy(error), exitCode: code === 'no-root' ? 2 : 1 };
  }
  if (error instanceof SpecError)
    return {
      code: 'invalid-spec',
      message: formatSpecProblems(error.issues),
      remedy: `Correct ${error.issues.length === 1 ? 'it' : 'them'}, then run this again.`,
      exitCode: 1,
    };
  const message = errorText(error);
  const system = explainSystemError(error);
  if (system !== null) return { code: (error as NodeJS.ErrnoException).code!, ...system, exitCode: 1 };
  const coded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return coded
    ? {
        code: error.code as string,
        message,
        remedy: REMEDIES[error.code as string] ?? '',
        exitCode: error.code === 'invalid-query' ? 2 : 1,
      }
    : { code: 'unexpected', message, remedy: 'Set HOPGATE_DEBUG=1 to print the stack.', exitCode: 1 };
}
