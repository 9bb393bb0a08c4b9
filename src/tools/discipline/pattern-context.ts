import type { Entry } from '../../evidence/entry.ts';
import type { LearningCycle } from '../../evidence/patterns/learning-cycles.ts';
import type { ToolCall, ToolOutcome, ToolRefusal } from '../../ports/tool-backend.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { invalidCall } from '../tool-outcomes.ts';
import type { loadPatternLibrary } from './pattern-library.ts';

export interface PatternContext {
  readonly call: ToolCall;
  /** This session's evidence so far. */
  readonly entries: readonly Entry[];
  readonly cycles: readonly LearningCycle[];
  library(): ReturnType<typeof loadPatternLibrary>;
}

export const successfulOutcome = (result: Fields): ToolOutcome => ({ status: 'ok', result: { ...result } });

export const textUnlessBlank = (value: Json | undefined): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

export const textsUnlessBlank = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) => textUnlessBlank(one) ?? []);

/** The selection of the call's pattern that has no outcome yet; a refusal if there is none. */
export function findOpenSelection({ call, cycles }: PatternContext): LearningCycle | ToolRefusal {
  const pattern = textUnlessBlank(call.args['pattern']) ?? '';
  const own = cycles.filter((cycle) => cycle.pattern === pattern);
  const open = own.findLast((cycle) => cycle.open);
  if (open) return open;
  const others = cycles.filter((cycle) => cycle.open).map((cycle) => cycle.pattern);
  const settled = own.at(-1)?.pur;
  const message = settled
    ? `the outcome of "${pattern}" is recorded already: ${settled.outcome}`
    : `"${pattern}" was not selected in this session, so it has no outcome`;
  const remedy = `Select it first: psr-select ${pattern === '' ? 'PATTERN' : pattern} with your rationale${
    others.length > 0 ? `; open selections: ${others.join(', ')}` : ''
  }.`;
  return invalidCall('pattern', message, remedy);
}

export const isToolRefusal = (value: object): value is ToolRefusal => 'status' in value && value.status === 'refused';
