import { plural } from '../../base/text.ts';

/** One problem in an authored file. */
export interface SpecIssue {
  /** The file name as the caller gave it. */
  readonly file: string;
  /** Place in the spec set: `peripherals.edit.exit.pass`. */
  readonly path: string;
  /** The line in the file, from 1; absent if the problem is not at a line (a missing file). */
  readonly line?: number;
  readonly message: string;
  /** A correction; null if there is none beyond the message. */
  readonly suggestion: string | null;
}

/** A finding that does not stop a spec set from loading. */
export interface SpecWarning {
  readonly code:
    | 'unbound-exit'
    | 'hop-opens-nothing'
    | 'no-edge'
    | 'glob-matches-nothing'
    | 'masks-nothing'
    | 'unused-source'
    | 'unreachable'
    | 'useless-delegate'
    | 'never-in-mode'
    | 'never-in-scope'
    | 'beside-its-scope'
    | 'unserved'
    | 'dead-exit'
    | 'lost-mode'
    | 'operator-only'
    | 'unknown-upstream';
  readonly path: string;
  readonly message: string;
  readonly suggestion: string | null;
}

export type IssuePath = readonly (string | number)[];

/** Reports a problem at a place inside one document. */
export type ReportIssue = (path: IssuePath, message: string, suggestion?: string | null) => void;

/** The issues as a text for people, one paragraph a file. */
export function formatIssues(issues: readonly SpecIssue[]): string {
  const files = [...new Set(issues.map((issue) => issue.file))];
  const count = plural(issues.length, 'problem');
  const blocks = files.map((file) => {
    const inFile = issues.filter((issue) => issue.file === file).sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const lines = inFile.map(formatIssue);
    return `${file}\n${lines.join('\n')}`;
  });
  return `${count}${files.length > 1 ? ` in ${files.length} files` : ''}\n\n${blocks.join('\n\n')}`;
}

function formatIssue({ path, line, message, suggestion }: SpecIssue): string {
  const where = [line === undefined ? '' : `line ${line}`, path].filter(Boolean).join('  ');
  return `  ${where && `${where}: `}${message}${suggestion ? `\n      ${suggestion}` : ''}`;
}

/** Thrown if authored files are invalid. `issues`: all problems of all files; `message`: the same as text. */
export class SpecError extends Error {
  readonly issues: readonly SpecIssue[];
  constructor(issues: readonly SpecIssue[]) {
    super(formatIssues(issues));
    this.name = 'SpecError';
    this.issues = issues;
  }
}
