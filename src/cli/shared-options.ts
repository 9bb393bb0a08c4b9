import { InvalidArgumentError, Option } from 'commander';
import { realRepositoryRoot, repositoryOfFolder } from '../project/repository-root.ts';
import { CliError, type Io } from './io.ts';

/** Makes `--root DIR`, the repository; {@link resolveRootOption} has its default. */
export const rootOption = (): Option =>
  new Option('--root <dir>', 'the repository').default('.', 'the one that contains the current folder');

export interface RootOption {
  readonly root: string;
}

/** Makes `--observe`, with which a new session only records what would be refused. */
export const observeOption = (): Option =>
  new Option(
    '--observe',
    'run calls that would be refused, and record the refusals; masks, protected names and the sandbox still refuse calls; the session never verifies as clean',
  ).conflicts(['session', 'attach']);

/** The real path of `--root`. Throws ProjectError `no-root` (usage). */
export function resolveRootOption(io: Io, { root }: RootOption): string {
  const named = realRepositoryRoot(root, io.cwd);
  return root === '.' ? repositoryOfFolder(named) : named;
}

/** Parses a name of at most `max` characters. @throws InvalidArgumentError */
export const nameParser =
  (max: number) =>
  (text: string): string => {
    if (text.length <= max && /^[\w.:-]+$/.test(text)) return text;
    throw new InvalidArgumentError(`It must have 1 to ${max} letters, digits, or . _ : -`);
  };

/** Parses an option that is a whole number, by default from 0. @throws InvalidArgumentError */
export const wholeNumberParser =
  (most: number, least = 0) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

/** Parses an option that is a number from 0. @throws InvalidArgumentError */
export const numberParser =
  (most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= 0 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from 0 to ${most}.`);
  };

/** Parses the id of an agent. @throws InvalidArgumentError */
export function parseAgentOption(text: string): string {
  if (/^[^\p{Cc}\p{Cs}]+$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be a name without control characters.');
}

/** Parses the name of a person. @throws InvalidArgumentError */
export function parseNameOption(text: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be a name: letters, digits, space and . _ @ + -, at most 100.');
}

/** Parses `host:port` or `[IPv6]:port`. @throws InvalidArgumentError */
export function parseHostAndPortOption(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) < 65_536) return { host, port: Number(port) };
  throw new InvalidArgumentError('It must be an address and a port, such as 10.0.0.1:4781.');
}

export const telemetryOption = (): Option =>
  new Option(
    '--telemetry [contents]',
    'send spans to the OpenTelemetry provider of this process; "contents" adds arguments and results',
  ).choices(['contents']);

/** The value of `--telemetry`, as the option `telemetry` of `openSession`. */
export const telemetryFromOption = (
  telemetry: boolean | 'contents' | undefined,
): boolean | { readonly contents: true } => (telemetry === 'contents' ? { contents: true } : (telemetry ?? false));

/**
 * Returns the value of {@link telemetryFromOption} if the package for spans is installed. Call it before any session is
 * opened.
 * @throws CliError `no-telemetry` without the package
 */
export async function checkTelemetryOption(
  telemetry: Parameters<typeof telemetryFromOption>[0],
): Promise<ReturnType<typeof telemetryFromOption>> {
  if (telemetry)
    await import('../telemetry/index.ts').catch((cause: unknown) => {
      throw new CliError(
        'no-telemetry',
        'telemetry needs the package @opentelemetry/api',
        'Run "npm install @opentelemetry/api", or leave out --telemetry.',
        { cause },
      );
    });
  return telemetryFromOption(telemetry);
}
