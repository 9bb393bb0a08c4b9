import type { Json } from '../../spec/types.ts';
import { readFieldText, readFirstField, readPatternId, toDialectRecord } from '../dialects/fields.ts';

export const CONFIDENCES = ['low', 'medium', 'high'] as const;

/** The parts of a pattern-selection record that a learning cycle needs. The entry has the whole record. */
export type Psr = {
  /** `gap` if no pattern fits; `pattern` is then null or names the missing pattern. */
  readonly kind: 'selection' | 'gap';
  readonly pattern: string | null;
  /** The result to expect if the pattern works; the outcome is compared with it. */
  readonly expected: string | null;
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
  return {
    kind: gap ? 'gap' : 'selection',
    pattern,
    expected: readFieldText(readFirstField(fields, ['expected', 'expects', 'expectation'])),
  };
}
