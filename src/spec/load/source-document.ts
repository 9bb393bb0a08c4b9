import type { ReportSpecProblem, SpecPath, SpecProblem } from '../check/spec-problem.ts';

export interface SpecSource {
  /** The name for messages; its last segments decide the kind of the file. */
  readonly file: string;
  readonly text: string;
}

/** A file (or a part of one) as plain data, with the line of each of its places. */
export interface SourceDocument {
  readonly file: string;
  readonly value: unknown;
  /** The line of the nearest place that exists in the text. */
  readonly lineOf: (path: SpecPath) => number | undefined;
}

/** Makes the {@link ReportSpecProblem} of one document; `prefix` is the document's place in the spec set. */
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
