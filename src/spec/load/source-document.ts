import type { IssuePath, ReportIssue, SpecIssue } from '../check/issues.ts';

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
  readonly lineOf: (path: IssuePath) => number | undefined;
}

/** Makes the {@link ReportIssue} of one document; `prefix` is the document's place in the spec set. */
export function issueReporter(document: SourceDocument, prefix: IssuePath, into: SpecIssue[]): ReportIssue {
  return (path, message, suggestion = null) => {
    const line = document.lineOf(path);
    const full = [...prefix, ...path].join('.');
    into.push({ file: document.file, path: full, ...(line === undefined ? {} : { line }), message, suggestion });
  };
}
