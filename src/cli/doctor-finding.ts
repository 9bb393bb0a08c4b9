/** One thing that hopgate needs or can use. `missing` stops something that `without` names; `broken` stops everything. */
export interface Diagnosis {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'broken';
  /** Version and place, or what is wrong. */
  readonly found: string;
  /** What works without it, or what does not. */
  readonly without?: string;
  /** How to get it. */
  readonly fix?: string;
  /** What else is worth knowing. */
  readonly details?: readonly string[];
}
