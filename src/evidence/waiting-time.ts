import { fieldsOf } from '../base/json.ts';
import { AGENCY_TOOL_ID } from '../spec/policy/tool-ids.ts';
import type { OutcomeRecord } from './bodies.ts';

/** The milliseconds that a step waited for an answer to a whistle, or for an agent. No time limit counts them. */
export function stepWaitingTimeMs(
  tools: { readonly [id: string]: { readonly upstream?: unknown } },
  { tool, outcome }: { readonly tool: string; readonly outcome: OutcomeRecord },
): number {
  const blocks = tool === AGENCY_TOOL_ID || (tool === 'whistle' && outcome.status === 'ok');
  if (!blocks || outcome.status === 'refused' || tools[tool]?.upstream !== undefined) return 0;
  const { waitedMs: waited } = fieldsOf(outcome.result);
  return typeof waited === 'number' && waited > 0 ? waited : 0;
}
