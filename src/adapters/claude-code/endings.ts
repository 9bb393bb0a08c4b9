import { NOTHING, type Reply } from './reply.ts';
import { remember, type Seated } from './seated.ts';

/** SubagentStop: the sub-agent's session ends with it. */
export async function subagentStop(at: Seated): Promise<Reply> {
  const { desk, seat, event } = at;
  await remember(at, event.name);
  if (seat.parent === null) return NOTHING;
  await desk.use(seat, async (session) => {
    if (session.state.closed) return;
    if (session.state.peripheral !== null) await session.stop('the sub-agent is done');
    await session.close('the sub-agent is done');
  });
  return NOTHING;
}

/** SessionEnd: the conversation is over; its session can be gone on with. */
export async function sessionEnd(at: Seated): Promise<Reply> {
  await remember(at, at.event.name);
  return NOTHING;
}
