/** One option of a sub-command: how it may be written and whether it takes a value. */
export interface GitOptionSpelling {
  readonly long?: string;
  readonly short?: string;
  readonly value: 'none' | 'required' | 'optional';
}

/** The words that a sub-command takes besides its options. */
type Operands = 'none' | 'refs' | 'refs-and-paths' | 'paths' | 'remote-and-branch';

export interface GitSubCommand {
  readonly purpose: string;
  readonly options: readonly GitOptionSpelling[];
  readonly operands: Operands;
  /** The option that a number means: `-5` is `--max-count=5`. */
  readonly digits?: string;
}

const flag = (long: string, short?: string): GitOptionSpelling => ({
  long,
  value: 'none',
  ...(short === undefined ? {} : { short }),
});
const shortFlag = (short: string): GitOptionSpelling => ({ short, value: 'none' });
const shortTakes = (short: string): GitOptionSpelling => ({ short, value: 'required' });
const valueOption = (long: string, short?: string): GitOptionSpelling => ({ ...flag(long, short), value: 'required' });
const mayTake = (long: string, short?: string): GitOptionSpelling => ({ ...flag(long, short), value: 'optional' });

const DIFF: readonly GitOptionSpelling[] = [
  flag('patch', 'p'),
  flag('no-patch', 's'),
  valueOption('unified', 'U'),
  mayTake('stat'),
  flag('numstat'),
  flag('shortstat'),
  flag('summary'),
  flag('name-only'),
  flag('name-status'),
  flag('raw'),
  flag('full-index'),
  flag('check'),
  mayTake('find-renames', 'M'),
  flag('no-renames'),
  flag('ignore-all-space', 'w'),
  flag('ignore-space-change', 'b'),
  flag('ignore-blank-lines'),
  flag('minimal'),
  valueOption('diff-filter'),
  valueOption('diff-algorithm'),
  mayTake('word-diff'),
  flag('function-context', 'W'),
  shortTakes('S'),
  shortTakes('G'),
  flag('pickaxe-regex'),
  shortFlag('z'),
];

const COMMITS: readonly GitOptionSpelling[] = [
  flag('oneline'),
  mayTake('pretty'),
  valueOption('format'),
  valueOption('date'),
  flag('abbrev-commit'),
  flag('no-abbrev-commit'),
  mayTake('decorate'),
  flag('no-decorate'),
];

/**
 * Every sub-command that an agent may use, and every option of it. An allow-list: no other option reaches git, such as
 * those that run programs, write files, leave the repository, rewrite history or force.
 */
export const GIT_SUB_COMMANDS = {
  status: {
    purpose: 'show what changed',
    options: [
      flag('short', 's'),
      flag('branch', 'b'),
      mayTake('porcelain'),
      flag('long'),
      mayTake('untracked-files', 'u'),
      mayTake('ignored'),
      flag('null', 'z'),
      flag('show-stash'),
    ],
    operands: 'paths',
  },
  diff: {
    purpose: 'show changes',
    options: [...DIFF, flag('cached'), flag('staged'), flag('exit-code'), flag('merge-base'), shortFlag('R')],
    operands: 'refs-and-paths',
  },
  log: {
    purpose: 'show commits',
    options: [
      ...DIFF,
      ...COMMITS,
      valueOption('max-count', 'n'),
      valueOption('skip'),
      valueOption('since'),
      valueOption('after'),
      valueOption('until'),
      valueOption('before'),
      valueOption('author'),
      valueOption('grep'),
      flag('regexp-ignore-case', 'i'),
      flag('all'),
      flag('graph'),
      flag('follow'),
      flag('first-parent'),
      flag('merges'),
      flag('no-merges'),
      flag('reverse'),
      flag('topo-order'),
      flag('date-order'),
    ],
    operands: 'refs-and-paths',
    digits: 'max-count',
  },
  show: { purpose: 'show a commit', options: [...DIFF, ...COMMITS], operands: 'refs-and-paths' },
  branch: {
    purpose: 'list branches, or create one at HEAD',
    options: [flag('list', 'l'), flag('all', 'a'), flag('remotes', 'r'), flag('verbose', 'v'), flag('show-current')],
    operands: 'refs',
  },
  'rev-parse': {
    purpose: 'name a commit',
    options: [flag('verify'), mayTake('short'), mayTake('abbrev-ref'), flag('symbolic-full-name')],
    operands: 'refs',
  },
  add: {
    purpose: 'stage changed files',
    options: [flag('all', 'A'), flag('update', 'u'), flag('verbose', 'v')],
    operands: 'paths',
  },
  switch: {
    purpose: 'create a branch at HEAD, or switch to one',
    options: [valueOption('create', 'c')],
    operands: 'refs',
  },
  checkout: {
    purpose: 'create a branch at HEAD, or switch to one',
    options: [shortTakes('b')],
    operands: 'refs',
  },
  restore: { purpose: 'unstage files', options: [flag('staged', 'S')], operands: 'paths' },
  commit: {
    purpose: 'commit the staged files',
    options: [valueOption('message', 'm'), flag('all', 'a'), flag('quiet', 'q'), flag('verbose', 'v')],
    operands: 'none',
  },
  push: {
    purpose: 'send a configured branch to the configured remote',
    options: [flag('set-upstream', 'u')],
    operands: 'remote-and-branch',
  },
} as const satisfies { readonly [name: string]: GitSubCommand };

export type GitSubCommandName = keyof typeof GIT_SUB_COMMANDS;
