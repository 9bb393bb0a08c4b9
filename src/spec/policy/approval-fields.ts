/** The titles that a person sees in an approval request. The hash of the request covers them. */
export const APPROVAL_FIELD_TITLES = {
  fruit: 'fruit',
  context: 'context',
  changes: 'changes',
  findings: 'findings',
  testFiles: 'changed test files',
  args: 'args',
  /** The sha256 of each file that the arguments of a call name for reading. */
  files: 'files',
  command: 'command',
  install: 'install',
  /** The sha256 of each lock file; only the request for an install has it. */
  locks: 'locks',
  exitCriteria: 'exit criteria',
  summary: 'summary',
  /** The id of the tree that passed the tests, and the commands that it passed. */
  tested: 'tested',
  /** The id of the part of the tested tree that is shipped. */
  ships: 'ships',
} as const;

/** The fields of `ships` in an approval that a grant binds: the destination of a push, not its changed files. */
export const BOUND_SHIPPING_FIELDS = ['to', 'onto', 'branch', 'branches', 'author', 'trailer'] as const;
