import { called, cameOf, idsOf, letGo } from '../core/transcript-items.ts';
import { NOTHING, type Reply } from './reply.ts';
import { remember, type Seated, tellWords } from './seated.ts';

/** SubagentStop: the sub-agent's session ends with it. */
export async function subagentStop(at: Seated): Promise<Reply> {
  const { desk, seat, event } = at;
  await remember(at, event.name, tellWords(at));
  if (seat.parent === null) return NOTHING;
  await desk.use(seat, async (session) => {
    if (session.state.closed) return;
    const { peripheral } = session.state;
    if (peripheral !== null) {
      // Its last word is its way out of the visit.
      const stopped = await session.stop('the sub-agent is done');
      const id = `stop ${event.agentId}`;
      const came = stopped.ok
        ? cameOf(id, { status: 'ok', text: `left ${peripheral}`, evidence: idsOf(stopped.evidence) })
        : cameOf(id, { status: 'refused', code: stopped.denial.code, text: stopped.denial.message });
      desk.lived(seat, called({ id, tool: 'stop', input: {}, channel: event.name }), came);
    }
    await session.close('the sub-agent is done');
    desk.lived(seat, letGo());
  });
  return NOTHING;
}

/** SessionEnd: the conversation is over; its session can be gone on with. */
export async function sessionEnd(at: Seated): Promise<Reply> {
  await remember(at, at.event.name);
  at.desk.lived(at.seat, letGo());
  return NOTHING;
}
