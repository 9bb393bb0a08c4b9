/** The demands on a life inside: the complete set. */
export const PHENOMENOLOGY = {
  'P-1': 'world replacement',
  'P-2': 'context injection',
  'P-3': 'confinement',
  'P-4': 'explicit exit',
  'P-5': 'evidence of inhabitation',
  'P-6': 'interleaved streams',
} as const;
export type PhenomenologyId = keyof typeof PHENOMENOLOGY;

/** What speaks against a demand: the item of the transcript or the entry of the evidence where it shows. */
export interface InhabitationFinding {
  /** The item's count in the transcript; null: it is not about one. */
  readonly item: number | null;
  /** The entry's `seq`; null: it is not about one. */
  readonly seq: number | null;
  readonly reason: string;
}

export interface Inhabitation {
  readonly id: PhenomenologyId;
  readonly title: string;
  readonly verdict: 'holds' | 'fails' | 'not-applicable';
  /** Why it fails, at most {@link MAX_FINDINGS}; where it is not applicable, why. */
  readonly findings: readonly InhabitationFinding[];
  /** For the demand that is a matter of degree: 0 to 1. */
  readonly score?: number;
}

export const MAX_FINDINGS = 100;

/** It holds unless something speaks against it. */
export const judged = (id: PhenomenologyId, findings: readonly InhabitationFinding[]): Inhabitation => ({
  id,
  title: PHENOMENOLOGY[id],
  verdict: findings.length === 0 ? 'holds' : 'fails',
  findings: findings.slice(0, MAX_FINDINGS),
});

export const notApplicable = (id: PhenomenologyId, reason: string): Inhabitation => ({
  id,
  title: PHENOMENOLOGY[id],
  verdict: 'not-applicable',
  findings: [{ item: null, seq: null, reason }],
});
