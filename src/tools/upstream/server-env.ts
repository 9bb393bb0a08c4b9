import { mapValues } from '../../base/map-values.ts';
import { type Env, homeFolder } from '../../base/user-folders.ts';
import type { UpstreamServer } from '../../spec/types.ts';

/** A server's settings with environment values filled in, and the values that must stay secret. */
export interface FilledServerSettings {
  readonly server: UpstreamServer;
  /** Secret values by their reference in hopgate.yaml: `${TOKEN}`. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Thrown if a variable that hopgate.yaml refers to is not set. */
class MissingVariable extends Error {
  override readonly name = 'MissingVariable';
  readonly variable: string;
  constructor(variable: string) {
    super(`the variable ${variable}, which hopgate.yaml names, is not set where hopgate runs`);
    this.variable = variable;
  }
}

/** Variables that only hold locations; their values are not secret. */
const PLAIN = new Set(['HOME', 'PATH', 'PWD', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'TERM']);

/** Fills the environment's values into a server's settings. @throws {@link MissingVariable} */
export function fillServerSettings(server: UpstreamServer, env: Env): FilledServerSettings {
  const secrets = new Map<string, string>();
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (reference, name: string) => {
      const value = env[name];
      if (value === undefined) throw new MissingVariable(name);
      if (!PLAIN.has(name)) secrets.set(reference, value);
      return value;
    });
  const fillAll = (values: { readonly [name: string]: string }) => mapValues(values, (value) => fill(value));
  const filled: UpstreamServer =
    'url' in server
      ? { ...server, url: fill(server.url), headers: fillAll(server.headers) }
      : {
          ...server,
          command: server.command.map(fill),
          env: fillAll(server.env),
          cwd: server.cwd === null ? null : fill(server.cwd).replace(/^~(?=\/|$)/, homeFolder(env)),
        };
  return { server: filled, secrets };
}

/** Shorter values (`1`, `true`) are not treated as secrets, because they occur everywhere. */
const SHORTEST_SECRET = 6;

/** A value as programs write it: plain, in an address, JSON (also `\/`), hexadecimal, base64 at any position. */
function encodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].flatMap((offset) => {
    // In base64, the first and the last character of a secret also depend on the bytes next to it.
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/(?<!=)=+$/, '');
    const own = text.slice(offset === 0 ? 0 : offset + 1, (offset + bytes.length) % 3 === 0 ? undefined : -1);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  const json = JSON.stringify(value).slice(1, -1);
  const texts = [value, encodeURIComponent(value), json, json.replaceAll('/', '\\/')];
  return [...texts, hex, hex.toUpperCase(), ...base64];
}

/** All written forms of the secrets with their references, the longest first. */
export const writtenFormsOfSecrets = (
  secrets: FilledServerSettings['secrets'],
): (readonly [reference: string, form: string])[] =>
  [...secrets]
    .flatMap(([reference, value]) => encodings(value).map((form) => [reference, form] as const))
    .filter(([, form]) => form.length >= SHORTEST_SECRET)
    .sort(([, a], [, b]) => b.length - a.length);

/** Returns a function that replaces secret values by their references in answers and messages. */
export function makeSecretRedactor({ secrets }: Pick<FilledServerSettings, 'secrets'>): (text: string) => string {
  const forms = writtenFormsOfSecrets(secrets);
  return (text) => forms.reduce((clean, [reference, form]) => clean.replaceAll(form, reference), text);
}

/** The variables of hopgate's environment that are passed to a server: only the variables that any program needs. */
export const envForServer = (env: Env): { [name: string]: string } =>
  Object.fromEntries(
    ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'TMPDIR', 'LANG'].flatMap((name) => {
      const value = env[name];
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
