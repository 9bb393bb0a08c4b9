import type { NativeOutcome, NativeTicket } from '../../session/native-ticket.ts';
import type { HookDesk, Seat } from '../core/hook-desk.ts';
import { cameOf, idsOf } from '../core/transcript-items.ts';
import { ticketKey } from './before-tool.ts';
import type { HookEvent } from './event.ts';

type AfterTool = Extract<HookEvent, { hook_event_name: 'PostToolUse' }>;

/** How much of what Codex says of a call is kept. */
const SHOWN = 2000;

/** Records what came of a call that was let through. */
export async function afterTool({ tool_use_id, tool_response }: AfterTool, desk: HookDesk, seat: Seat): Promise<void> {
  const ticket = (await desk.take(seat, ticketKey(tool_use_id))) as unknown as NativeTicket | null;
  if (ticket === null) return;
  const outcome = outcomeOf(tool_response);
  const { evidence } = await desk.use(seat, (session) => session.conclude(ticket, outcome));
  const text = outcome.status === 'ok' ? JSON.stringify(outcome.result) : outcome.message;
  desk.lived(seat, cameOf(tool_use_id, { status: outcome.status, text, evidence: idsOf(evidence) }));
}

/** Codex tells of a patch in text that begins with an exit code; of an image it gives the image. */
function outcomeOf(response: unknown): NativeOutcome {
  if (typeof response !== 'string') return { status: 'ok', result: { by: 'codex' } };
  const said = response.slice(0, SHOWN);
  const exit = /^Exit code: (-?\d+)/.exec(response)?.[1];
  if (exit === undefined || exit === '0') return { status: 'ok', result: { by: 'codex', said } };
  return { status: 'failed', code: 'client-failed', message: said };
}
