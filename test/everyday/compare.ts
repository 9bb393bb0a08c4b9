import { homedir } from 'node:os';
import type { Denial } from '../../src/gate/denial.ts';

/** One run of a command: its status, its output, and the tree that it left. */
export interface Run {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly tree: Tree;
}

/** Content hashes by path, and facts of the repository (`git: HEAD`). */
export type Tree = ReadonlyMap<string, string>;

/** A run in a session: the run, or a refusal. */
export interface Inside {
  readonly run: Run | null;
  readonly denial: Denial | null;
  /** The result's fields besides the output. */
  readonly fields: { readonly [key: string]: unknown };
  /** The message of a tool that ran and could not do its task. */
  readonly failure: string | null;
  /** The advice that clients show below the output. */
  readonly advice: string | null;
}

/**
 * `same`: also the changed files; `ignored`: the same, and only files that a result need not name were not kept;
 * `said`: the same, and the result names what was not kept; `refused`: with a remedy; `differs`: everything else.
 */
export const VERDICTS = ['same', 'ignored', 'said', 'refused', 'differs'] as const;

export interface Verdict {
  readonly kind: (typeof VERDICTS)[number];
  readonly why: string;
}

/** Fields of a result that say how to work within a limit. */
const WAYS = ['noNetwork', 'notShown', 'masked', 'remedy', 'withoutObjects', 'git'];

/**
 * Judges a run inside by the same run outside.
 *
 * @param mayLose true for the paths whose loss a result need not name
 */
export function compareRuns(
  outside: Run,
  inside: Inside,
  compare: 'all' | 'status',
  mayLose: (path: string) => boolean,
): Verdict {
  const { run, denial, fields, failure, advice } = inside;
  if (denial) {
    const way = denial.remedy ?? '';
    return way === '' ? differs(`denied without a way: ${denial.message}`) : { kind: 'refused', why: denial.message };
  }
  if (run === null) return differs(failure ?? 'no result');
  const ways = [failure, advice].filter((each) => each !== null).concat(WAYS.flatMap((field) => text(fields[field])));
  const way = (why: string): Verdict =>
    ways.length === 0 ? differs(why) : { kind: 'refused', why: `${why}; ${ways.join(' ')}` };
  if (run.exit !== outside.exit) return way(`exit ${run.exit} instead of ${outside.exit}: ${lastLine(run)}`);
  const verdict = fields['verdict'];
  if (verdict !== undefined && verdict !== (outside.exit === 0 ? 'pass' : 'fail'))
    return way(`verdict ${String(verdict)} after exit ${outside.exit} outside`);
  if (compare === 'all')
    for (const stream of ['stdout', 'stderr'] as const) {
      const difference = firstDifference(plain(outside[stream]), plain(run[stream]));
      if (difference !== null) return way(`${stream}: ${difference}`);
    }
  const lost = [...new Set([...outside.tree.keys(), ...run.tree.keys()])].filter(
    (path) => outside.tree.get(path) !== run.tree.get(path),
  );
  if (lost.length === 0) return { kind: 'same', why: '' };
  if (failure) return { kind: 'refused', why: failure };
  const dropped = (fields['dropped'] as readonly { readonly path: string }[] | undefined) ?? [];
  const caches = (fields['droppedOutputs'] as readonly string[] | undefined) ?? [];
  const named = [...dropped.map(({ path }) => path.replace(/\/$/, '')), ...caches];
  const isSaid = (path: string) =>
    path.startsWith('git: ')
      ? fields['git'] !== undefined || dropped.length > 0
      : typeof fields['droppedInAll'] === 'number' || named.some((at) => path === at || path.startsWith(`${at}/`));
  const unnamed = lost.filter((path) => !isSaid(path));
  const silent = unnamed.filter((path) => !mayLose(path));
  if (silent.length > 0) return differs(`the tree differs silently: ${silent.slice(0, 5).join(', ')}`);
  if (unnamed.length === lost.length) return { kind: 'ignored', why: `not kept: ${lost.slice(0, 5).join(', ')}` };
  return { kind: 'said', why: text(fields['warning']).concat(text(fields['git'])).join(' ') };
}

const differs = (why: string): Verdict => ({ kind: 'differs', why });
const text = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
const lastLine = ({ stdout, stderr }: Run): string =>
  `${stderr}\n${stdout}`.trim().split('\n').slice(-2).join(' / ').slice(0, 240);

/**
 * The lines of an output without times, process ids and random names, sorted: programs work in parallel. Random names
 * go before the times, because they may look like one.
 */
function plain(output: string): readonly string[] {
  return output
    .replaceAll(homedir(), '<home>')
    .replaceAll('/home/agent', '<home>')
    .replaceAll(/\/tmp\/[\w.+-]+/g, '<temp>')
    .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '')
    .replaceAll(/\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|seconds?|secs?|s|m)\b/g, '<time>')
    .replaceAll(/\d+(?:\.\d+)? (?=\w+\/s\b)/g, '<rate> ')
    .replaceAll(/\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b/g, '<clock>')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(?:[T_]\S+)?/g, '<date>')
    .replaceAll(/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+ .*?\d{4}/g, '<date>')
    .replaceAll(/\b(?:[A-Z][a-z]{2}) +\d{1,2} (?=<clock>)/g, '<day> ')
    .replaceAll(/0x[0-9a-f]{4,}/g, '<address>')
    .replaceAll(/\bsha256=[0-9a-f]{64}/g, '<hash>')
    .replaceAll(', estimated <time>', '')
    .replaceAll(/duration_ms:? \S+|\bTime: [\d.]+|\(cached\)/g, '<time>')
    .replaceAll(/==\d+==|\[pid +\d+\]|(?<=thread '\w+' )\(\d+\)|(?<=^bash: line \d+:) +\d+(?= [A-Z])/gm, '<pid>')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .sort();
}

function firstDifference(outside: readonly string[], inside: readonly string[]): string | null {
  const missing = without(outside, inside);
  const more = without(inside, outside);
  if (missing.length === 0 && more.length === 0) return null;
  const short = (line: string | undefined) => JSON.stringify((line ?? '').slice(0, 160));
  return `outside ${short(missing[0])}, inside ${short(more[0])}`;
}

function without(all: readonly string[], taken: readonly string[]): readonly string[] {
  const left = [...taken];
  return all.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
