import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { visibleJson } from '../base/text.ts';

/** The world as a command sees it, so that commands run in-process in tests. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** A person can be asked: stdin and stdout are both terminals. */
  readonly isTty: boolean;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly color: boolean;
  /** `--json` was given. */
  json: boolean;
  /** 0 ok, 1 refused or violated, 2 usage. A command that refuses sets it (or throws, see {@link CliError}). */
  exitCode: 0 | 1 | 2;
}

/** The process's own streams, environment and folder. */
export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process;
  return {
    stdout,
    stderr,
    stdin,
    env,
    isTty: stdin.isTTY === true && stdout.isTTY === true,
    cwd: process.cwd(),
    // One judge of NO_COLOR, FORCE_COLOR and non-terminals: styleText itself.
    color: styleText('red', 'x', { stream: stdout, validateStream: true }) !== 'x',
    json: false,
    exitCode: 0,
  };
}

/** A command could not do what it was asked; says what to do next. `code` is stable and shows in `--json`. */
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

export type Style = Parameters<typeof styleText>[0];

/** Text in a style, where the terminal shows styles. */
export const paint = (io: Io, style: Style, text: string): string =>
  io.color ? styleText(style, text, { validateStream: false }) : text;

/** One line (or several) on stdout. */
export function print(io: Io, text = ''): void {
  io.stdout.write(`${text}\n`);
}

/** A remark for a person, on stderr, so that stdout stays what the command was asked for. */
export function note(io: Io, text: string): void {
  io.stderr.write(`hopgate: ${text}\n`);
}

/** One JSON document. */
export function printJson(io: Io, value: unknown): void {
  print(io, visibleJson(JSON.stringify(value, null, 2)));
}

/** One line of a JSON stream. */
export function printJsonLine(io: Io, value: unknown): void {
  print(io, visibleJson(JSON.stringify(value)));
}

export const heading = (io: Io, text: string): string => paint(io, 'bold', text);
