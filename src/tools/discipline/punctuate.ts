import { minePar } from '../../evidence/mine-par.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import type { Desk } from './desk.ts';
import { done } from './outcomes.ts';

/** par-punctuate { what-went-well?, what-could-improve?, suggestions?, prediction-errors?, questions? }: a checkpoint, mined as a session's review is. */
export function punctuate({ call, entries }: Desk): ToolOutcome {
  const par = minePar(entries, call.args);
  return done({ ...(par as { readonly [field: string]: Json }), 'par/tags': ['checkpoint'] });
}
