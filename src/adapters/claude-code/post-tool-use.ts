import type { NativeTicket } from '../../session/native-ticket.ts';
import type { ToolEvent } from './event.ts';
import { nativeFailure, nativeResult } from './native-result.ts';
import { NOTHING, type Reply } from './reply.ts';
import { HEARD, remember, type Seated } from './seated.ts';

/** PostToolUse and PostToolUseFailure: what came of a call that the client ran by itself goes into the evidence. */
export async function postToolUse(at: Seated<ToolEvent>): Promise<Reply> {
  const { desk, seat, event } = at;
  const failed = event.name === 'PostToolUseFailure';
  const ticket = (await desk.take(seat, event.toolUseId)) as unknown as NativeTicket | null;
  if (ticket !== null) {
    const outcome = failed
      ? nativeFailure(event.fields['error'])
      : nativeResult(ticket.tool, event.fields['tool_response'], seat.conversation.root);
    await desk.use(seat, (session) => session.conclude(ticket, outcome));
  }
  await remember(at, failed ? HEARD.failed : HEARD.done);
  return NOTHING;
}
