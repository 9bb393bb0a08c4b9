import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { explainSystemError } from '../base/system-error.ts';
import { escapeInvisibleInJson } from '../base/text.ts';
import type { Env } from '../base/user-folders.ts';

/** A command's streams and environment, so that tests can run commands in-process. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** True if a person can be asked: stdin and stdout are both terminals. */
  readonly isTty: boolean;
  readonly env: Env;
  readonly cwd: string;
  readonly color: boolean;
  json: boolean;
  /** True after a line of JSON was printed; an error then takes one line, too. */
  printsJsonLines?: boolean;
  /** 0 ok, 1 refused or violated, 2 usage. Set by a command that refuses; other failures throw a {@link CliError}. */
  exitCode: 0 | 1 | 2;
}

/** The real streams, environment and folder of this process. */
export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process;
  return {
    stdout,
    stderr,
    stdin,
    env,
    isTty: stdin.isTTY === true && stdout.isTTY === true,
    cwd: process.cwd(),
    // styleText alone decides about NO_COLOR, FORCE_COLOR and outputs that are not terminals.
    color: styleText('red', 'x', { stream: stdout, validateStream: true }) !== 'x',
    json: false,
    exitCode: 0,
  };
}

/** An error that stops a command, with a remedy. `code` is stable and appears in `--json`. */
export class CliError extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly exitCode: 1 | 2;
  constructor(
    code: string,
    message: string,
    remedy: string,
    options: ErrorOptions & { readonly exitCode?: 1 | 2 } = {},
  ) {
    super(message, options);
    this.name = 'CliError';
    this.code = code;
    this.remedy = remedy;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** An error in the command line itself; the exit code is 2. */
export const usageError = (message: string, remedy: string, code = 'usage', cause?: unknown): CliError =>
  new CliError(code, message, remedy, { exitCode: 2, ...(cause === undefined ? {} : { cause }) });

/** The text of a file that the command line names, in UTF-8. @throws CliError `unreadable` (usage) */
export function readNamedFile(io: Io, file: string): string {
  const path = resolve(io.cwd, file);
  try {
    // A pipe below /dev/fd, or the standard input, already has a writer.
    if (!/^\/(?:dev\/(?:fd|stdin)|proc)(?:\/|$)/.test(path) && statSync(path).isFIFO())
      printRemark(io, `${file} is a pipe; waiting for a program that writes to it`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    const message = explainSystemError(cause)?.message ?? `cannot read ${file} as UTF-8 text`;
    throw usageError(message, 'Name an existing text file.', 'unreadable', cause);
  }
}

export type TextStyle = Parameters<typeof styleText>[0];

/** Styles text if the terminal supports styles. */
export const paint = (io: Io, style: TextStyle, text: string): string =>
  io.color ? styleText(style, text, { validateStream: false }) : text;

export function print(io: Io, text = ''): void {
  io.stdout.write(`${text}\n`);
}

/** Prints a remark for a person on stderr, so that stdout contains only the command's output. */
export function printRemark(io: Io, text: string): void {
  io.stderr.write(`hopgate: ${text}\n`);
}

export function printJson(io: Io, value: unknown): void {
  print(io, escapeInvisibleInJson(JSON.stringify(value, null, 2)));
}

/** Prints the result of a command: a value with `--json`, else a text. */
export function printResult(io: Io, value: unknown, text: string): void {
  if (io.json) printJson(io, value);
  else print(io, text);
}

export function printJsonLine(io: Io, value: unknown): void {
  io.printsJsonLines = true;
  print(io, escapeInvisibleInJson(JSON.stringify(value)));
}

export function paintDiff(io: Io, line: string): string {
  if (line.startsWith('+')) return paint(io, 'green', line);
  return line.startsWith('-') ? paint(io, 'red', line) : line;
}

export const formatHeading = (io: Io, text: string): string => paint(io, 'bold', text);
