import { plural } from '../../base/text.ts';

/** One problem in a file of a spec set, or in hopgate.yaml. */
export interface SpecProblem {
  /** The file name as the caller gave it. */
  readonly file: string;
  /** Path in the spec set: `peripherals.edit.exit.pass`. */
  readonly path: string;
  /** The line in the file, from 1; absent if the problem is not at a line (a missing file). */
  readonly line?: number;
  readonly message: string;
  /** A correction; null if there is none beyond the message. */
  readonly suggestion: string | null;
}

/** A setting without effect, or another doubtful setting; the spec set still loads. */
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
    | 'late-fruit'
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

export type SpecPath = readonly (string | number)[];

/** Reports a problem at a path inside one document. */
export type ReportSpecProblem = (path: SpecPath, message: string, suggestion?: string | null) => void;

/** The problems as a text for people, one paragraph for each file. */
export function formatSpecProblems(problems: readonly SpecProblem[]): string {
  const files = [...new Set(problems.map((problem) => problem.file))];
  const count = plural(problems.length, 'problem');
  const blocks = files.map((file) => {
    const inFile = problems.filter((problem) => problem.file === file).sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const lines = inFile.map(formatSpecProblem);
    return `${file}\n${lines.join('\n')}`;
  });
  return `${count}${files.length > 1 ? ` in ${files.length} files` : ''}\n\n${blocks.join('\n\n')}`;
}

function formatSpecProblem({ path, line, message, suggestion }: SpecProblem): string {
  const where = [line === undefined ? '' : `line ${line}`, path].filter(Boolean).join('  ');
  return `  ${where && `${where}: `}${message}${suggestion ? `\n      ${suggestion}` : ''}`;
}

/** Thrown if authored files are invalid. Its message has all `issues` as text. */
export class SpecError extends Error {
  readonly issues: readonly SpecProblem[];
  constructor(problems: readonly SpecProblem[]) {
    super(formatSpecProblems(problems));
    this.name = 'SpecError';
    this.issues = problems;
  }
}
