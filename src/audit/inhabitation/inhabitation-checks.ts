/** The complete set of inhabitation checks. */
export const PHENOMENOLOGY = {
  'P-1': 'world replacement',
  'P-2': 'context injection',
  'P-3': 'confinement',
  'P-4': 'explicit exit',
  'P-5': 'evidence of inhabitation',
  'P-6': 'interleaved streams',
} as const;
export type PhenomenologyId = keyof typeof PHENOMENOLOGY;

/** A violation of a check: the item of the transcript or the entry of the evidence that shows it. */
export interface InhabitationFinding {
  readonly item: number | null;
  /** The entry's `seq`; null if it is not about an entry. */
  readonly seq: number | null;
  readonly reason: string;
}

export interface CheckResult {
  readonly id: PhenomenologyId;
  readonly title: string;
  readonly verdict: 'holds' | 'fails' | 'not-applicable';
  /** The reasons why the check fails, at most {@link MAX_FINDINGS}, or why it is not applicable. */
  readonly findings: readonly InhabitationFinding[];
  /** The score of P-5, which is a degree: 0 to 1. */
  readonly score?: number;
}

const MAX_FINDINGS = 100;

/** The result of a check: it holds if there are no findings. */
export const judgedCheck = (id: PhenomenologyId, findings: readonly InhabitationFinding[]): CheckResult => ({
  id,
  title: PHENOMENOLOGY[id],
  verdict: findings.length === 0 ? 'holds' : 'fails',
  findings: findings.slice(0, MAX_FINDINGS),
});

export const inapplicableCheck = (id: PhenomenologyId, reason: string): CheckResult => ({
  id,
  title: PHENOMENOLOGY[id],
  verdict: 'not-applicable',
  findings: [{ item: null, seq: null, reason }],
});
