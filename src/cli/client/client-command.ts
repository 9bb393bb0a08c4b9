import { splitAtCommas } from '../approve/approve-option.ts';
import { usageError } from '../io.ts';
import type { ContinuedConversation } from './continued-session.ts';

/** hopgate's own options, between `hopgate claude` or `hopgate codex` and the client program's arguments. */
export interface ClientCommand {
  readonly root: string;
  readonly session: string | null;
  readonly peripheral: string | null;
  readonly approve: readonly string[];
  /** With `--observe`, a new session only records what would be refused. */
  readonly observe: boolean;
  /** The word after the value of the last `--approve`, if it belongs to the client program; null otherwise. */
  readonly afterApprove: string | null;
  /** The conversation that the client program continues; null if its arguments name none. */
  readonly continued: ContinuedConversation | null;
  /** The program to start; null if it is the one on the PATH. */
  readonly program: string | null;
}

/**
 * Parses hopgate's own options, which come first. From the first other word on, everything belongs to the client
 * program, with or without a `--`.
 * @param name the name of the client program, and of the option that names another program
 * @param switches further options, without a value
 * @throws CliError `usage`
 */
export function parseClientCommand(
  name: 'claude' | 'codex',
  words: readonly string[],
  switches: readonly string[] = [],
): { readonly own: ClientCommand; readonly on: ReadonlySet<string>; readonly args: readonly string[] } {
  const values: { [option: string]: string } = {};
  const approve: string[] = [];
  const on = new Set<string>();
  let afterApprove: string | null = null;
  const options = ['--root', '--session', '--peripheral', '--approve', `--${name}`];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--observe' || switches.includes(word)) {
      on.add(word);
      afterApprove = null;
      continue;
    }
    const [option, joined] = splitLongOption(word);
    if (!options.includes(option)) break;
    const value = joined ?? words[++at];
    afterApprove = option === '--approve' ? (words[at + 1] ?? null) : null;
    if (!value) throw usageError(`${option} needs a value`, `Write a value after ${option}.`);
    if (option === '--approve') approve.push(...splitAtCommas(value));
    else values[option] = value;
  }
  if (words[at] === '--') at++;
  if (on.has('--observe') && values['--session'] !== undefined)
    throw usageError('--observe needs a new session', 'Leave out one of them: a session keeps how it was opened.');
  const own = {
    root: values['--root'] ?? '.',
    session: values['--session'] ?? null,
    peripheral: values['--peripheral'] ?? null,
    approve,
    observe: on.has('--observe'),
    afterApprove,
    continued: null,
    program: values[`--${name}`] ?? null,
  };
  return { own, on, args: words.slice(at) };
}

export function splitLongOption(word: string): [name: string, value: string | null] {
  const at = word.indexOf('=');
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, null];
}
