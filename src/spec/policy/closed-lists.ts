/** The titles that a person sees in an approval request. The hash of the request covers them. */
export const APPROVAL_VIEW = {
  fruit: 'fruit',
  context: 'context',
  changes: 'changes',
  findings: 'findings',
  testFiles: 'changed test files',
  args: 'args',
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

/** Fields of a backpack that identify the session: no caller can set them. */
export const IDENTITY_FIELDS: readonly string[] = ['session-id', 'author'];

/** Backpack fields that no tool may use for its state. */
export const RESERVED_STATE: readonly string[] = [...IDENTITY_FIELDS, 'changed-files', 'commit-message'];

/** The tools that every adapter adds to those of the peripheral. No tool of a catalogue may have these names. */
export const CONTROLS = ['hop', 'mode', 'status', 'why'] as const;

/** Sub-commands of git that create a branch or switch to one. */
export const BRANCH_COMMANDS: readonly string[] = ['branch', 'switch', 'checkout'];

/** The tool that starts, reads and stops commands in the background. */
export const BACKGROUND_TOOL = 'bash-background';

/** The states of a message, in order. */
export const RECEIPT_STATES: readonly string[] = ['sent', 'delivered', 'read', 'answered'];

export const AGENCY_TOOL = 'agency-run';

/** The tools whose calls have a tag of their own, so that a query finds them by kind. */
export const TOOL_TAGS: { readonly [tool: string]: string } = {
  'alfworld-action': 'alfworld-step',
  [AGENCY_TOOL]: AGENCY_TOOL,
  bell: 'bell',
  whistle: 'whistle',
};
