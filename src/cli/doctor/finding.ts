/** One thing that hopgate needs or can use. `missing` stops the things in `without`; `broken` stops everything. */
export interface Diagnosis {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'broken';
  /** Version and place, or the problem. */
  readonly found: string;
  /** The things that work, or do not work, without it. */
  readonly without?: string;
  /** Steps to get it. */
  readonly fix?: string;
  /** Further facts to know. */
  readonly details?: readonly string[];
}
