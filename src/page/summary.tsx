import type { EntryRow, ViewState } from '../view/view-state.ts';
import type { InboxMessage, SessionOnPage, WaitingRequest } from './page-data.ts';
import { describeTimeSpan } from './side-panel.tsx';

interface SummaryProps {
  readonly session: SessionOnPage;
  readonly waiting: readonly WaitingRequest[];
  /** Messages of this session to the operator. */
  readonly messages: readonly InboxMessage[];
  readonly now: number;
  /** False for the past, whose requests are known only by their refusals. */
  readonly isNow: boolean;
}

/** The session in short: where it is, its activity or last refusal, and what it needs from the operator. */
export function Summary({ session: { store }, waiting, messages, now, isNow }: SummaryProps) {
  const state = store.state.value;
  const row = store.rowAt(store.at.value);
  const wants = wantsOf(state, isNow ? undefined : row, waiting.length, messages);
  return (
    <section class="summary" aria-label="In short">
      <div class="answer where">
        <h2>Where is it?</h2>
        <p class="big">{state.closed ? 'closed' : (state.peripheral ?? 'outside')}</p>
        <p class="more">
          {state.mode !== null && <span class={`mode ${state.reach ?? ''}`}>{state.mode}</span>}
          {state.observeOnly && <span class="alarm">observe-only: calls are not refused</span>}
          {state.visit !== null && state.visit !== 'active' && <span class="alarm">{state.visit}</span>}
          {state.deadline !== null && (
            <span>{state.deadline > now ? `${describeTimeSpan(state.deadline - now)} left` : 'no time left'}</span>
          )}
        </p>
      </div>
      <div class={`answer doing ${row?.mark ?? ''}`}>
        <h2>What is it doing?</h2>
        <p class="big">{state.running === null ? describeActivity(row) : `runs ${state.running}`}</p>
        <p class="more">{row?.result}</p>
        {row?.remedy !== undefined && <p class="more remedy">→ {row.remedy}</p>}
      </div>
      <div class={`answer wants ${wants.urgent ? 'urgent' : ''}`}>
        <h2>What does it want from me?</h2>
        <p class="big">{wants.short}</p>
        <p class="more">{wants.more}</p>
      </div>
    </section>
  );
}

export function describeActivity(row: EntryRow | undefined): string {
  if (!row) return 'nothing yet';
  if (row.event === 'start') return `enters ${row.action}`;
  return row.mark === 'refused' ? `✗ refused: ${row.action}` : row.action;
}

function wantsOf(
  { closed }: ViewState,
  row: EntryRow | undefined,
  waiting: number,
  messages: readonly InboxMessage[],
): { readonly short: string; readonly more: string; readonly urgent: boolean } {
  if (waiting > 0)
    return { short: waiting === 1 ? 'an answer' : `${waiting} answers`, more: 'The request is above.', urgent: true };
  if (messages.some(({ waits }) => waits))
    return { short: 'an answer', more: 'It waits for the answer to its message above.', urgent: true };
  if (row?.code === 'approval-required')
    return { short: 'an approval', more: 'This request was refused until you approve it.', urgent: true };
  if (messages.length > 0)
    return {
      short: messages.length === 1 ? 'it wrote to you' : `${messages.length} messages`,
      more: 'They are above.',
      urgent: false,
    };
  return { short: 'nothing', more: closed ? 'The session is closed.' : 'It does not wait for you.', urgent: false };
}
