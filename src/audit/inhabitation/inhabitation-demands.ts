export const INHABITATION_DEMANDS = {
  'P-1': 'world replacement',
  'P-2': 'context injection',
  'P-3': 'confinement',
  'P-4': 'explicit exit',
  'P-5': 'evidence of inhabitation',
  'P-6': 'interleaved streams',
} as const;
export type DemandId = keyof typeof INHABITATION_DEMANDS;

/** A reason why a demand fails, and the item of the transcript or the entry of the evidence that shows it. */
export interface DemandFailure {
  /** The number of the transcript's item; null if no item shows the failure. */
  readonly item: number | null;
  /** The `seq` of the entry of evidence; null if no entry shows the failure. */
  readonly seq: number | null;
  readonly reason: string;
}

export interface DemandResult {
  readonly id: DemandId;
  readonly title: string;
  readonly verdict: 'holds' | 'fails' | 'not-applicable';
  /** The reasons why the demand fails, at most {@link MAX_FAILURES}, or why it does not apply. */
  readonly findings: readonly DemandFailure[];
  /** The score of P-5, from 0 to 1. */
  readonly score?: number;
}

const MAX_FAILURES = 100;

/** A failure of a demand. `at` names the item of the transcript or the entry of the evidence that shows it, if any. */
export const failDemand = (reason: string, at: Partial<Pick<DemandFailure, 'item' | 'seq'>> = {}): DemandFailure => ({
  item: null,
  seq: null,
  ...at,
  reason,
});

/** The result of a demand: it holds if there are no failures. */
export const demandResult = (id: DemandId, failures: readonly DemandFailure[]): DemandResult => ({
  id,
  title: INHABITATION_DEMANDS[id],
  verdict: failures.length === 0 ? 'holds' : 'fails',
  findings: failures.slice(0, MAX_FAILURES),
});

export const inapplicableDemand = (id: DemandId, reason: string): DemandResult => ({
  id,
  title: INHABITATION_DEMANDS[id],
  verdict: 'not-applicable',
  findings: [failDemand(reason)],
});
