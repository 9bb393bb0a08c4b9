import { fieldsOf, type Json, textOf } from '../../base/json.ts';
import { escapeInvisible } from '../../base/text.ts';
import type { ConversationRecord, HookContext } from './hook-context.ts';

/** The key of the note that stores the `seq` of the last reported act. */
const LAST_REPORTED = 'toldActs';

/** Reports the operator's acts and notes since the last report; null if there are none. */
export async function collectOperatorNews(
  host: HookContext,
  record: ConversationRecord,
): Promise<{ readonly text: string; readonly notes: ConversationRecord['notes'] } | null> {
  const lastReported = record.notes[LAST_REPORTED];
  const { acts, place } = await host.withSession(record, async (session) => ({
    acts: await session.operatorActs(typeof lastReported === 'number' ? lastReported : -1),
    place: `${session.state.peripheral ?? 'outside of any peripheral'}${session.state.mode === null ? '' : `, mode ${session.state.mode}`}`,
  }));
  if (acts.length === 0) return null;
  const moved = acts.some(({ body }) => fieldsOf(body)['event'] !== 'note');
  const lines = [
    'hopgate: the operator did this in your session:',
    ...acts.map((entry) => `- ${actInWords(entry)}`),
    ...(moved ? [`You are now in: ${place}. Ask for the status before you continue.`] : []),
  ];
  return { text: lines.join('\n'), notes: { [LAST_REPORTED]: acts.at(-1)!.seq } };
}

function actInWords({ body }: { readonly body: Json }): string {
  const fields = fieldsOf(body);
  const text = (name: string): string => escapeInvisible(textOf(fields[name]) ?? '');
  const why = text('reason') === '' ? '' : `: ${text('reason')}`;
  switch (fields['event']) {
    case 'note':
      return `wrote to you: ${text('text')}`;
    case 'hop':
      return `moved you from ${text('from')} to ${text('to')} by ${text('exit')}${why}`;
    case 'mode':
      return `changed the mode from ${text('from')} to ${text('to')}${why}`;
    default:
      return `ended your visit to ${text('peripheral')}${why}`;
  }
}
