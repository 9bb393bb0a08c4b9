/** The result of one check. `missing`: the features in `without` do not work. `broken`: nothing works. */
export interface Diagnosis {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'broken';
  /** The version and path that were found, or the problem. */
  readonly found: string;
  /** The features that do not work without it. */
  readonly without?: string;
  /** Steps to get it. */
  readonly fix?: string;
  /** Further facts to know. */
  readonly details?: readonly string[];
}
