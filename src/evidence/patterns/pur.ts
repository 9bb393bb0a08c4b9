import { splitWords } from '../../base/text.ts';
import type { Json } from '../../spec/types.ts';
import {
  type DialectRecord,
  readErrorSize,
  readFieldText,
  readFirstField,
  readPatternId,
  toDialectRecord,
} from '../dialects/fields.ts';

export const PATTERN_OUTCOMES = ['success', 'partial', 'failed', 'pivoted', 'deferred'] as const;
export type PatternOutcome = (typeof PATTERN_OUTCOMES)[number];

/** For each outcome: true if the pattern held, false if not, null if undecided, so that the selection stays open. */
export const HELD_BY_OUTCOME: { readonly [outcome in PatternOutcome]: boolean | null } = {
  success: true,
  partial: false,
  failed: false,
  pivoted: false,
  deferred: null,
};

const WORDS: { readonly [outcome in PatternOutcome]: readonly string[] } = {
  success: splitWords('success succeeded successful ok held holds pass passed worked confirmed done true yes'),
  partial: ['partial', 'partially', 'partial-success', 'partly', 'mixed'],
  failed: ['failed', 'fail', 'failure', 'error', 'not-held', 'refuted', 'false', 'no'],
  pivoted: ['pivoted', 'pivot', 'abandoned', 'replaced'],
  deferred: ['deferred', 'defer', 'postponed', 'pending', 'open'],
};

/** Returns the outcome that a word or boolean names; null if none. */
export function parsePatternOutcome(value: Json | undefined): PatternOutcome | null {
  const word = readFieldText(value)?.toLowerCase().replaceAll(/[\s_]/g, '-');
  return PATTERN_OUTCOMES.find((outcome) => word !== undefined && WORDS[outcome].includes(word)) ?? null;
}

/** The parts of a pattern-use record, the outcome of a selected pattern, that a learning cycle needs. */
export type Pur = {
  /** The id of the selection that this outcome belongs to. */
  readonly psr: string | null;
  readonly pattern: string | null;
  readonly outcome: PatternOutcome;
  /** See {@link HELD_BY_OUTCOME}. */
  readonly held: boolean | null;
  readonly expected: string | null;
  readonly actual: string | null;
  /** Size of the prediction error, 0 to 1; null if not given. */
  readonly predictionError: number | null;
};

/** Fields that give the outcome as a boolean. */
const BOOLEANS = ['held', 'success', 'ok'];

/** Returns the outcome in a record, from its word or its boolean; null if it has none. */
function outcomeIn(fields: DialectRecord): PatternOutcome | null {
  const word = parsePatternOutcome(readFirstField(fields, ['outcome', 'pur-outcome', 'result-outcome', 'status']));
  if (word !== null) return word;
  for (const name of BOOLEANS) {
    const flag = typeof fields[name] === 'object' ? null : parsePatternOutcome(fields[name]);
    if (flag !== null) return flag;
  }
  return null;
}

/**
 * Reads an outcome in any of its dialects: the slash commands' (`outcome, actions, expected, actual, prediction-error,
 * notes`), the gate's (`pur/id, psr-ref, outcome, criteria-eval, prediction-error`), MUSN's `turn/use`, the booleans
 * `success?`, `success`, `ok` and `held`, and hopgate's own.
 * @returns null if the value has no outcome
 */
export function readPur(value: Json): Pur | null {
  const fields = toDialectRecord(value);
  if (!fields) return null;
  const inner = readFirstField(fields, ['result']);
  const nested = toDialectRecord(inner) ? readPur(inner as Json) : null;
  if (nested) return nested;
  const outcome = outcomeIn(fields);
  if (outcome === null) return null;
  return {
    psr: readFieldText(readFirstField(fields, ['psr', 'psr-ref', 'psr-id', 'in-reply-to', 'inreplyto'])),
    pattern: readPatternId(readFirstField(fields, ['pattern', 'pattern-id', 'pattern-ref', 'selected'])),
    outcome,
    held: HELD_BY_OUTCOME[outcome],
    expected: readFieldText(readFirstField(fields, ['expected'])),
    actual: readFieldText(readFirstField(fields, ['actual'])),
    predictionError: readErrorSize(readFirstField(fields, ['prediction-error', 'predictionerror'])),
  };
}
