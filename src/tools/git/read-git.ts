import { splitWords } from '../../base/text.ts';
import { type ParsedGit, toGitOptionWords } from '../../gate/commands/parse-git.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop } from '../workspace/tool-stop.ts';
import { makeGitReport } from './git-report.ts';
import type { GitSession } from './git-session.ts';
import { divideGitOperands, excludingPathspec, literalPathspec } from './operands.ts';

/** Options that keep configured diff drivers and the contents of submodules out of the output. */
const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty', '--submodule=short'];

/** Runs a sub-command that only reads: status, diff, log, show, branch, rev-parse. */
export async function runReadOnlyGit(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const argv = await readArgv(session, parsed);
  if (isStop(argv)) return argv;
  const result = await session.run(argv.words);
  // Removes the suffix that hopgate added to peel a name, because the agent did not write it.
  const stderr = result.stderr.replaceAll('^{commit}', '');
  return makeGitReport(parsed.sub, { ...result, stderr }, argv.masked?.length ? { masked: [...argv.masked] } : {});
}

async function readArgv(
  session: GitSession,
  parsed: ParsedGit,
): Promise<{ readonly words: readonly string[]; readonly masked?: readonly string[] } | ToolStop> {
  const { sub, operands, paths } = parsed;
  const options = toGitOptionWords(parsed.options);
  switch (sub) {
    case 'branch':
      // git accepts only one of these two options.
      return { words: ['branch', ...(options.includes('--show-current') ? [] : ['--list']), ...options] };
    case 'rev-parse':
      return { words: ['rev-parse', ...options, ...operands, ...paths] };
    case 'status': {
      const sorted = divideGitOperands(session.rules, [], [...operands, ...paths]);
      if (isStop(sorted)) return sorted;
      return { words: ['status', ...options, '--ignore-submodules=dirty', '--', ...sorted.paths.map(literalPathspec)] };
    }
    default: {
      const sorted = divideGitOperands(session.rules, operands, paths);
      if (isStop(sorted)) return sorted;
      const { revisions } = sorted;
      const requested = sorted.paths.map(literalPathspec);
      const masked = await maskedPaths(session, parsed, revisions, requested);
      if (isStop(masked)) return masked;
      const shown = [...options, ...PLAIN_DIFF, ...everyCommit(sub, requested)];
      const { paths: excluded } = masked;
      return {
        words: [sub, ...shown, ...revisions, '--', ...requested, ...excluded.map(excludingPathspec)],
        masked: excluded,
      };
    }
  }
}

/** Options that keep commits in the log if all of their files are masked; not needed for requested files. */
const everyCommit = (sub: string, requested: readonly string[]): readonly string[] =>
  sub === 'diff' || requested.length > 0 ? [] : ['--full-history', '--sparse'];

/** Options of log that make it show files; without one it shows messages only. */
const SHOWS_FILES = new Set(
  splitWords('patch unified stat numstat shortstat summary name-only name-status raw word-diff function-context check'),
);

/** Options that select commits by changed contents: the result would reveal the content of a masked file. */
const SEARCHES = new Set(['S', 'G']);

/** Options that select commits; the listing of names must select the same commits. */
const SELECTS = new Set(
  splitWords(`
    merge-base cached staged all first-parent merges no-merges reverse topo-order date-order
    max-count skip since after until before author grep regexp-ignore-case
  `),
);
const MAX_ROUNDS = 20;

/**
 * The masked files whose content this command would show. The command runs with names only, and again without the found
 * files until it finds no more, because an exclusion makes log reach further back.
 */
async function maskedPaths(
  session: GitSession,
  { sub, options }: ParsedGit,
  revisions: readonly string[],
  requested: readonly string[],
): Promise<{ readonly paths: readonly string[] } | ToolStop> {
  if (
    sub === 'log' &&
    !options.some(({ option }) => SHOWS_FILES.has(option.long ?? '') || SEARCHES.has(option.short ?? ''))
  )
    return { paths: [] };
  const selection = toGitOptionWords(
    options.filter(({ option }) => SELECTS.has(option.long ?? '') || option.short === 'R'),
  );
  const eachParent = sub === 'diff' ? [] : ['--format=', '-m'];
  const follows = options.some(({ option }) => option.long === 'follow');
  const words = [
    sub,
    ...selection,
    ...PLAIN_DIFF,
    // With --follow, the names that the file had before must also not be masked.
    ...(follows ? ['--follow', '--name-status'] : ['--name-only', '--no-renames']),
    '-z',
    ...eachParent,
    ...everyCommit(sub, requested),
    ...revisions,
    '--',
    ...requested,
  ];
  const masked = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const listed = await session.ask([...words, ...[...masked].map(excludingPathspec)]);
    if (isStop(listed)) return listed;
    const names = (listed.stdout ?? '').split('\0').map((name) => name.replace(/^\n+/, ''));
    const found = names.filter((name) => name !== '' && session.rules.masked(name));
    if (found.length === 0) return { paths: [...masked] };
    if (follows)
      return outOfScopeStop(
        'args',
        `the file was once called ${found[0]}, which is masked`,
        'Leave --follow out, or ask for messages only (--oneline).',
      );
    for (const name of found) masked.add(name);
  }
  return failedToolStop('too-many-changes', 'Too many masked files are affected; name the files to show.');
}
