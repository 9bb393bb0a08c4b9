import type { NativeOutcome } from '../../session/native-ticket.ts';
import { called, cameOf, idsOf } from '../core/transcript-items.ts';
import type { ToolEvent } from './event.ts';
import { takeCall, wasChanged } from './kept-call.ts';
import { nativeFailure, nativeResult } from './native-result.ts';
import { NOTHING, type Reply } from './reply.ts';
import { HEARD, remember, type Seated } from './seated.ts';
import { noted } from './silence.ts';

/** PostToolUse and PostToolUseFailure: what came of a call that the client ran by itself goes into the evidence. */
export async function postToolUse(at: Seated<ToolEvent>): Promise<Reply> {
  const { desk, seat, event } = at;
  const call = await takeCall(at);
  const changed = call !== null && wasChanged(call, event.input);
  if (call?.ticket) {
    const { ticket } = call;
    const outcome = changed ? CHANGED : outcomeOf(at, ticket.tool);
    const concluded = await desk.use(seat, (session) => session.conclude(ticket, outcome));
    desk.lived(seat, cameOf(event.toolUseId, { ...told(outcome), evidence: idsOf(concluded.evidence) }));
  }
  const heard = event.name === 'PostToolUseFailure' ? HEARD.failed : HEARD.done;
  if (!changed) {
    await remember(at, heard);
    return NOTHING;
  }
  const { toolUseId, tool, input } = event;
  // What ran is not what was decided: it went past the session.
  desk.lived(seat, called({ id: `${toolUseId} as it ran`, tool, input, channel: tool }, true));
  const text = `another hook changed the ${event.tool} call ${event.toolUseId} after hopgate had let it through: what ran was neither decided nor contained`;
  await remember(at, heard, noted(seat, text, false));
  return { kind: 'remark', text };
}

const outcomeOf = ({ event, seat }: Seated<ToolEvent>, tool: string): NativeOutcome =>
  event.name === 'PostToolUseFailure'
    ? nativeFailure(event.fields['error'])
    : nativeResult(tool, event.fields['tool_response'], seat.conversation.root);

const told = (outcome: NativeOutcome) =>
  outcome.status === 'ok'
    ? { status: outcome.status, text: JSON.stringify(outcome.result) }
    : { status: outcome.status, text: outcome.message };

const CHANGED: NativeOutcome = {
  status: 'failed',
  code: 'call-changed',
  message: 'another hook of the client changed this call after it had been let through; what ran is not known',
};
