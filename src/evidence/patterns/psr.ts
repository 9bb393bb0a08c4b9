import type { Json } from '../../spec/types.ts';
import { readFieldText, readFieldTexts, readFirstField, readPatternId, toDialectRecord } from '../dialects/fields.ts';

export const CONFIDENCES = ['low', 'medium', 'high'] as const;
type Confidence = (typeof CONFIDENCES)[number];

/** A pattern-selection record: the pattern, its candidates, purpose and reason. The superset of its dialects. */
export type Psr = {
  /** null if the dialect has no id; the entry's id identifies the record then. */
  readonly id: string | null;
  /** `gap` if no pattern fits; `pattern` is then null or names the missing one. */
  readonly kind: 'selection' | 'gap';
  readonly pattern: string | null;
  /** The search that led to the selection. */
  readonly query: string | null;
  readonly goal: string | null;
  /** The result to expect if the pattern works; the outcome is compared with it. */
  readonly expected: string | null;
  readonly candidates: readonly string[];
  readonly rationale: string | null;
  readonly confidence: Confidence | null;
  readonly task: string | null;
  readonly sigil: string | null;
};

/**
 * Reads a selection in any of its dialects: the slash commands' (`query, selected, candidates, rationale, confidence,
 * sigil`), the gate's (`psr/id, task-id, type, pattern-ref, candidates, rationale`), MUSN's `turn/select`, the
 * discipline peripheral's records, and hopgate's own. Keys may be spelled with `:`, `/`, `_` or `-`.
 * @returns null if the value names no pattern and no gap
 */
export function readPsr(value: Json): Psr | null {
  const fields = toDialectRecord(value);
  if (!fields) return null;
  const inner = readFirstField(fields, ['result']);
  const nested = toDialectRecord(inner) ? readPsr(inner as Json) : null;
  if (nested) return nested;
  const pattern = readPatternId(
    readFirstField(fields, ['pattern', 'selected', 'pattern-id', 'pattern-ref', 'selected-pattern']),
  );
  const gap = [
    readFieldText(fields['type']),
    readFieldText(fields['kind']),
    readFieldText(fields['psr-type']),
  ].includes('gap');
  if (pattern === null && !gap) return null;
  const confidence = readFieldText(readFirstField(fields, ['confidence']))?.toLowerCase() ?? null;
  return {
    id: readFieldText(readFirstField(fields, ['psr-id', 'id'])),
    kind: gap ? 'gap' : 'selection',
    pattern,
    query: readFieldText(readFirstField(fields, ['query', 'intent', 'question'])),
    goal: readFieldText(readFirstField(fields, ['goal'])),
    expected: readFieldText(readFirstField(fields, ['expected', 'expects', 'expectation'])),
    candidates: candidatesOf(readFirstField(fields, ['candidates', 'psr-candidates'])),
    rationale: readFieldText(readFirstField(fields, ['rationale', 'reason', 'psr-rationale', 'why'])),
    confidence: CONFIDENCES.find((word) => word === confidence) ?? null,
    task: readFieldText(readFirstField(fields, ['task', 'task-id'])),
    sigil: readFieldText(readFirstField(fields, ['sigil'])),
  };
}

const candidatesOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((item) => readPatternId(item) ?? []) : readFieldTexts(value);
