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

/** Fields of a backpack that identify the session: no caller can set them. */
export const SESSION_IDENTITY_FIELDS: readonly string[] = ['session-id', 'author'];

export const RESERVED_STATE_FIELDS: readonly string[] = [...SESSION_IDENTITY_FIELDS, 'changed-files', 'commit-message'];

/** The tools that every adapter adds to the tools of the peripheral. No tool of a catalogue may have these names. */
export const CONTROLS = ['hop', 'mode', 'status', 'why'] as const;

export const GIT_BRANCH_COMMANDS: readonly string[] = ['branch', 'switch', 'checkout'];

/** The tool that starts, reads and stops commands in the background. */
export const BACKGROUND_TOOL_ID = 'bash-background';

/** The states of a message, in order. */
export const RECEIPT_STATES: readonly string[] = ['sent', 'delivered', 'read', 'answered'];

export const AGENCY_TOOL_ID = 'agency-run';

/** The tools whose calls have a tag of their own, so that a query finds them by kind. */
export const EVIDENCE_TAG_BY_TOOL: { readonly [tool: string]: string } = {
  'alfworld-action': 'alfworld-step',
  [AGENCY_TOOL_ID]: AGENCY_TOOL_ID,
  bell: 'bell',
  whistle: 'whistle',
};
