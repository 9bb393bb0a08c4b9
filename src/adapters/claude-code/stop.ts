import { fieldsOf } from '../../base/json.ts';
import { describeLeg } from '../../gate/describe-denial.ts';
import type { Session } from '../../session/session.ts';
import { userMessage } from '../core/transcript/transcript-items.ts';
import { type HookCall, recordHookEvent, recordWords } from './hook-call.ts';
import { type ClaudeToolName, claudeToolName } from './names.ts';
import { NOTHING, type Reply } from './reply.ts';

/** Stop: asks an agent that leaves work unreviewed, once per conversation, to take the exit or to review the work. */
export async function stop(at: HookCall): Promise<Reply> {
  const { desk, seat, event } = at;
  const notes = recordWords(at);
  const mayAsk = event.fields['stop_hook_active'] !== true && seat.notes['asked'] !== true;
  const why = mayAsk ? await desk.withSession(seat, (session) => reasonToGoOn(session, claudeToolName(desk))) : null;
  await recordHookEvent(at, event.name, why === null ? notes : { ...notes, asked: true });
  if (why === null) return NOTHING;
  desk.recordTranscript(seat, userMessage('hopgate', why, event.name));
  return { kind: 'go-on', why };
}

/** The reason not to stop yet; null if no work is left unreviewed. */
export async function reasonToGoOn(session: Session, own: ClaudeToolName): Promise<string | null> {
  const { closed, peripheral } = session.state;
  if (closed || isReflective(session, peripheral) || !(await hasUnreviewedWork(session))) return null;
  const { hops } = session.available();
  const toReflect = hops.filter(({ to }) => isReflective(session, to)).map(describeLeg);
  const where = peripheral === null ? 'outside of any peripheral' : `still in ${peripheral}`;
  const way = toReflect.length > 0 ? ` (${toReflect.join(' | ')})` : '';
  return [
    `hopgate: this session is ${where}, with work that nobody has reviewed.`,
    `If the work is done, leave by its exit and review it: ${own('hop')} to a peripheral that reflects${way}, read the log there, and leave with the review.`,
    'If not, continue. If you are waiting for the operator, say so and stop again; this is asked only once.',
  ].join('\n');
}

const isReflective = ({ specs }: Session, peripheral: string | null): boolean =>
  peripheral !== null &&
  Object.values(specs.peripherals[peripheral]?.fruit ?? {}).some(
    (field) => field.kind === 'observed' && field.from === 'par',
  );

/** True if steps were made since the last review. */
async function hasUnreviewedWork(session: Session): Promise<boolean> {
  const events = (await session.evidence()).map(({ body }) => fieldsOf(body)['event']);
  return events.findLastIndex((event) => event === 'step' || event === 'outcome') > events.lastIndexOf('par');
}
