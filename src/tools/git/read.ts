import type { ToolReport } from '../../ports/tool-backend.ts';
import { failed, invalid, isStop, type Stop } from '../workspace/outcome.ts';
import type { GitSession } from './git-session.ts';
import { excludedPathspec, isRef, pathspec, sortOperands } from './operands.ts';
import { optionWords, type ParsedGit } from './parse-arguments.ts';
import { gitReport } from './report.ts';

/** Neither the drivers of the configuration nor the insides of submodules have a say in what is shown. */
const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'];

/** Runs a sub-command that only looks: status, diff, log, show, branch, rev-parse. */
export async function readGit(session: GitSession, parsed: ParsedGit): Promise<ToolReport | Stop> {
  const argv = await readArgv(session, parsed);
  return 'stop' in argv ? argv : gitReport(parsed.sub, await session.run(argv.words));
}

async function readArgv(session: GitSession, parsed: ParsedGit): Promise<{ readonly words: string[] } | Stop> {
  const { sub, operands, paths } = parsed;
  const options = optionWords(parsed.options);
  switch (sub) {
    case 'branch':
      if (operands.length + paths.length > 0)
        return invalid('args', 'git branch only lists branches here.', 'Leave the names out.');
      return { words: ['branch', '--list', ...options] };
    case 'rev-parse': {
      const strange = [...operands, ...paths].find((word) => !isRef(word));
      if (strange !== undefined)
        return invalid('args', `"${strange}" does not name a commit.`, 'Name a branch, tag, commit, or HEAD~1.');
      return { words: ['rev-parse', ...options, ...operands, ...paths] };
    }
    case 'status': {
      const sorted = sortOperands(session.rules, [], [...operands, ...paths]);
      if (isStop(sorted)) return sorted;
      return { words: ['status', ...options, '--ignore-submodules=dirty', '--', ...sorted.paths.map(pathspec)] };
    }
    default: {
      const sorted = sortOperands(session.rules, operands, paths);
      if (isStop(sorted)) return sorted;
      const { revisions } = sorted;
      const wanted = sorted.paths.map(pathspec);
      const masked = await maskedPaths(session, parsed, revisions, wanted);
      if (isStop(masked)) return masked;
      return {
        words: [sub, ...options, ...PLAIN_DIFF, ...revisions, '--', ...wanted, ...masked.paths.map(excludedPathspec)],
      };
    }
  }
}

/** Options of log that make it show files; without one it shows messages only. */
const SHOWS_FILES = new Set([
  'patch',
  'unified',
  'stat',
  'numstat',
  'shortstat',
  'summary',
  'name-only',
  'name-status',
  'raw',
  'word-diff',
  'function-context',
  'check',
]);

/** Options that choose commits by what changed in files: the answer would tell what a masked one holds. */
const SEARCHES = new Set(['S', 'G']);

/** Options that choose commits: the listing has to choose the same ones. */
const SELECTS = new Set(
  [
    'merge-base',
    'cached',
    'staged',
    'all',
    'first-parent',
    'merges',
    'no-merges',
    'reverse',
    'topo-order',
    'date-order',
  ].concat(['max-count', 'skip', 'since', 'after', 'until', 'before', 'author', 'grep', 'regexp-ignore-case']),
);
const MAX_ROUNDS = 20;

/**
 * The masked files whose content this very command would show. It is asked for the names first, and again with those left out, because leaving
 * files out makes log reach further back.
 */
async function maskedPaths(
  session: GitSession,
  { sub, options }: ParsedGit,
  revisions: readonly string[],
  wanted: readonly string[],
): Promise<{ readonly paths: readonly string[] } | Stop> {
  if (
    sub === 'log' &&
    !options.some(({ option }) => SHOWS_FILES.has(option.long ?? '') || SEARCHES.has(option.short ?? ''))
  )
    return { paths: [] };
  const selection = optionWords(options.filter(({ option }) => SELECTS.has(option.long ?? '') || option.short === 'R'));
  const eachParent = sub === 'diff' ? [] : ['--format=', '-m'];
  const words = [
    sub,
    ...selection,
    ...PLAIN_DIFF,
    '--name-only',
    '--no-renames',
    '-z',
    ...eachParent,
    ...revisions,
    '--',
    ...wanted,
  ];
  const masked = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const listed = await session.ask([...words, ...[...masked].map(excludedPathspec)]);
    if (isStop(listed)) return listed;
    const names = (listed.stdout ?? '').split('\0').map((name) => name.replace(/^\n+/, ''));
    const found = names.filter((name) => name !== '' && session.rules.masked(name));
    if (found.length === 0) return { paths: [...masked] };
    for (const name of found) masked.add(name);
  }
  return failed('too-many-changes', 'Too many masked files lie in the way; name the files to show.');
}
