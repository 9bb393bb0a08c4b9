/** Remedies for each kind of problem: for a program that opens sessions, and for a person at a command line. */
const REMEDIES = {
  'no-root': {
    library: 'Pass the folder of the repository as `root`.',
    operator: 'Name the repository with --root DIR.',
  },
  'no-config': { library: 'Write a hopgate.yaml there.', operator: 'Write one with "hopgate init".' },
  'specs-changed': {
    library: 'Have the operator trust the specs ("hopgate trust"), or pass a spec set as `specs`.',
    operator: 'Read what changed, then run "hopgate trust".',
  },
  'state-dir-inside-root': forBothReaders('Set XDG_STATE_HOME to a folder outside of the root.'),
  'state-dir-unwritable': forBothReaders('Make the state folder writable, or set XDG_STATE_HOME to your own folder.'),
  'state-dir-unsafe': forBothReaders('Move the state folder away, or set XDG_STATE_HOME to a folder of your own.'),
} as const;

function forBothReaders(remedy: string) {
  return { library: remedy, operator: remedy };
}

export type ProjectErrorCode = keyof typeof REMEDIES;

/** A repository or its state folder cannot be used. `code` is stable; `remedy` is for callers of the library. */
export class ProjectError extends Error {
  readonly code: ProjectErrorCode;
  readonly remedy: string;
  constructor(code: ProjectErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProjectError';
    this.code = code;
    this.remedy = REMEDIES[code].library;
  }
}

/** The remedy for a person who runs hopgate's commands. */
export const operatorRemedy = ({ code }: ProjectError): string => REMEDIES[code].operator;
