import { type Fields, isObject, type Json } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';
import { toBody } from '../bodies.ts';
import {
  type DialectRecord,
  readErrorSize,
  readFieldText,
  readFieldTexts,
  readFirstField,
  readPatternId,
  toDialectRecord,
} from '../dialects/fields.ts';
import type { StoredEntry } from '../entry.ts';
import { type PatternOutcome, parsePatternOutcome } from './pur.ts';

/** The use of a pattern, as a review records it. */
export type PatternUse = {
  readonly pattern: string;
  readonly count: number;
  /** True if the pattern was inferred from actions, not selected by name. */
  readonly inferred: boolean;
  /** The outcome; null if none was recorded or the pattern was only inferred. */
  readonly outcome: PatternOutcome | null;
};

/** An expectation and the actual result. */
export type PredictionError = {
  readonly expected: string | null;
  readonly actual: string | null;
  /** Size of the error, 0 to 1; null if not given. */
  readonly magnitude: number | null;
};

/**
 * A post-action review: the superset of its dialects, in the JSON form of MUSN's `session/par`. Lists of strings
 * contain facts from the evidence (`N × fact`) and the words of people and agents.
 */
export type Par = {
  readonly 'event/type': 'session/par';
  readonly 'par/id': string | null;
  readonly 'session/id': string | null;
  readonly at: string | null;
  /** Number of the review in its session, from 1. */
  readonly 'par/sequence': number | null;
  readonly 'par/span': { readonly from: string | null; readonly to: string | null } | null;
  readonly 'par/tags': string[];
  readonly problem: string | null;
  readonly approach: string[];
  readonly result: string | null;
  readonly patterns_used: PatternUse[];
  readonly what_went_well: string[];
  readonly what_could_improve: string[];
  readonly prediction_errors: PredictionError[];
  readonly suggestions: string[];
  /** Ids of selected patterns without a recorded outcome. */
  readonly open_selections: string[];
  readonly files_touched: string[];
  readonly commits: string[];
  /** Answers to the questions of a review (intention, happening, perspectives, learned, forward), by question. */
  readonly questions: Fields;
  readonly lineage_trace: Fields;
};

/** The review that an entry records; null if it records none, or was erased. */
export function readReviewInEntry({ entry, body }: StoredEntry): Par | null {
  if (body === null || entry.type !== 'reflection') return null;
  const own = toBody(entry.body);
  return own === null || own.event === 'par' ? readPar(entry.body) : null;
}

/** Fields by which a review is recognised. */
const MARKS = splitWords(`
  what-went-well what-could-improve what-worked what-didnt prediction-errors suggestions patterns-used
  par-questions questions lineage-trace
`);

/**
 * Reads a review in any of its dialects: the spec draft's and the slash commands' (`what_went_well`, …), the gate's
 * (`par/id, session-ref, what-worked, what-didnt`), MUSN's `session/par` (`par/questions`, `par/span`), the
 * peripheral's (`problem, approach, result`), also inside `{ par }`.
 * @returns null if the value is not a review
 */
export function readPar(value: Json): Par | null {
  const fields = toDialectRecord(value);
  if (!fields) return null;
  const inner = readFirstField(fields, ['par']);
  const nested = toDialectRecord(inner) ? readPar(inner as Json) : null;
  if (nested) return nested;
  const peripheral = fields['problem'] !== undefined && fields['approach'] !== undefined;
  const marked =
    readFieldText(fields['event-type']) === 'session/par' || MARKS.some((mark) => fields[mark] !== undefined);
  if (!peripheral && !marked) return null;
  const span = toDialectRecord(readFirstField(fields, ['par-span', 'span']));
  const sequence = readFirstField(fields, ['par-sequence', 'sequence']);
  return {
    'event/type': 'session/par',
    'par/id': readFieldText(readFirstField(fields, ['par-id', 'id'])),
    'session/id': readFieldText(readFirstField(fields, ['session-id', 'session-ref', 'session'])),
    at: readFieldText(readFirstField(fields, ['at', 'timestamp'])),
    'par/sequence': typeof sequence === 'number' ? sequence : null,
    'par/span': span && {
      from: readFieldText(readFirstField(span, ['from', 'from-eid'])),
      to: readFieldText(readFirstField(span, ['to', 'to-eid'])),
    },
    'par/tags': readFieldTexts(readFirstField(fields, ['par-tags', 'tags'])),
    problem: readFieldText(fields['problem']),
    approach: readFieldTexts(fields['approach']),
    result: readFieldText(fields['result']),
    patterns_used: usesOf(readFirstField(fields, ['patterns-used', 'patterns'])),
    what_went_well: readFieldTexts(readFirstField(fields, ['what-went-well', 'what-worked'])),
    what_could_improve: readFieldTexts(readFirstField(fields, ['what-could-improve', 'what-didnt'])),
    prediction_errors: readPredictionErrors(fields['prediction-errors']),
    suggestions: readFieldTexts(fields['suggestions']),
    open_selections: readFieldTexts(fields['open-selections']),
    files_touched: readFieldTexts(readFirstField(fields, ['files-touched', 'changed-files'])),
    commits: readFieldTexts(fields['commits']),
    questions: { ...(record(readFirstField(fields, ['par-questions', 'questions'])) ?? {}) },
    lineage_trace: record(fields['lineage-trace']) ?? {},
  };
}

const record = (value: Json | undefined): Fields | null => (isObject(value) ? value : null);

const asList = (value: Json | undefined): readonly Json[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

function usesOf(value: Json | undefined): PatternUse[] {
  return asList(value).flatMap((item) => {
    const fields: DialectRecord = toDialectRecord(item) ?? {};
    const pattern = readPatternId(
      toDialectRecord(item) ? readFirstField(fields, ['pattern', 'pattern-id', 'id']) : item,
    );
    if (pattern === null) return [];
    const count = fields['count'];
    return [
      {
        pattern,
        count: typeof count === 'number' ? count : 1,
        inferred: fields['inferred'] === true,
        outcome: parsePatternOutcome(fields['outcome']),
      },
    ];
  });
}

/** Reads the prediction errors of a review; a plain string is the actual result. */
export const readPredictionErrors = (value: Json | undefined): PredictionError[] =>
  asList(value).flatMap((item) => {
    const fields = toDialectRecord(item);
    if (!fields)
      return readFieldText(item) === null ? [] : [{ expected: null, actual: readFieldText(item), magnitude: null }];
    const expected = readFieldText(fields['expected']);
    const actual = readFieldText(fields['actual']);
    if (expected === null && actual === null) return [];
    return [{ expected, actual, magnitude: readErrorSize(readFirstField(fields, ['magnitude', 'prediction-error'])) }];
  });
