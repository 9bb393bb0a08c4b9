import { homedir } from 'node:os';
import type { UpstreamServer } from '../../spec/types.ts';

export type Environment = { readonly [name: string]: string | undefined };

/** A server's settings with the values of the environment in them, and what must not be told to anyone. */
export interface Filled {
  readonly server: UpstreamServer;
  /** By the reference that stands for each in hopgate.yaml: `${TOKEN}`. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A variable that hopgate.yaml refers to is not set. */
export class MissingVariable extends Error {
  override readonly name = 'MissingVariable';
  readonly variable: string;
  constructor(variable: string) {
    super(`the variable ${variable}, which hopgate.yaml names, is not set where hopgate runs`);
    this.variable = variable;
  }
}

/** Where a variable only says where things are, its value is no secret. */
const PLAIN = new Set(['HOME', 'PATH', 'PWD', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'TERM']);

/**
 * Puts hopgate's own environment into a server's settings.
 * @throws {@link MissingVariable}
 */
export function fillIn(server: UpstreamServer, env: Environment): Filled {
  const secrets = new Map<string, string>();
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (reference, name: string) => {
      const value = env[name];
      if (value === undefined) throw new MissingVariable(name);
      if (!PLAIN.has(name)) secrets.set(reference, value);
      return value;
    });
  const fillAll = (values: { readonly [name: string]: string }) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]));
  const filled: UpstreamServer =
    'url' in server
      ? { ...server, url: fill(server.url), headers: fillAll(server.headers) }
      : {
          ...server,
          command: server.command.map(fill),
          env: fillAll(server.env),
          cwd: server.cwd === null ? null : fill(server.cwd).replace(/^~(?=\/|$)/, env['HOME'] ?? homedir()),
        };
  return { server: filled, secrets };
}

/** Shorter values (`1`, `true`) are no secrets, and would be found everywhere. */
const SHORTEST_SECRET = 6;

/** Puts the references back in the place of the values, so that no answer and no message carries a secret on. */
export function redactor({ secrets }: Filled): (text: string) => string {
  const known = [...secrets]
    .flatMap(([reference, value]) =>
      [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)].map((form) => [reference, form] as const),
    )
    .filter(([, form]) => form.length >= SHORTEST_SECRET)
    .sort(([, a], [, b]) => b.length - a.length);
  return (text) => known.reduce((clean, [reference, form]) => clean.replaceAll(form, reference), text);
}

/** What a program needs to run at all; the rest of hopgate's environment is its own. */
export const inherited = (env: Environment): { [name: string]: string } =>
  Object.fromEntries(
    ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'TMPDIR', 'LANG'].flatMap((name) => {
      const value = env[name];
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
