import { CliError } from '../io.ts';

/** What stands between `hopgate claude` or `hopgate codex` and the client program's own arguments. */
export interface ClientCommand {
  readonly root: string;
  readonly session: string | null;
  readonly peripheral: string | null;
  readonly approve: readonly string[];
  /** The program to start; null: the one on the PATH. */
  readonly program: string | null;
}

export const usage = (message: string, remedy: string): CliError =>
  new CliError('usage', message, remedy, { exitCode: 2 });

/**
 * hopgate's own options stand first; from the first word that is none of them, everything is the client program's, `--` or not.
 *
 * @param name of the client program, and of the option that names another one
 * @param switches further options, without a value
 * @throws CliError `usage`
 */
export function readOwnOptions(
  name: 'claude' | 'codex',
  words: readonly string[],
  switches: readonly string[] = [],
): { readonly own: ClientCommand; readonly on: ReadonlySet<string>; readonly args: readonly string[] } {
  const values: { [option: string]: string } = {};
  const approve: string[] = [];
  const on = new Set<string>();
  const known = ['--root', '--session', '--peripheral', '--approve', `--${name}`];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (switches.includes(word)) {
      on.add(word);
      continue;
    }
    const [option, joined] = splitAt(word);
    if (!known.includes(option)) break;
    const value = joined ?? words[++at];
    if (!value) throw usage(`${option} needs a value`, `Write ${option} and what it is.`);
    if (option === '--approve') approve.push(...value.split(',').filter((part) => part !== ''));
    else values[option] = value;
  }
  if (words[at] === '--') at++;
  const own = {
    root: values['--root'] ?? '.',
    session: values['--session'] ?? null,
    peripheral: values['--peripheral'] ?? null,
    approve,
    program: values[`--${name}`] ?? null,
  };
  return { own, on, args: words.slice(at) };
}

/** `--name=value` in its parts; null: there is no value with it. */
export function splitAt(word: string): [name: string, value: string | null] {
  const at = word.indexOf('=');
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, null];
}
