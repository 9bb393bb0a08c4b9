import type { ReportSpecProblem, SpecPath, SpecProblem } from '../check/spec-problem.ts';

export interface SpecSource {
  /** The file's name in messages. Its last segments decide the kind of the file. */
  readonly file: string;
  readonly text: string;
}

/** The content of a file, or of a part of one, as plain data, with the line of each value. */
export interface SourceDocument {
  readonly file: string;
  readonly value: unknown;
  /** The line of a path in the file; of its nearest parent if the path does not exist. */
  readonly lineOf: (path: SpecPath) => number | undefined;
}

/** Makes the {@link ReportSpecProblem} of one document; `prefix` is the path of the document in the spec set. */
export function specProblemReporter(
  document: SourceDocument,
  prefix: SpecPath,
  into: SpecProblem[],
): ReportSpecProblem {
  return (path, message, suggestion = null) => {
    const line = document.lineOf(path);
    const full = [...prefix, ...path].join('.');
    into.push({ file: document.file, path: full, ...(line === undefined ? {} : { line }), message, suggestion });
  };
}
