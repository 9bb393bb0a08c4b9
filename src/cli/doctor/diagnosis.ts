export interface Diagnosis {
  readonly name: string;
  /** `missing` if the features in `without` do not work; `broken` if no session can start. */
  readonly status: 'ok' | 'missing' | 'broken';
  /** The version and path that were found, or the problem. */
  readonly found: string;
  /** The features that do not work, or the features that still work, as sentences. */
  readonly without?: string;
  /** The steps that make the status `ok`, as sentences. */
  readonly fix?: string;
  /** Further facts, one sentence each. */
  readonly details?: readonly string[];
}
