import type { Json } from '../spec/types.ts';
import { fieldsOf, patternId, pick, text, texts } from './dialects/fields.ts';

/** How sure one was when choosing. */
export const CONFIDENCES = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** A pattern-selection record: which pattern was chosen for what, among which, and why. The superset of its dialects. */
export type Psr = {
  /** null where the dialect gives none: then the entry's id is the record's. */
  readonly id: string | null;
  /** `gap`: no pattern fits; `pattern` is null or names what is missing. */
  readonly kind: 'selection' | 'gap';
  readonly pattern: string | null;
  /** What one was looking for. */
  readonly query: string | null;
  /** What one wants to reach with it. */
  readonly goal: string | null;
  /** What one expects to see if it works: the pattern's outcome is held against it. */
  readonly expected: string | null;
  readonly candidates: readonly string[];
  readonly rationale: string | null;
  readonly confidence: Confidence | null;
  readonly task: string | null;
  readonly sigil: string | null;
};

/**
 * Reads a selection in any of its dialects: the slash commands' (`query, selected, candidates, rationale, confidence, sigil`), the gate's
 * (`psr/id, task-id, type, pattern-ref, candidates, rationale`), MUSN's `turn/select`, the discipline peripheral's records, and our own. Keys may be
 * spelled with `:`, `/`, `_` or `-`.
 * @returns null if the value names no pattern and no gap
 */
export function readPsr(value: Json): Psr | null {
  const fields = fieldsOf(value);
  if (!fields) return null;
  const inner = pick(fields, ['result']);
  const nested = fieldsOf(inner) ? readPsr(inner as Json) : null;
  if (nested) return nested;
  const pattern = patternId(pick(fields, ['pattern', 'selected', 'pattern-id', 'pattern-ref', 'selected-pattern']));
  const gap = [text(fields['type']), text(fields['kind']), text(fields['psr-type'])].includes('gap');
  if (pattern === null && !gap) return null;
  const confidence = text(pick(fields, ['confidence']))?.toLowerCase() ?? null;
  return {
    id: text(pick(fields, ['psr-id', 'id'])),
    kind: gap ? 'gap' : 'selection',
    pattern,
    query: text(pick(fields, ['query', 'intent', 'question'])),
    goal: text(pick(fields, ['goal'])),
    expected: text(pick(fields, ['expected', 'expects', 'expectation'])),
    candidates: candidatesOf(pick(fields, ['candidates', 'psr-candidates'])),
    rationale: text(pick(fields, ['rationale', 'reason', 'psr-rationale', 'why'])),
    confidence: CONFIDENCES.find((word) => word === confidence) ?? null,
    task: text(pick(fields, ['task', 'task-id'])),
    sigil: text(pick(fields, ['sigil'])),
  };
}

const candidatesOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((one) => patternId(one) ?? []) : texts(value);
