import type { Json } from '../../spec/types.ts';
import { firstOf, normalisedFields, patternId, textField, textList } from '../dialects/fields.ts';

export const CONFIDENCES = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** A pattern-selection record: the pattern, its candidates, purpose and reason. The superset of its dialects. */
export type Psr = {
  /** null if the dialect has no id; the entry's id identifies the record then. */
  readonly id: string | null;
  /** `gap`: no pattern fits; `pattern` is null or names the missing one. */
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
  const fields = normalisedFields(value);
  if (!fields) return null;
  const inner = firstOf(fields, ['result']);
  const nested = normalisedFields(inner) ? readPsr(inner as Json) : null;
  if (nested) return nested;
  const pattern = patternId(firstOf(fields, ['pattern', 'selected', 'pattern-id', 'pattern-ref', 'selected-pattern']));
  const gap = [textField(fields['type']), textField(fields['kind']), textField(fields['psr-type'])].includes('gap');
  if (pattern === null && !gap) return null;
  const confidence = textField(firstOf(fields, ['confidence']))?.toLowerCase() ?? null;
  return {
    id: textField(firstOf(fields, ['psr-id', 'id'])),
    kind: gap ? 'gap' : 'selection',
    pattern,
    query: textField(firstOf(fields, ['query', 'intent', 'question'])),
    goal: textField(firstOf(fields, ['goal'])),
    expected: textField(firstOf(fields, ['expected', 'expects', 'expectation'])),
    candidates: candidatesOf(firstOf(fields, ['candidates', 'psr-candidates'])),
    rationale: textField(firstOf(fields, ['rationale', 'reason', 'psr-rationale', 'why'])),
    confidence: CONFIDENCES.find((word) => word === confidence) ?? null,
    task: textField(firstOf(fields, ['task', 'task-id'])),
    sigil: textField(firstOf(fields, ['sigil'])),
  };
}

const candidatesOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((item) => patternId(item) ?? []) : textList(value);
