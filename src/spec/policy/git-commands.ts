import { splitWords } from '../../base/text.ts';

/** One option of a sub-command: how it may be written and whether it takes a value. */
export interface GitOptionSpelling {
  readonly long?: string;
  readonly short?: string;
  readonly value: 'none' | 'required' | 'optional';
}

export interface GitSubCommand {
  readonly options: readonly GitOptionSpelling[];
  /** The option that a number means: `-5` is `--max-count=5`. */
  readonly digits?: string;
}

/**
 * Parses options in git's spelling, such as `-p|--patch`. `=` follows an option that takes a value; `[=]` follows an
 * option that may take one.
 */
const gitOptions = (text: string): readonly GitOptionSpelling[] =>
  splitWords(text).map((word) => {
    const [, short, long, value] = /^(?:-(\w))?\|?(?:--([a-z-]+))?(=|\[=\])?$/.exec(word)!;
    const takes = value === undefined ? 'none' : value === '=' ? 'required' : 'optional';
    return { ...(long && { long }), ...(short && { short }), value: takes };
  });

const DIFF = gitOptions(`
  -p|--patch -s|--no-patch -U|--unified= --stat[=] --numstat --shortstat --summary --name-only --name-status --raw
  --full-index --check -M|--find-renames[=] --no-renames -w|--ignore-all-space -b|--ignore-space-change
  --ignore-blank-lines --minimal --diff-filter= --diff-algorithm= --word-diff[=] -W|--function-context -S= -G=
  --pickaxe-regex -z
`);

const COMMITS = gitOptions(`
  --oneline --pretty[=] --format= --date= --abbrev-commit --no-abbrev-commit --decorate[=] --no-decorate
`);

/**
 * Every sub-command that an agent may use, and every option of it. An allow-list: no other option reaches git, such as
 * those that run programs, write files, leave the repository, rewrite history or force.
 */
export const GIT_SUB_COMMANDS = {
  status: {
    options: gitOptions(`
      -s|--short -b|--branch --porcelain[=] --long -u|--untracked-files[=] --ignored[=] -z|--null --show-stash
    `),
  },
  diff: { options: [...DIFF, ...gitOptions('--cached --staged --exit-code --merge-base -R')] },
  log: {
    options: [
      ...DIFF,
      ...COMMITS,
      ...gitOptions(`
        -n|--max-count= --skip= --since= --after= --until= --before= --author= --grep= -i|--regexp-ignore-case --all
        --graph --follow --first-parent --merges --no-merges --reverse --topo-order --date-order
      `),
    ],
    digits: 'max-count',
  },
  show: { options: [...DIFF, ...COMMITS] },
  branch: { options: gitOptions('-l|--list -a|--all -r|--remotes -v|--verbose --show-current') },
  'rev-parse': { options: gitOptions('--verify --short[=] --abbrev-ref[=] --symbolic-full-name') },
  add: { options: gitOptions('-A|--all -u|--update -v|--verbose') },
  switch: { options: gitOptions('-c|--create=') },
  checkout: { options: gitOptions('-b=') },
  restore: { options: gitOptions('-S|--staged') },
  commit: { options: gitOptions('-m|--message= -a|--all -q|--quiet -v|--verbose') },
  push: { options: gitOptions('-u|--set-upstream') },
} as const satisfies { readonly [name: string]: GitSubCommand };

export type GitSubCommandName = keyof typeof GIT_SUB_COMMANDS;
