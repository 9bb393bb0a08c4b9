import type { Entry } from '../../evidence/entry.ts';
import type { Cycle } from '../../evidence/patterns/learning-cycles.ts';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { libraryOf } from './library.ts';

export interface PatternContext {
  readonly call: ToolCall;
  /** This session's evidence so far. */
  readonly entries: readonly Entry[];
  /** Its rounds of learning. */
  readonly cycles: readonly Cycle[];
  library(): ReturnType<typeof libraryOf>;
}
